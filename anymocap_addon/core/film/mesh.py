"""A mesh from one picture, paid through the same ledger as the clips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..stage_context import StageContext
from .arguments import model_arguments
from .delivery import Delivery
from .film import terms_of
from .models import DEFAULT_MESH, load_models
from .order import Order
from .takes import film_defaults


def run(ctx: StageContext) -> dict[str, Any]:
    """Write assets/<c>/model.glb, which prep takes, and a record beside it. A mesh that lies there is kept aside.

    Raises:
        BadInputError: a setting, the key or the artist's yes is missing; nothing new was paid.
        AnyMoCapError: the mesh could not be had.
    """
    values = ctx.settings
    model = load_models(ctx.paths.root).find("mesh", values["model"] or DEFAULT_MESH)
    target = ctx.paths.assets / "model.glb"
    order = Order(
        stage="mesh",
        item="",
        target=target,
        label="mesh",
        model=model,
        arguments=model_arguments(model, seed=values["seed"]),
        picture=Path(values["picture"]),
        seed=values["seed"],
        estimate_usd=model.price(0.0, ""),
    )
    ceiling = film_defaults(ctx.paths).ceiling_usd if values["ceiling"] is None else values["ceiling"]
    return Delivery(ctx, [order], terms_of({"at_once": 1, **values}, ceiling)).run()
