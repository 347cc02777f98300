"""Meshes: how many, which no bone moves, coordinates, shape keys, modifiers."""

from __future__ import annotations

from collections.abc import Iterator

from .facts import CreatureFacts
from .finding import Finding, names_in_short


def mesh_count(facts: CreatureFacts) -> Iterator[Finding]:
    """The meshes of the creature."""
    if not facts.meshes:
        text = "There is no visible mesh with faces."
        yield Finding("mesh_count", "fail", "Mesh", text, "Export the creature's mesh with it, and unhide it.")
        return
    names = tuple(m.name for m in facts.meshes)
    faces = sum(m.faces for m in facts.meshes)
    number = "One mesh" if len(names) == 1 else f"{len(names)} meshes"
    yield Finding("mesh_count", "pass", "Mesh", f"{number}, {faces} faces: {names_in_short(names)}.", names=names)


def loose_parts(facts: CreatureFacts) -> Iterator[Finding]:
    """Where an armature moves some meshes, those that it does not move stay behind."""
    if not any(m.armature for m in facts.meshes):
        return
    for loose in (m.name for m in facts.meshes if not m.armature):
        yield Finding(
            "loose_parts",
            "warn",
            f"{loose} is not skinned",
            "No bone moves it: it is left out as scenery.",
            "Right for a floor. A part of the creature (eyes, teeth, saddle): the fix hangs it on its nearest bone.",
            "bind_parts",
            (loose,),
        )
    several = tuple(m.name for m in facts.meshes if m.armature_modifiers > 1)
    if several:
        text = f"{names_in_short(several)} has several Armature modifiers; the first that is shown counts."
        yield Finding("loose_parts", "warn", "Armature modifiers", text, "Remove the others.", names=several)


def bad_points(facts: CreatureFacts) -> Iterator[Finding]:
    """Coordinates that are not finite cannot be drawn."""
    for mesh in facts.meshes:
        if mesh.bad_points:
            text = f"{mesh.bad_points} vertices have coordinates that are not finite."
            hint = "The fix deletes them with their faces."
            yield Finding("bad_points", "fail", f"Vertices of {mesh.name}", text, hint, "drop_bad_points", (mesh.name,))


def shape_keys(facts: CreatureFacts) -> Iterator[Finding]:
    """Shape keys stay, but a skeleton's motion does not move them."""
    keyed = tuple(m.name for m in facts.meshes if m.shape_keys)
    if keyed:
        count = sum(len(m.shape_keys) for m in facts.meshes)
        driven = sum(m.driven_keys for m in facts.meshes)
        also = f" {driven} of them follow drivers and go on doing so." if driven else ""
        text = f"{count} shape keys on {names_in_short(keyed)} keep their values: bones are captured, no faces.{also}"
        yield Finding("shape_keys", "pass", "Shape keys", text, names=keyed)


def mesh_data(facts: CreatureFacts) -> Iterator[Finding]:
    """Modifiers and shared data, which prep handles on its own copy."""
    modified = tuple(m.name for m in facts.meshes if m.other_modifiers)
    if modified:
        kinds = sorted({kind.replace("_", " ").title() for m in facts.meshes for kind in m.other_modifiers})
        text = f"{', '.join(kinds)} of {names_in_short(modified)} are applied on prep's copy."
        yield Finding("mesh_data", "pass", "Modifiers", text, names=modified)
    shared = tuple(m.name for m in facts.meshes if m.data_users > 1)
    if shared:
        text = f"{names_in_short(shared)} share their mesh with another object: prep's copy gets its own."
        yield Finding("mesh_data", "pass", "Shared meshes", text, names=shared)
