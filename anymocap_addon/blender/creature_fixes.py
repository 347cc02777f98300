"""The safe fixes of the check-up: each is one function on the creature's objects, in the artist's scene (within an
operator with undo) or on prep's copy. A fix that finds nothing to mend does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import bpy

from ..core.creature import PrepFix
from ..core.errors import BadInputError
from .fix_parts import bind_parts
from .fix_points import drop_bad_points
from .fix_pose import clear_bone_scale, show_pose
from .fix_scale import apply_scale
from .fix_weights import clean_weights, fill_weights, limit_weights
from .fixed_objects import Objects

Fix = Callable[[Objects], list[str]]

FIXES: dict[str, Fix] = {
    "apply_scale": apply_scale,
    "clean_weights": clean_weights,
    "fill_weights": fill_weights,
    "limit_weights": limit_weights,
    "bind_parts": bind_parts,
    "drop_bad_points": drop_bad_points,
    "show_pose": show_pose,
    "clear_bone_scale": clear_bone_scale,
}


def apply_fixes(objects: Objects, fixes: Iterable[PrepFix]) -> list[str]:
    """Make fixes one after the other.

    Args:
        objects: the creature's; a fix with names is made on those alone.

    Returns:
        What was done, a sentence each.

    Raises:
        BadInputError: there is no fix of that name, or an object is linked and cannot be changed.
    """
    notes: list[str] = []
    for item in fixes:
        if item.fix not in FIXES:
            raise BadInputError(
                f"There is no fix {item.fix!r}.", key="prep.fixes", hint=f"Fixes: {', '.join(sorted(FIXES))}."
            )
        chosen = [o for o in objects if not item.names or o.name in item.names or _has_bone(o, item.names)]
        for obj in chosen:
            if not obj.is_editable or (obj.data is not None and not obj.data.is_editable):
                raise BadInputError(
                    f"{obj.name!r} is linked from another file and cannot be changed here.",
                    hint="Open that file, or make it local (Object > Relations > Make Local).",
                )
        notes += FIXES[item.fix](chosen)
        bpy.context.view_layer.update()
    return notes


def _has_bone(obj: bpy.types.Object, names: tuple[str, ...]) -> bool:
    return obj.type == "ARMATURE" and any(name in obj.pose.bones for name in names)
