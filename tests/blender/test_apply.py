"""Apply: poses as Blender has them, odd armature transforms, what stays untouched, undo, and the stage's files."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from anymocap_addon.blender.action_playback import find_action
from anymocap_addon.blender.action_slots import action_fcurves, assign_action
from anymocap_addon.blender.apply import apply_motion, live_armature, run
from anymocap_addon.blender.armature_space import prep_similarity, read_joints
from anymocap_addon.blender.pose import local_basis, sample_action, set_basis, set_pose
from anymocap_addon.core.errors import AnyMoCapError, BadInputError
from anymocap_addon.core.kinematics import Skeleton, matrix_to_quaternion
from anymocap_addon.core.motion import Motion, save_motion
from anymocap_addon.core.project import Project
from anymocap_addon.core.rig import RigInfo, save_rig_info
from anymocap_addon.core.stage_context import StageContext

from .capture_rig import chain_armature, random_motion, rig_of

DEFAULTS = {"mode": "replace", "bones": "all", "overwrite": False, "onto": "auto"}
WOLF_FEET = {
    "IKFrontLeg.L": "FrontLowerLeg.L",
    "IKFrontLeg.R": "FrontLowerLeg.R",
    "IKBackLeg.L": "BackLowerLeg.L",
    "IKBackLeg.R": "BackLowerLeg.R",
}


def imported(path: Path) -> bpy.types.Object:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(path))
    return next(o for o in bpy.data.objects if o.type == "ARMATURE")


def glb_json(path: Path) -> dict:
    """The JSON chunk of a GLB file."""
    data = path.read_bytes()
    return json.loads(data[20 : 20 + int.from_bytes(data[12:16], "little")])


def to_prep(scale: float, yaw: float, offset: tuple[float, float, float]) -> np.ndarray:
    matrix = np.eye(4)
    c, s = np.cos(yaw), np.sin(yaw)
    matrix[:3, :3] = scale * np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    matrix[:3, 3] = offset
    return matrix


def motion_of(rig: RigInfo, frames: int = 24, seed: int = 0, fps: float = 24.0) -> Motion:
    trans, root_R, euler = random_motion(rig, frames, seed)
    joints = Skeleton.of(rig).forward(trans, root_R, euler).joints
    zeros = np.zeros(joints.shape[:2])
    return Motion(
        creature="chain",
        move="wave",
        fps=fps,
        bones=rig.bones,
        trans=trans,
        root_quat=matrix_to_quaternion(root_R),
        euler=euler,
        joint_names=rig.keypoints,
        joints=joints,
        reproj_front=zeros,
        reproj_side=zeros,
        reproj_px={"front_median": 0.0, "side_median": 0.0, "mean": 0.0, "p95": 0.0},
        solver="lm",
    )


@pytest.fixture
def armature() -> bpy.types.Object:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return chain_armature(6)


@pytest.mark.needs_assets
@pytest.mark.parametrize(
    ("file", "root", "reparent", "scale"),
    [("Fox.glb", "b_Hip_01", {}, 0.0106), ("Wolf.glb", "Back", WOLF_FEET, 1.0)],
)
def test_poses_are_blenders_own_to_a_micrometre(assets_dir, file, root, reparent, scale):
    """Feet that hang on the armature's root and control bones above the capture root included."""
    armature = imported(assets_dir / "creatures" / file)
    assign_action(armature, None)
    rig = rig_of(armature, root, to_prep(scale, 1.0, (0.1, 0.2, 0.3)), reparent)
    motion = random_motion(rig, 12)
    want = Skeleton.of(rig).forward(*motion).joints
    basis, similarity = local_basis(rig, armature, *motion), prep_similarity(rig, armature)
    assert basis.moving.count(True) == 1 + len(reparent)
    for t, joints in enumerate(want):
        set_basis(armature, basis, t)
        bpy.context.view_layer.update()
        assert np.abs(read_joints(armature, rig, similarity) - joints).max() < 1e-6


