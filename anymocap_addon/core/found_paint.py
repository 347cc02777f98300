"""Limb paint that the rig stage found by itself follows the limbs when they change; the artist's own paint stays."""

from __future__ import annotations

from pathlib import Path

from .creature import PaintGroup
from .errors import AnyMoCapError
from .rig import RigInfo, load_rig_info

Paint = tuple[PaintGroup, ...]
Limbs = dict[str, tuple[str, ...]]


def was_found(paint: Paint, rig_info: Path) -> bool:
    """Whether the paint's groups are the limbs of the rig that lies at `rig_info`: nobody named others since.

    Without a rig that can be read the paint counts as the artist's.
    """
    if not paint or not rig_info.exists():
        return False
    try:
        rig = load_rig_info(rig_info)
    except AnyMoCapError:
        return False  # the run that asks writes it anew
    return _groups(paint, rig) == {name: frozenset(bones) for name, bones in rig.bone_groups.items()}


def _groups(paint: Paint, rig: RigInfo) -> dict[str, frozenset[str]]:
    """Of each group its captured bones: driven bones are painted too, but no limb of the rig lists them."""
    return {group.name: frozenset(group.bones) & frozenset(rig.bones) for group in paint}


def recoloured(paint: Paint, limbs: Limbs) -> Paint | None:
    """The limbs in the colours they have; None where there are others than before, which need new colours."""
    known = {group.name: group for group in paint}
    if set(known) != set(limbs):
        return None
    return tuple(PaintGroup(name, known[name].word, known[name].colour, bones) for name, bones in limbs.items())
