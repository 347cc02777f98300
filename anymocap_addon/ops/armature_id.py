"""The artist's armature, known by an id of our own: the Scene points at it, but what runs in the background outlives
the open file and holds nothing of Blender's."""

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


def check_armature(armature: bpy.types.Object) -> None:
    """Whether the chosen armature can get a motion.

    Raises:
        BadInputError: it was deleted (the Scene's setting still holds it), or it is linked from another file.
    """
    if not armature.users_scene:
        raise BadInputError(
            f"The armature {armature.name!r} is not in this file any more.",
            key="armature",
            hint="Undo its deletion or choose another one; the fitted motion is kept.",
        )
    if not armature.is_editable:
        raise BadInputError(
            f"The armature {armature.name!r} is linked from another file.",
            key="armature",
            hint="Make a library override of it, and choose that.",
        )
