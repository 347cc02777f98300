"""The clips of a move: reference frame and prompt go to a video model, once a seed."""

from __future__ import annotations

from typing import Any

from ..stage_context import StageContext
from .delivery import Delivery
from .filmed_clips import add_filmed_clips
from .order import Terms
from .orders import film_orders
from .takes import film_choice


def run(ctx: StageContext) -> dict[str, Any]:
    """Write runs/<c>/videos/<move>/s<seed>/<model>.mp4 and a record beside each; each becomes a clip of the creature.

    Raises:
        BadInputError: a setting, the prompt, the key or the artist's yes is missing; nothing new was paid.
        AnyMoCapError: a clip could not be had; those that could lie at their places.
    """
    values = ctx.settings
    orders = film_orders(ctx.paths, values)
    try:
        result = Delivery(ctx, orders, terms_of(values, film_choice(ctx.paths, values).ceiling_usd)).run()
    finally:  # what came before something failed can be read too
        clips = add_filmed_clips(ctx.paths, values["move"])
    return {**result, "clips": clips}


def terms_of(values: dict[str, Any], ceiling_usd: float) -> Terms:
    """What the artist agreed to, from the settings of a stage that pays."""
    return Terms(
        yes=values["yes"],
        ceiling_usd=ceiling_usd,
        on_unknown=values["on_unknown"],
        request=values["request"].strip(),
        withdraw=values["withdraw"],
        at_once=values["at_once"],
        poll_s=values["poll"],
    )
