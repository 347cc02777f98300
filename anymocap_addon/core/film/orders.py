"""What the settings of a stage that pays order: one file a seed, or one mesh. Nothing is asked of fal here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import BadInputError
from ..project import CreaturePaths
from .arguments import model_arguments
from .frame_check import check_frame
from .models import DEFAULT_MESH, load_models
from .order import Order
from .takes import film_choice


def film_orders(paths: CreaturePaths, values: dict[str, Any]) -> list[Order]:
    """One clip a seed.

    Args:
        values: settings of the stage film.

    Raises:
        BadInputError: a setting, the prompt or the picture cannot be used.
    """
    choice = film_choice(paths, values)
    prompt = read_prompt(paths.prompt(values["move"]))
    if not paths.ref_png.is_file():
        raise BadInputError("There is no reference frame.", file=paths.ref_png, hint="Run the stage 'ref' first.")
    check_frame(paths, values["move"])
    return [
        Order(
            stage="film",
            item=values["move"],
            target=paths.video(values["move"], seed, choice.model.name),
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
            picture=paths.ref_png,
            seed=seed,
            estimate_usd=choice.price(),
        )
        for seed in choice.seeds
    ]


def mesh_order(paths: CreaturePaths, values: dict[str, Any]) -> Order:
    """One mesh.

    Args:
        values: settings of the stage mesh.

    Raises:
        BadInputError: a setting or the picture cannot be used.
    """
    model = load_models(paths.root).find("mesh", values["model"] or DEFAULT_MESH)
    picture = Path(paths.root, values["picture"])
    if not picture.is_file():
        raise BadInputError("There is no such picture.", file=picture, key="picture", hint="Choose a PNG or JPEG.")
    return Order(
        stage="mesh",
        item="",
        target=paths.assets / "model.glb",
        label="mesh",
        model=model,
        arguments=model_arguments(model, seed=values["seed"]),
        picture=picture,
        seed=values["seed"],
        estimate_usd=model.price(0.0, ""),
    )


def read_prompt(file: Path) -> str:
    """The text of a prompt.

    Raises:
        BadInputError: there is none, or it is no UTF-8 text, or empty.
    """
    try:
        text = file.read_text(encoding="utf-8-sig").strip()
    except FileNotFoundError:
        raise BadInputError("There is no prompt.", file=file, hint="Run the stage 'prompt' first.") from None
    except UnicodeDecodeError as error:
        raise BadInputError("is not UTF-8 text.", file=file, hint="Save it as UTF-8.") from error
    except OSError as error:
        raise BadInputError(f"The prompt cannot be read: {error.strerror}.", file=file) from None
    if not text:
        raise BadInputError("The prompt is empty.", file=file, hint="Run the stage 'prompt' again.")
    return text
