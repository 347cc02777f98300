"""Whose Action is it? Actions that we keyed carry what they were keyed from and, bone by bone, a hash of the keys as we
wrote them; one whose keys are no longer ours is somebody's work and kept."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

import bpy
import numpy as np

from .action_slots import action_fcurves, writable_curves

KEYS_PROPERTY = "anymocap_keys"  # on the Action: bone -> hash of its keys
MOTION_PROPERTY = "anymocap_motion"  # on the Action: "creature/clip" that it was keyed from

_BONE_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')
_NO_BONE = "//object"  # the key of curves on the armature object itself

Bones = frozenset[str] | None  # None: the whole rig


@dataclass(frozen=True)
class TakenAction:
    """An Action made ready for new keys.

    Attributes:
        action: holds no keys of the wanted bones.
        kept: an Action of the wanted name was left alone because it is somebody's own, or edited.
        backup: the replaced Action as it was, for `give_back`; None when `action` is new.
    """

    action: bpy.types.Action
    kept: bool
    backup: bpy.types.Action | None


def take_action(
    armature: bpy.types.Object, name: str, bones: Bones = None, *, always_new: bool = False, overwrite: bool = False
) -> TakenAction:
    """The Action called `name`, cleared of the keys of `bones`, when it is ours to change; else a new one, which
    Blender numbers.

    It is ours when we keyed it, nothing else plays it, and the keys of `bones` are as we wrote them (or `overwrite`).
    Call `stamp` when it is keyed, then `settle` or `give_back`.
    """
    old = bpy.data.actions.get(name)
    if old is None or always_new or not _replaceable(old, armature, bones, overwrite):
        action = bpy.data.actions.new(name)
        action.use_fake_user = True
        return TakenAction(action, old is not None and not always_new, None)
    backup = old.copy()
    clear_keys(old, armature, bones)
    return TakenAction(old, False, backup)


def clear_keys(action: bpy.types.Action, armature: bpy.types.Object, bones: Bones = None) -> None:
    """Remove the keys of `bones`."""
    curves = writable_curves(action, armature)
    for curve in list(curves.fcurves):
        if bones is None or bone_of(curve.data_path) in bones:
            curves.fcurves.remove(curve)


def settle(taken: TakenAction) -> None:
    """The new keys stay: forget what they replaced."""
    if taken.backup is not None:
        bpy.data.actions.remove(taken.backup)


def give_back(taken: TakenAction) -> bpy.types.Action | None:
    """As before `take_action`: returns the replaced Action, with its users and its name, or None."""
    action, backup, name = taken.action, taken.backup, taken.action.name
    if backup is not None:
        action.user_remap(backup)
    bpy.data.actions.remove(action)
    if backup is not None:
        backup.name = name
    return backup


def stamp(action: bpy.types.Action, armature: bpy.types.Object, motion: str, bones: Bones = None) -> None:
    """Mark the keys of `bones` as ours, made from `motion`."""
    hashes = bone_hashes(action, armature)
    before = action.get(KEYS_PROPERTY)
    if bones is not None and before is not None:
        hashes = {**before.to_dict(), **{bone: value for bone, value in hashes.items() if bone in bones}}
    action[KEYS_PROPERTY] = hashes
    action[MOTION_PROPERTY] = motion


def is_ours(action: bpy.types.Action) -> bool:
    """Whether we keyed it."""
    return hasattr(action.get(KEYS_PROPERTY), "to_dict")


def edited_bones(action: bpy.types.Action, armature: bpy.types.Object, bones: Bones = None) -> list[str]:
    """Bones (of `bones`) whose keys are not as we wrote them: changed, added or removed; sorted."""
    stored = action[KEYS_PROPERTY].to_dict() if is_ours(action) else {}
    now = bone_hashes(action, armature)
    changed = {bone for bone in {*stored, *now} if stored.get(bone) != now.get(bone)}
    return sorted(changed if bones is None else changed & bones)


def own_name(armature: bpy.types.Object, motion: str) -> str | None:
    """Name of the armature's present Action when it was keyed from `motion`, whatever the artist calls it."""
    data = armature.animation_data
    action = data.action if data is not None else None
    return action.name if action is not None and action.get(MOTION_PROPERTY) == motion else None


def bone_hashes(action: bpy.types.Action, armature: bpy.types.Object) -> dict[str, str]:
    """Bone -> sha256 over data paths, indices and key coordinates (float32) of the curves that drive it."""
    parts: dict[str, list[bytes]] = {}
    for curve in sorted(action_fcurves(action, armature), key=lambda c: (c.data_path, c.array_index)):
        points = np.empty(2 * len(curve.keyframe_points), np.float32)
        curve.keyframe_points.foreach_get("co", points)
        name = f"{curve.data_path}[{curve.array_index}]"
        parts.setdefault(bone_of(curve.data_path), []).append(name.encode() + points.tobytes())
    return {bone: hashlib.sha256(b"".join(pieces)).hexdigest() for bone, pieces in parts.items()}


def bone_of(data_path: str) -> str:
    """The bone that a curve's data path is about."""
    found = _BONE_PATH.match(data_path)
    return bpy.utils.unescape_identifier(found.group(1)) if found else _NO_BONE


def _replaceable(action: bpy.types.Action, armature: bpy.types.Object, bones: Bones, overwrite: bool) -> bool:
    if not is_ours(action) or not action.is_editable or action.override_library is not None:
        return False
    if bpy.data.user_map(subset={action})[action] - {armature}:
        return False
    return overwrite or not edited_bones(action, armature, bones)
