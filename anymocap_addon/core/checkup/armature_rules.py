"""Armatures: how many, whose data they are, what they show."""

from __future__ import annotations

from collections.abc import Iterator

from .facts import CreatureFacts
from .finding import Finding, names_in_short


def armature_count(facts: CreatureFacts) -> Iterator[Finding]:
    """One armature moves the creature."""
    moving = [a for a in facts.armatures if a.moves]
    idle = tuple(a.name for a in facts.armatures if not a.moves)
    if not facts.armatures:
        hint = "Build a rig for it (rig.json), or bring a rigged file."
        yield Finding("armature_count", "warn", "Armature", "There is none.", hint)
        return
    if not moving:
        text = f"{names_in_short(idle)} moves no vertex of any mesh."
        yield Finding("armature_count", "fail", "Armature", text, "Bind the mesh to it.", names=idle)
        return
    names = tuple(a.name for a in moving)
    if len(moving) > 1:
        text = f"{len(moving)} armatures move the creature: {names_in_short(names)}."
        hint = "Select them, the main one last, and join them (Object > Join); their bones need different names."
        yield Finding("armature_count", "fail", "Armature", text, hint, names=names)
    else:
        yield Finding("armature_count", "pass", "Armature", f"One, {names[0]}, with {len(moving[0].bones)} bones.")
    if idle:
        yield Finding("armature_count", "pass", "Other armatures", f"{names_in_short(idle)} moves nothing: left out.")


def library_data(facts: CreatureFacts) -> Iterator[Finding]:
    """Linked data can be read, but no key can be put on it."""
    objects = [(a.name, a.linked, a.override) for a in facts.armatures]
    objects += [(m.name, m.linked, m.override) for m in facts.meshes]
    linked = tuple(name for name, is_linked, is_override in objects if is_linked and not is_override)
    overridden = tuple(name for name, _, is_override in objects if is_override)
    if linked:
        yield Finding(
            "library_data",
            "warn",
            "Linked data",
            f"{names_in_short(linked)} comes from another file: it is captured from a copy, but takes no keys here.",
            "Object > Library Override > Make, then put the motion on the override.",
            names=linked,
        )
    if overridden:
        text = f"{names_in_short(overridden)} is a library override: it is captured from a copy and takes keys."
        yield Finding("library_data", "pass", "Library override", text, names=overridden)


def shown_position(facts: CreatureFacts) -> Iterator[Finding]:
    """An armature that shows its rest position only does not show any motion."""
    resting = tuple(a.name for a in facts.armatures if a.at_rest and a.moves)
    if resting:
        text = f"{names_in_short(resting)} shows its rest position only, so no motion would be seen."
        yield Finding("shown_position", "warn", "Rest position", text, "The fix shows the pose.", "show_pose", resting)
