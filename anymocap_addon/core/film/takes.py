"""Which clips a film makes: the model and the seeds, from settings, else from creature.json, else the defaults."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..creature import FilmDefaults, load_creature
from ..errors import BadInputError
from ..project import CreaturePaths
from .models import DEFAULT_FILM, load_models

_LARGEST_SEED = 2**31 - 1
_MOST_SEEDS = 20


@dataclass(frozen=True)
class FilmChoice:
    """A model's name and the seeds to film with."""

    model: str
    seeds: tuple[int, ...]


def film_choice(paths: CreaturePaths, values: dict[str, Any]) -> FilmChoice:
    """Model and seeds that the settings of film mean.

    Raises:
        BadInputError: there is no such model, the seeds are no list of whole numbers, or creature.json is damaged.
    """
    named, seeds = values.get("model") or "", parse_seeds(values.get("seeds") or "")
    if not named or not seeds:
        defaults = load_creature(paths.creature_json).film if paths.creature_json.exists() else FilmDefaults()
        named = named or defaults.model or DEFAULT_FILM
        seeds = seeds or defaults.seeds or (1,)
    return FilmChoice(load_models(paths.root).find("film", named).name, seeds)


def film_files(paths: CreaturePaths, values: dict[str, Any]) -> list[Path]:
    """The clips that film writes with these settings."""
    choice = film_choice(paths, values)
    return [paths.video(values["move"], seed, choice.model) for seed in choice.seeds]


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
