"""The clips of a move: reference frame and prompt go to a video model, once a seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import BadInputError
from ..stage_context import StageContext
from .arguments import model_arguments
from .delivery import Delivery
from .order import Order, Terms
from .takes import film_choice


def run(ctx: StageContext) -> dict[str, Any]:
    """Write runs/<c>/videos/<move>/s<seed>/<model>.mp4 and a record beside each.

    Raises:
        BadInputError: a setting, the prompt, the key or the artist's yes is missing; nothing new was paid.
        AnyMoCapError: a clip could not be had; those that could lie at their places.
    """
    values = ctx.settings
    choice = film_choice(ctx.paths, values)
    prompt = _prompt(ctx.paths.prompt(values["move"]))
    orders = [
        Order(
            stage="film",
            item=values["move"],
            target=ctx.paths.video(values["move"], seed, choice.model.name),
            label=f"seed {seed}",
            model=choice.model,
            arguments=model_arguments(
                choice.model,
                prompt=prompt,
                seed=seed,
                seconds=choice.seconds,
                resolution=choice.resolution,
                loras=choice.loras,
            ),
            picture=ctx.paths.ref_png,
            seed=seed,
            estimate_usd=choice.price(),
        )
        for seed in choice.seeds
    ]
    return Delivery(ctx, orders, terms_of(values, choice.ceiling_usd)).run()


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


def _prompt(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise BadInputError("is not UTF-8 text.", file=file, hint="Save it as UTF-8.") from error
    if not text:
        raise BadInputError("The prompt is empty.", file=file, hint="Run the stage 'prompt' again.")
    return text
