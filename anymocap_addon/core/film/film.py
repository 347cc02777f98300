"""The clips of a move: reference frame and prompt go to a video model, once a seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..creature import FilmDefaults, load_creature
from ..errors import BadInputError
from ..project import CreaturePaths
from ..stage_context import StageContext
from .arguments import model_arguments, resolution_word
from .delivery import Delivery, Order, Terms
from .models import load_models
from .takes import film_choice


def run(ctx: StageContext) -> dict[str, Any]:
    """Write runs/<c>/videos/<move>/s<seed>/<model>.mp4 and a record beside each.

    Raises:
        BadInputError: a setting, the prompt, the key or the artist's yes is missing; nothing new was paid.
        AnyMoCapError: a clip could not be had; those that could lie at their places.
    """
    values = ctx.settings
    defaults = film_defaults(ctx.paths)
    choice = film_choice(ctx.paths, values)
    model = load_models(ctx.paths.root).find("film", choice.model)
    prompt_file = ctx.paths.prompt(values["move"])
    prompt = _prompt(prompt_file)
    seconds = values["seconds"] or defaults.seconds or 5.0
    resolution = resolution_word(model, values["resolution"] or defaults.resolution)
    orders = [
        Order(
            stage="film",
            item=values["move"],
            target=ctx.paths.video(values["move"], seed, model.name),
            label=f"seed {seed}",
            model=model,
            arguments=model_arguments(
                model, prompt=prompt, seed=seed, seconds=seconds, resolution=resolution, loras=defaults.loras
            ),
            picture=ctx.paths.ref_png,
            seed=seed,
            estimate_usd=model.price(seconds, resolution),
        )
        for seed in choice.seeds
    ]
    return Delivery(ctx, orders, terms_of(values, defaults)).run()


def film_defaults(paths: CreaturePaths) -> FilmDefaults:
    """The creature's own defaults for film."""
    return load_creature(paths.creature_json).film if paths.creature_json.exists() else FilmDefaults()


def terms_of(values: dict[str, Any], defaults: FilmDefaults) -> Terms:
    """What the artist agreed to, from the settings of a stage that pays."""
    ceiling = values["ceiling"] if values["ceiling"] is not None else defaults.ceiling_usd
    return Terms(
        yes=values["yes"],
        ceiling_usd=ceiling,
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
