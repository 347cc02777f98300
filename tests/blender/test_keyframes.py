"""Keys: every rotation mode, continuity, frame rates, slots, and whose Action may be overwritten."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from anymocap_addon.blender.action_slots import action_fcurves
from anymocap_addon.blender.armature_space import prep_similarity, read_joints
from anymocap_addon.blender.keyframes import key_frames, rotation_values, write_keys
from anymocap_addon.blender.own_actions import bone_hashes, edited_bones, settle, stamp, take_action
from anymocap_addon.blender.pose import local_basis
from anymocap_addon.core.kinematics import Skeleton, matrix_to_quaternion, rotvec_to_matrix

from .capture_rig import chain_armature, random_motion, rig_of

MODES = ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]


@pytest.fixture
def armature() -> bpy.types.Object:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return chain_armature(len(MODES) + 1)


def written(armature, frames=30, fps=24.0, scene_fps=24.0, name="test_move", swing=0.6):
    rig = rig_of(armature, "b0")
    motion = random_motion(rig, frames, swing=swing)
    basis = local_basis(rig, armature, *motion)
    taken = take_action(armature, name)
    at = key_frames(frames, fps, scene_fps, 1.0)
    write_keys(armature, taken.action, basis, at)
    stamp(taken.action, armature, "test/move")
    settle(taken)
    return rig, motion, taken.action, at, taken.kept


def error_m(armature, rig, motion, at) -> float:
    """Largest distance between Blender's joints at the key frames and the forward kinematics."""
    want = Skeleton.of(rig).forward(*motion).joints
    similarity, worst = prep_similarity(rig, armature), 0.0
    for frame, joints in zip(at, want, strict=True):
        bpy.context.scene.frame_set(int(np.floor(frame)), subframe=frame - np.floor(frame))
        worst = max(worst, float(np.abs(read_joints(armature, rig, similarity) - joints).max()))
    return worst


def test_each_bone_keeps_its_rotation_mode_and_the_pose_is_exact(armature):
    for bone, mode in zip(armature.pose.bones, [*MODES, "XYZ"], strict=True):
        bone.rotation_mode = mode
    rig, motion, action, at, _ = written(armature, frames=60)
    assert [b.rotation_mode for b in armature.pose.bones] == [*MODES, "XYZ"]
    assert error_m(armature, rig, motion, at) < 5e-6
    paths = {c.data_path for c in action_fcurves(action, armature)}
    assert 'pose.bones["b1"].rotation_axis_angle' in paths
    assert 'pose.bones["b1"].rotation_quaternion' not in paths


@pytest.mark.parametrize("mode", MODES)
def test_turning_over_and_over_never_jumps(mode):
    """Two and a half turns about a tilted axis: neighbouring keys stay near in every mode."""
    turn = np.linspace(0, 5 * np.pi, 200)
    axis = np.array([0.2, 0.9, 0.1]) if mode in MODES[:2] else np.array([0.0, 0.0, 1.0])
    matrices = rotvec_to_matrix(turn[:, None] * axis / np.linalg.norm(axis))
    values = rotation_values(matrix_to_quaternion(matrices), mode)
    assert np.abs(np.diff(values, axis=0)).max() < 0.2
    assert values.shape == (200, 4 if mode in MODES[:2] else 3)


@pytest.mark.parametrize(
    ("fps", "scene"), [(24.0, (24, 1.0)), (24.0, (30, 1.0)), (29.97, (30, 1.001)), (12.0, (60, 1.0))]
)
def test_a_motion_lasts_as_long_in_the_scene_as_in_its_clip(armature, fps, scene):
    render = bpy.context.scene.render
    render.fps, render.fps_base = scene
    scene_fps = scene[0] / scene[1]
    rig, motion, action, at, _ = written(armature, 25, fps, scene_fps)
    assert (at[-1] - at[0]) / scene_fps == pytest.approx(24 / fps, rel=1e-5)
    assert action.frame_range[0] == pytest.approx(1.0)
    assert action.frame_range[1] == pytest.approx(at[-1], abs=1e-4)
    assert error_m(armature, rig, motion, at) < 5e-5  # Blender keeps key times as float32
    points = action_fcurves(action, armature)[0].keyframe_points
    assert {p.interpolation for p in points} == {"LINEAR" if at[1] - at[0] == 1.0 else "BEZIER"}


def test_an_edited_action_is_kept_and_an_own_one_is_reused(armature):
    _, _, action, _, kept = written(armature)
    assert not kept and edited_bones(action, armature) == []
    again = written(armature, swing=0.3)[2]
    assert again == action and len([a for a in bpy.data.actions if a.name.startswith("test_move")]) == 1
    action_fcurves(action, armature)[5].keyframe_points[3].co.y += 0.1
    before = bone_hashes(action, armature)
    assert len(edited_bones(action, armature)) == 1
    _, _, other, _, kept = written(armature)
    assert kept and other != action and bone_hashes(action, armature) == before
    assert armature.animation_data.action == other


def test_left_over_channels_are_keyed_at_rest_and_clean_ones_are_not(armature):
    armature.pose.bones["b3"].location = (0.1, 0.0, 0.0)
    armature.pose.bones["b4"].scale = (2.0, 2.0, 2.0)
    rig, motion, action, at, _ = written(armature)
    assert error_m(armature, rig, motion, at) < 5e-6
    extra = {c.data_path for c in action_fcurves(action, armature) if "rotation" not in c.data_path}
    assert extra == {'pose.bones["b0"].location', 'pose.bones["b3"].location', 'pose.bones["b4"].scale'}


def test_locks_and_constraints_are_left_alone(armature):
    bone = armature.pose.bones["b2"]
    bone.lock_rotation = (True, True, False)
    muted = bone.constraints.new("COPY_LOCATION")
    muted.mute = True
    written(armature)
    assert tuple(bone.lock_rotation) == (True, True, False)
    assert bone.constraints[0].mute and bone.constraints[0].type == "COPY_LOCATION"


@pytest.mark.skipif(bpy.app.version < (4, 4, 0), reason="Actions have slots since 4.4")
def test_the_slot_drives_the_armature_and_another_slot_is_not_touched(armature):
    action = written(armature)[2]
    assert armature.animation_data.action_slot.target_id_type == "OBJECT"
    other = chain_armature(3)
    other.animation_data_create().action = action
    other.animation_data.action_slot = action.slots.new("OBJECT", "other")
    other.pose.bones["b1"].keyframe_insert("location", frame=5)
    count = len(action_fcurves(action, other))
    assert count == 3 and edited_bones(action, armature) == []
