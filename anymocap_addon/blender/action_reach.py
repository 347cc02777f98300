"""Where a creature's own Actions take its joints: what a frame must hold so that none of its clips leaves it."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.kinematics import Skeleton
from .action_playback import moving_actions, scene_fps
from .pose import sample_action
from .scene import RiggedScene

Array = NDArray[np.float64]

EVERY = 4  # frames: joints move little in between, and the frame's margin holds that


def action_reach(scene: RiggedScene) -> dict[str, Array]:
    """Name of each Action -> (N, 3) places of its joints, metres, in every fourth of its frames, on the spot.

    Constraints must still be on: call it before the armature is posed.
    """
    shown = [mesh.hide_viewport for mesh in scene.meshes]
    for mesh in scene.meshes:
        mesh.hide_viewport = True  # its skin is not looked at, and takes most of the time
    try:
        return {
            action.name: _joints(scene, action.name, action.frame_range[:]) for action in moving_actions(scene.armature)
        }
    finally:
        for mesh, hidden in zip(scene.meshes, shown, strict=True):
            mesh.hide_viewport = hidden


def _joints(scene: RiggedScene, action: str, frame_range: tuple[float, float]) -> Array:
    fps = scene_fps(bpy.context.scene) / EVERY
    frames = int(np.ceil((frame_range[1] - frame_range[0]) / EVERY)) + 1
    joints: Array = (
        Skeleton.of(scene.rig).forward(*sample_action(scene.armature, scene.rig, action, frames, fps)).joints
    )
    return joints.reshape(-1, 3)
