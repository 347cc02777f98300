"""A mesh from one picture, paid through the same ledger as the clips."""

from __future__ import annotations

from typing import Any

from ..stage_context import StageContext
from .delivery import Delivery
from .film import terms_of
from .orders import mesh_order
from .takes import film_defaults


def run(ctx: StageContext) -> dict[str, Any]:
    """Write assets/<c>/model.glb, which prep takes, and a record beside it. A mesh that lies there is kept aside.

    Raises:
        BadInputError: a setting, the key or the artist's yes is missing; nothing new was paid.
        AnyMoCapError: the mesh could not be had.
    """
    values = ctx.settings
    ceiling = film_defaults(ctx.paths).ceiling_usd if values["ceiling"] is None else values["ceiling"]
    return Delivery(ctx, [mesh_order(ctx.paths, values)], terms_of({"at_once": 1, **values}, ceiling)).run()
