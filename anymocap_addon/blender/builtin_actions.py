"""The lynx's motions as Actions on its armature."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.kinematics import matrix_to_quaternion
from .builtin_legs import Motion
from .keyframes import write_keys
from .pose import LocalBasis

Array = NDArray[np.float64]


def add_action(armature: bpy.types.Object, name: str, motion: Motion) -> bpy.types.Action:
    """`motion` keyed on every frame from 0; its last frame is its first again."""
    action = bpy.data.actions.new(name)
    action.use_fake_user = True
    action.use_cyclic = True
    basis = _basis(armature, motion)
    write_keys(armature, action, basis, np.arange(len(motion.hips), dtype=float))
    return action


def _basis(armature: bpy.types.Object, motion: Motion) -> LocalBasis:
    """World turns to each bone's own channels: basis = rest^T @ rest_parent @ pose_parent^T @ pose."""
    frames = len(motion.hips)
    names = tuple(bone.name for bone in armature.data.bones)
    rest = {b.name: np.array(b.matrix_local.to_3x3(), dtype=np.float64) for b in armature.data.bones}
    pose = {name: motion.turns[name] @ rest[name] for name in names}
    rotation, location = [], []
    for bone in armature.data.bones:
        place = np.zeros((frames, 3))
        if bone.parent is None:
            basis = rest[bone.name].T @ pose[bone.name]
            place = (motion.hips - np.array(bone.head_local)) @ rest[bone.name]
        else:
            up = bone.parent.name
            basis = rest[bone.name].T @ rest[up] @ np.swapaxes(pose[up], -1, -2) @ pose[bone.name]
        rotation.append(matrix_to_quaternion(basis))
        location.append(place)
    moving = tuple(bone.parent is None for bone in armature.data.bones)
    return LocalBasis(names, np.stack(location, 1), np.stack(rotation, 1), moving, ())