def test_bones_that_do_not_inherit_are_posed_exactly(armature):
    bones = armature.data.bones
    bones["b2"].use_inherit_rotation = False
    bones["b3"].use_local_location = False
    bones["b4"].inherit_scale = "NONE"
    rig = rig_of(armature, "b1")
    trans, root_R, euler = (part[3] for part in random_motion(rig, 5))
    set_pose(armature, rig, trans, root_R, euler)
    bpy.context.view_layer.update()
    want = Skeleton.of(rig).forward(trans[None], root_R[None], euler[None]).joints[0]
    assert np.abs(read_joints(armature, rig, prep_similarity(rig, armature)) - want).max() < 1e-6


@pytest.mark.parametrize("case", ["scale 100", "tiny", "yaw 90", "offset", "parented", "all at once"])
def test_an_armature_anywhere_follows_to_a_tenth_of_a_millimetre(case):
    """The artist's armature in any unit, place and hierarchy: in its own space the motion is the fitted one."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    unit = {"scale 100": 0.01, "tiny": 300.0, "all at once": 0.01}.get(case, 1.0)
    armature = chain_armature(6, length=0.2 * unit)
    rig = rig_of(armature, "b0", to_prep(1.0 / unit, 0.4, (0.05, -0.1, 0.0)))
    rest = np.array([b.head_local for b in armature.data.bones])
    if case in ("scale 100", "tiny", "all at once"):
        armature.scale = (1.0 / unit,) * 3
    if case in ("yaw 90", "all at once"):
        armature.rotation_euler = (0.0, 0.0, np.pi / 2)
    if case in ("offset", "all at once"):
        armature.location = (3.0, -2.0, 5.0)
    if case in ("parented", "all at once"):
        parent = bpy.data.objects.new("empty", None)
        bpy.context.scene.collection.objects.link(parent)
        parent.location, parent.rotation_euler, parent.scale = (1, 2, 3), (0.2, 0.4, 0.6), (2.0, 2.0, 2.0)
        armature.parent = parent
    before = [tuple(v) for v in (armature.location, armature.rotation_euler, armature.scale)]
    motion = motion_of(rig)
    bpy.context.view_layer.update()
    applied = apply_motion(armature, rig, motion, "wave")
    assert applied.max_error_mm < 0.1
    assert [tuple(v) for v in (armature.location, armature.rotation_euler, armature.scale)] == before
    world_of_prep = np.array(armature.matrix_world) @ np.linalg.inv(rig.to_prep)
    for frame in (1, 13, 24):  # and in the world, through the object's own transform
        bpy.context.scene.frame_set(frame)
        heads = np.array([armature.matrix_world @ armature.pose.bones[b].head for b in rig.bones])
        want = motion.joints[frame - 1, : rig.B] @ world_of_prep[:3, :3].T + world_of_prep[:3, 3]
        extent = np.ptp(rest, axis=0).max() * np.linalg.norm(armature.matrix_world.to_3x3().col[0])
        assert np.abs(heads - want).max() < 1e-4 * max(extent, 1.0)


def test_scene_rate_start_frame_and_the_artists_frame(armature):
    scene = bpy.context.scene
    scene.render.fps = 30
    scene.frame_set(7)
    rig = rig_of(armature, "b0")
    applied = apply_motion(armature, rig, motion_of(rig, 25), "wave", start_frame=100.0)
    assert applied.frames[[0, -1]] == pytest.approx([100.0, 130.0])
    assert applied.max_error_mm < 0.1
    assert scene.frame_current == 7 and (scene.frame_start, scene.frame_end) == (1, 250)
    assert [s.name for s in bpy.data.scenes] == [scene.name]


def test_the_artists_other_data_stays(armature):
    mine = bpy.data.actions.new("mine")
    assign_action(armature, mine)
    armature.pose.bones["b1"].keyframe_insert("location", frame=3)
    other = bpy.data.objects.new("prop", None)
    bpy.context.scene.collection.objects.link(other)
    other.select_set(True)
    armature.pose.bones["b2"].lock_location = (True, False, True)
    rig = rig_of(armature, "b0")
    apply_motion(armature, rig, motion_of(rig), "wave")
    assert len(action_fcurves(mine, armature)) == 3 and mine.users == 1, "saved, though nothing plays it now"
    assert other.select_get() and bpy.context.view_layer.objects.active == armature
    assert tuple(armature.pose.bones["b2"].lock_location) == (True, False, True)
    assert {a.name for a in bpy.data.actions} == {"mine", "wave"}


def test_an_edited_action_is_never_overwritten(armature):
    rig = rig_of(armature, "b0")
    first = apply_motion(armature, rig, motion_of(rig), "wave").action
    assert apply_motion(armature, rig, motion_of(rig, seed=1), "wave").action == first
    curve = action_fcurves(first, armature)[0]
    curve.keyframe_points[2].co.y = 0.5
    again = apply_motion(armature, rig, motion_of(rig, seed=2), "wave")
    assert again.kept and again.action != first and again.action.name == "wave.001"
    assert action_fcurves(first, armature)[0].keyframe_points[2].co.y == 0.5


def test_a_constraint_that_moves_the_bones_is_named_and_nothing_stays(armature):
    target = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(target)
    constraint = armature.pose.bones["b3"].constraints.new("COPY_ROTATION")
    constraint.target = target
    rig = rig_of(armature, "b0")
    with pytest.raises(AnyMoCapError, match=r"b3 \(Copy Rotation\)"):
        apply_motion(armature, rig, motion_of(rig), "wave")
    assert not bpy.data.actions and armature.animation_data.action is None
    constraint.mute = True
    assert apply_motion(armature, rig, motion_of(rig), "wave").max_error_mm < 0.1


def test_a_foreign_armature_and_a_connected_root_are_refused(armature):
    rig = rig_of(armature, "b0")
    other = chain_armature(6, length=0.2)
    bpy.ops.object.mode_set(mode="EDIT")
    other.data.edit_bones["b3"].tail.z += 0.05
    other.data.edit_bones["b4"].head.z += 0.05
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(BadInputError, match="rest pose"):
        apply_motion(other, rig, motion_of(rig), "wave")
    inner = rig_of(armature, "b1")
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones["b1"].use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(BadInputError, match="connected to its parent 'b0'"):
        apply_motion(armature, inner, motion_of(inner), "wave")
    armature.data.bones["b2"].name = "renamed"
    with pytest.raises(BadInputError, match="no bone 'b2'"):
        apply_motion(armature, rig, motion_of(rig), "wave")
    with pytest.raises(BadInputError, match="no armature 'nobody'"):
        live_armature("nobody")


def test_undo_brings_back_exactly_the_state_before():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.preferences.edit.use_global_undo = True
    armature = chain_armature(4)
    armature.pose.bones["b1"].rotation_mode = "XZY"
    armature.pose.bones["b1"].rotation_euler = (0.1, 0.2, 0.3)
    rig = rig_of(armature, "b0")
    motion = motion_of(rig)
    bpy.ops.ed.undo_push(message="before")
    apply_motion(armature, rig, motion, "wave")
    bpy.ops.ed.undo_push(message="apply")
    bpy.ops.ed.undo()
    armature = bpy.data.objects["chain"]
    assert armature.animation_data is None and not bpy.data.actions
    bone = armature.pose.bones["b1"]
    assert bone.rotation_mode == "XZY" and tuple(bone.rotation_euler) == pytest.approx((0.1, 0.2, 0.3))
    assert [s.name for s in bpy.data.scenes] == [bpy.context.scene.name]


@pytest.mark.needs_assets
def test_sampling_an_action_leaves_no_trace_and_loops(assets_dir):
    armature = imported(assets_dir / "creatures" / "Fox.glb")
    rig = rig_of(armature, "b_Hip_01", to_prep(0.0106, 0.0, (0, 0, 0)))
    scene = bpy.context.scene
    scene.frame_set(5)
    for bone in armature.pose.bones:
        bone.rotation_mode = "XYZ"  # the Action is keyed in quaternions
    before = (armature.animation_data.action, [b.matrix_basis.copy() for b in armature.pose.bones])
    trans, _, euler = sample_action(armature, rig, "Walk", 52, 24.0)
    assert np.abs(euler[17:34] - euler[:17]).max() < 1e-3 and np.abs(trans[17] - trans[0]).max() < 1e-4
    assert np.abs(np.diff(euler, axis=0)).max() < 2.0 and np.ptp(euler, axis=0).max() > 0.3
    assert armature.animation_data.action == before[0] and scene.frame_current == 5
    assert {b.rotation_mode for b in armature.pose.bones} == {"XYZ"}
    assert all(np.allclose(b.matrix_basis, m, atol=1e-6) for b, m in zip(armature.pose.bones, before[1], strict=True))
    slow = sample_action(armature, rig, "Walk", 10, 48.0)[2]  # half a frame a step
    assert np.abs(slow[::2] - euler[:5]).max() < 1e-4
    find_action("Run", armature).name = "Armature|Run"
    assert find_action("run", armature).name == "Armature|Run"
    with pytest.raises(BadInputError, match="no Action called 'Fly'"):
        sample_action(armature, rig, "Fly", 10, 24.0)


def test_the_stage_headless_and_live(tmp_path, armature):
    """Both ways write joints.json and a GLB whose animation is the motion; headless it also leaves applied.blend."""
    rig = rig_of(armature, "b0")
    mesh = bpy.data.meshes.new("skin")
    points = [
        v for b in armature.data.bones for v in (b.head_local[:], (b.head_local + b.z_axis * 0.05)[:], b.tail_local[:])
    ]
    mesh.from_pydata(points, [], [(3 * i, 3 * i + 1, 3 * i + 2) for i in range(len(points) // 3)])
    mesh.color_attributes.new("legpaint", "BYTE_COLOR", "CORNER")
    skin = bpy.data.objects.new("skin", mesh)
    bpy.context.scene.collection.objects.link(skin)
    skin.parent = armature
    skin.modifiers.new("rig", "ARMATURE").object = armature
    for i, bone in enumerate(armature.data.bones):
        skin.vertex_groups.new(name=bone.name).add([3 * i, 3 * i + 1, 3 * i + 2], 1.0, "REPLACE")
    paths = Project(tmp_path / "Projekt mit Leerzeichen é").creature("chain")
    motion = motion_of(rig, 20)
    save_rig_info(paths.rig_info, rig)
    clip = paths.clip("wave")
    save_motion(clip.motion, motion)
    armature.animation_data_create().action = bpy.data.actions.new("its own")
    armature.pose.bones["b1"].keyframe_insert("rotation_quaternion", frame=3)
    armature.animation_data.action = None
    bpy.ops.wm.save_as_mainfile(filepath=str(paths.rigged_blend), copy=True)
    settings = {"clip": "wave", "armature": armature.name, "start_frame": 1, "action_name": "", **DEFAULTS}
    context = StageContext(Project(tmp_path / "Projekt mit Leerzeichen é"), paths, settings)
    result = run(context)
    assert result["action"] == "chain_wave" and not clip.applied_blend.exists()
    clip.joints.unlink()
    context.settings["armature"] = ""
    result = run(context)
    assert clip.applied_blend.exists() and result["max_error_mm"] < 0.1
    written = np.array(json.loads(clip.joints.read_text())["joints"])
    assert np.abs(written - motion.joints).max() < 1e-4
    channels = [
        (c["target"]["node"], c["target"]["path"])
        for animation in glb_json(clip.animation_glb)["animations"]
        for c in animation["channels"]
    ]
    assert len(channels) == len(set(channels)), "the motion alone, not the armature's other Actions"
    glb = imported(clip.animation_glb)
    assert len(bpy.data.actions) == 1
    assert find_action("chain_wave", glb).frame_range[1] == pytest.approx(19.0)
    assert not bpy.data.objects["skin"].data.color_attributes
    bpy.context.scene.frame_set(11)
    heads = np.array([glb.matrix_world @ glb.pose.bones[b].head for b in rig.bones])
    assert np.abs(heads - motion.joints[11, : rig.B]).max() < 1e-4
