"""Which clips a film makes and what they cost: from settings, else from creature.json, else the defaults."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..creature import FilmDefaults, load_creature
from ..errors import BadInputError
from ..project import CreaturePaths
from .arguments import resolution_word
from .models import DEFAULT_FILM, Model, load_models

_LARGEST_SEED = 2**31 - 1
_MOST_SEEDS = 20
_SECONDS = 5.0


@dataclass(frozen=True)
class FilmChoice:
    """What a film is made with.

    Attributes:
        seeds: one take each.
        seconds: length of a clip.
        resolution: as it was asked for; empty = the model's default.
        ceiling_usd: US dollars a day for this creature, 0 = none.
        loras: for models that take them.
    """

    model: Model
    seeds: tuple[int, ...]
    seconds: float
    resolution: str
    ceiling_usd: float
    loras: tuple[dict[str, Any], ...]

    def price(self) -> float | None:
        """Estimated US dollars for one clip, None where the model table has no price.

        Raises:
            BadInputError: the model does not know the resolution.
        """
        return self.model.price(self.seconds, resolution_word(self.model, self.resolution))


def film_choice(paths: CreaturePaths, values: dict[str, Any]) -> FilmChoice:
    """What the settings of film mean for this creature; reads two small files.

    Raises:
        BadInputError: there is no such model, the seeds are no list of whole numbers, or creature.json is damaged.
    """
    defaults = film_defaults(paths)
    ceiling = values.get("ceiling")
    return FilmChoice(
        model=load_models(paths.root).find("film", values.get("model") or defaults.model or DEFAULT_FILM),
        seeds=parse_seeds(values.get("seeds") or "") or _own_seeds(paths, defaults) or (1,),
        seconds=values.get("seconds") or defaults.seconds or _SECONDS,
        resolution=values.get("resolution") or defaults.resolution,
        ceiling_usd=defaults.ceiling_usd if ceiling is None else ceiling,
        loras=defaults.loras,
    )


def film_defaults(paths: CreaturePaths) -> FilmDefaults:
    """The creature's own defaults for film."""
    return load_creature(paths.creature_json).film if paths.creature_json.exists() else FilmDefaults()


def _own_seeds(paths: CreaturePaths, defaults: FilmDefaults) -> tuple[int, ...]:
    """The creature's own seeds, held to what those of a run are held to."""
    try:
        return parse_seeds(" ".join(map(str, defaults.seeds)))
    except BadInputError as error:
        raise BadInputError(error.message, file=paths.creature_json, key="film.seeds", hint=error.hint) from None


def film_files(paths: CreaturePaths, values: dict[str, Any]) -> list[Path]:
    """The clips that film writes with these settings."""
    choice = film_choice(paths, values)
    return [paths.video(values["move"], seed, choice.model.name) for seed in choice.seeds]


def parse_seeds(text: str) -> tuple[int, ...]:
    """Seeds from a text such as "1 2 3" or "1, 5-8".

    Raises:
        BadInputError: it is something else, or they are more than 20.
    """
    found: list[int] = []
    for word in re.split(r"[\s,;]+", text.strip()):
        if not word:
            continue
        match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", word)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if first > last or last > _LARGEST_SEED or last - first >= _MOST_SEEDS:
            raise BadInputError(
                f"{word!r} is no seed.", key="seeds", hint='Write whole numbers, e.g. "1 2 3" or "1-3".'
            )
        found += [seed for seed in range(first, last + 1) if seed not in found]
    if len(found) > _MOST_SEEDS:
        raise BadInputError(f"These are {len(found)} seeds.", key="seeds", hint=f"At most {_MOST_SEEDS} at once.")
    return tuple(found)
