"""What the creature's own Actions do that a capture of rotations does not hold."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .facts import CreatureFacts
from .finding import Finding, names_in_short

_MOVED = 0.02  # of the creature's size: less than this is noise of the exporter
_SCALED = 0.01


def actions(facts: CreatureFacts) -> Iterator[Finding]:
    """Which Actions there are, and which bones they move in location or scale."""
    if not facts.actions:
        if facts.main is not None:
            yield Finding("actions", "pass", "Actions", "It has none: limits come from the bones' roles.")
        return
    count = len(facts.actions)
    yield Finding("actions", "pass", "Actions", f"{count} of its own, which also tell how far its bones turn.")
    yield from _moved(facts)
    scaled = sorted(
        {b.bone for a in facts.actions for b in a.bones if b.scale[0] < 1 - _SCALED or b.scale[1] > 1 + _SCALED}
    )
    if scaled:
        text = f"Its Actions scale {names_in_short(scaled)}."
        hint = "The capture keeps bone lengths as at rest."
        yield Finding("lengths", "warn", "Bone lengths", text, hint, names=tuple(scaled))
    missing = sorted({bone for a in facts.actions for bone in a.missing})
    if missing:
        names = tuple(a.name for a in facts.actions if a.missing)
        text = f"{names_in_short(names)} move bones that it does not have ({names_in_short(missing)})."
        yield Finding("actions", "pass", "Foreign Actions", text, names=tuple(missing))


def _moved(facts: CreatureFacts) -> Iterator[Finding]:
    if facts.main is None:
        return
    size = float(np.max(np.subtract(facts.high, facts.low)))
    unit = float(np.linalg.norm(np.array(facts.main.matrix)[:3, 0]))
    roots = {bone.name for bone in facts.main.bones if not bone.parent}
    moved = sorted({b.bone for a in facts.actions for b in a.bones if b.moved * unit > _MOVED * size} - roots)
    if moved:
        text = f"Its Actions move {names_in_short(moved)} away from the parent bone."
        hint = "The capture turns bones and moves the root alone, except where such a bone is a foot on its limb."
        yield Finding("locations", "warn", "Bone locations animated", text, hint, names=tuple(moved))
