"""The artist's armature under an id of our own, which outlives a new name, a file load and an undo."""

from __future__ import annotations

import uuid

import bpy

from ..core.errors import BadInputError

PROPERTY = "anymocap_id"


def held_id(armature: bpy.types.Object) -> str:
    """The id that an armature has; empty without one."""
    return str(armature.get(PROPERTY, ""))


def give_id(armature: bpy.types.Object) -> str:
    """The id of an armature, which gets one when it has none, or only that of the object it was copied from.

    Returns:
        The id; empty for an armature that cannot be changed because it is linked from another file.
    """
    held = held_id(armature)
    shared = [other for other in bpy.data.objects if other != armature and held_id(other) == held]
    if held and not shared:
        return held
    if not armature.is_editable:
        return ""
    armature[PROPERTY] = uuid.uuid4().hex
    return str(armature[PROPERTY])


def armature_of(armature_id: str) -> bpy.types.Object:
    """The armature with that id in the open file.

    Raises:
        BadInputError: it is not in this file, or it was deleted.
    """
    for candidate in bpy.data.objects:
        if candidate.type == "ARMATURE" and held_id(candidate) == armature_id:
            # An object that the artist deleted stays while our Scene's setting points at it.
            if not candidate.users_scene:
                break
            return candidate
    raise BadInputError(
        "The armature that was chosen is not in this file any more.",
        key="armature",
        hint="Choose another one under Apply; the fitted motion is kept.",
    )
