"""Scrubbing: creature and clip agree at any scene frame, whatever the two frame rates are."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from anymocap_addon.blender.action_playback import scene_fps
from anymocap_addon.blender.apply import apply_motion
from anymocap_addon.blender.armature_space import prep_similarity, read_joints
from anymocap_addon.core.clip_clock import ClipClock
from anymocap_addon.core.kinematics import Skeleton, continuous_quaternion, quaternion_to_matrix
from anymocap_addon.core.motion import Motion

from .capture_rig import chain_armature, rig_of
from .test_apply import motion_of

RATES = [((24, 1.0), 24.0), ((30, 1.0), 24.0), ((30, 1.001), 29.97), ((60, 1.0), 25.0), ((12, 1.0), 24.0)]
RATES += [((48, 1.0), 24.0)]


def between(rig, motion: Motion, time: float) -> np.ndarray:
    """(J, 3) joints at a fraction of a frame: place, root and angles on the cubics of Catmull and Rom."""
    at = int(np.clip(np.floor(time + 1e-6), 0, motion.T - 1))
    u = time - at

    def mixed(values: np.ndarray) -> np.ndarray:
        slope = np.gradient(values, axis=0)
        low, high = at, min(at + 1, motion.T - 1)
        return (
            (2 * u**3 - 3 * u**2 + 1) * values[low]
            + (u**3 - 2 * u**2 + u) * slope[low]
            + (3 * u**2 - 2 * u**3) * values[high]
            + (u**3 - u**2) * slope[high]
        )

    quaternion = mixed(motion.root_quat)
    root = quaternion_to_matrix(quaternion / np.linalg.norm(quaternion))
    return Skeleton.of(rig).forward(mixed(motion.trans)[None], root[None], mixed(motion.euler)[None]).joints[0]


@pytest.mark.parametrize(("rate", "fps"), RATES)
def test_joints_and_clip_frame_at_twelve_frames_of_the_scene(rate, fps):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature = chain_armature(5)
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = rate
    rig = rig_of(armature, "b0")
    motion = motion_of(rig, 60, fps=fps, seed=1)
    motion.root_quat = continuous_quaternion(motion.root_quat)
    clock = ClipClock(5.0, scene_fps(scene), fps, motion.T)
    applied = apply_motion(armature, rig, motion, "wave", 5.0)
    assert np.allclose(applied.frames, clock.key_frames(), atol=1e-9)
    similarity = prep_similarity(rig, armature)
    for frame in np.linspace(*clock.scene_range(), 12).round().astype(int):
        scene.frame_set(int(frame))
        time = min(clock.motion_time(frame), motion.T - 1.0)
        joints = read_joints(armature, rig, similarity)
        assert np.linalg.norm(joints - between(rig, motion, time), axis=1).max() < 1e-3, (frame, time)
        seconds = np.arange(motion.T) / fps
        shown = clock.clip_frame(int(frame))
        assert shown is not None
        off = np.abs(seconds - (frame - 5.0) / scene_fps(scene))
        assert off[shown] <= off.min() + 1e-6
