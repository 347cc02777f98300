"""Fixes that prep makes on its copy of the creature: kept in creature.json, so that nobody has to edit it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..creature import Creature, Facing, PrepFix, load_creature, save_creature
from ..project import CreaturePaths
from .finding import Finding

QUESTIONS = ("confirm_facing", "take_suggestion")  # answered by who looks at the picture
JUDGED = ("bind_parts",)  # a loose part may be scenery: only who knows the creature can say


def own_creature(paths: CreaturePaths) -> Creature:
    """creature.json, or a new creature where there is none.

    Raises:
        BadInputError: creature.json is damaged.
    """
    return load_creature(paths.creature_json) if paths.creature_json.exists() else Creature(name=paths.name)


def safe_fixes(findings: Iterable[Finding], also: Iterable[str] = ()) -> tuple[PrepFix, ...]:
    """The fixes that need no judgement, in the order of the findings.

    Args:
        also: fixes that need one and were asked for by name.
    """
    passed_over = {*QUESTIONS, *JUDGED} - set(also)
    return tuple(PrepFix(f.fix, f.names) for f in findings if f.fix and f.fix not in passed_over)


def add_prep_fixes(paths: CreaturePaths, fixes: Iterable[PrepFix]) -> tuple[PrepFix, ...]:
    """Let prep make these fixes, after those that it makes already.

    Returns:
        Those that are new.
    """
    creature = own_creature(paths)
    new = tuple(dict.fromkeys(item for item in fixes if item not in creature.prep.fixes))
    if new:
        prep = replace(creature.prep, fixes=(*creature.prep.fixes, *new))
        _save(paths, replace(creature, prep=prep))
    return new


def drop_prep_fixes(paths: CreaturePaths) -> None:
    """Let prep take the creature's file as it is."""
    creature = own_creature(paths)
    _save(paths, replace(creature, prep=replace(creature.prep, fixes=())))


def confirm_facing(paths: CreaturePaths) -> Facing:
    """Keep that up axis and facing are right as they are set now; returns them."""
    creature = own_creature(paths)
    facing = Facing(creature.prep.up, creature.prep.rotz_deg)
    _save(paths, replace(creature, facing_confirmed=facing))
    return facing


def _save(paths: CreaturePaths, creature: Creature) -> None:
    paths.assets.mkdir(parents=True, exist_ok=True)
    save_creature(paths.creature_json, creature)
