"""Apply's modes: own, new and strip; some bones; edited Actions; overrides, Pose Mode, renames; failure and undo."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from anymocap_addon.blender.action_slots import action_fcurves, assign_action
from anymocap_addon.blender.apply import ApplyOptions, apply_motion, applying, live_armature
from anymocap_addon.blender.armature_space import prep_similarity, read_joints
from anymocap_addon.blender.own_actions import bone_of, edited_bones, own_name
from anymocap_addon.core.errors import AnyMoCapError
from anymocap_addon.core.kinematics import Skeleton

from .capture_rig import chain_armature, rig_of
from .test_apply import motion_of

STRIP = ApplyOptions(mode="strip", motion="chain/wave")
OWN = ApplyOptions(motion="chain/wave")


@pytest.fixture
def armature() -> bpy.types.Object:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return chain_armature(6)


def values(action: bpy.types.Action, armature: bpy.types.Object) -> dict[tuple[str, int], list[float]]:
    return {
        (c.data_path, c.array_index): [round(v, 6) for p in c.keyframe_points for v in p.co]
        for c in action_fcurves(action, armature)
    }


def joints_at(armature, rig, frame: float) -> np.ndarray:
    bpy.context.scene.frame_set(int(np.floor(frame)), subframe=frame % 1)
    return read_joints(armature, rig, prep_similarity(rig, armature))


def test_a_new_action_leaves_the_former_one(armature):
    rig = rig_of(armature, "b0")
    first = apply_motion(armature, rig, motion_of(rig), "wave", 1.0, OWN).action
    before = values(first, armature)
    second = apply_motion(armature, rig, motion_of(rig, seed=1), "wave", 1.0, ApplyOptions(mode="new"))
    assert second.action != first and second.action.name == "wave.001" and not second.kept
    assert values(first, armature) == before and armature.animation_data.action == second.action


def test_a_strip_plays_the_motion_and_the_artists_action_is_the_active_one_again(armature):
    rig, motion = rig_of(armature, "b0"), motion_of(rig_of(armature, "b0"))
    applied = apply_motion(armature, rig, motion, "wave", 11.0, STRIP)
    data = armature.animation_data
    assert data.action is None
    (track,) = data.nla_tracks
    (strip,) = track.strips
    assert strip.action == applied.action and (strip.frame_start, strip.frame_end) == (11.0, 34.0)
    for t in (0, 7, 23):
        assert np.abs(joints_at(armature, rig, 11 + t) - motion.joints[t]).max() < 1e-4
    mine = bpy.data.actions.new("mine")
    assign_action(armature, mine)
    longer = motion_of(rig, 40, seed=2)
    strip.frame_start_ui = 101.0  # the artist moved it
    apply_motion(armature, rig, longer, "wave", 11.0, STRIP)
    assert armature.animation_data.action == mine
    assert [len(t.strips) for t in armature.animation_data.nla_tracks] == [1]
    strip = armature.animation_data.nla_tracks[0].strips[0]
    assert (strip.frame_start, strip.frame_end) == (101.0, 140.0)
    assign_action(armature, None)
    assert np.abs(joints_at(armature, rig, 140) - longer.joints[39]).max() < 1e-4


def test_selected_bones_alone_get_keys(armature):
    rig = rig_of(armature, "b0")
    first = apply_motion(armature, rig, motion_of(rig), "wave", 1.0, OWN).action
    before = values(first, armature)
    tail = frozenset({"b4", "b5"})
    motion = motion_of(rig, seed=3)
    applied = apply_motion(armature, rig, motion, "wave", 1.0, ApplyOptions(bones=tail, motion="chain/wave"))
    after = values(first, armature)
    assert applied.action == first and applied.joints is None and applied.max_error_mm < 0.1
    changed = {bone_of(path) for (path, _) in after if after[path, _] != before[path, _]}
    assert changed == tail and set(after) == set(before)
    assert edited_bones(first, armature) == []  # and the next apply of the whole rig knows them as its own
    assert apply_motion(armature, rig, motion, "wave", 1.0, OWN).action == first


def test_a_strip_of_some_bones_lies_over_the_artists_animation(armature):
    rig, motion = rig_of(armature, "b0"), motion_of(rig_of(armature, "b0"))
    apply_motion(armature, rig, motion, "whole", 1.0, ApplyOptions(mode="strip"))
    other = motion_of(rig, seed=4)
    apply_motion(armature, rig, other, "end", 1.0, ApplyOptions(mode="strip", bones=frozenset({"b5"})))
    mixed = motion.euler[9].copy()
    mixed[5] = other.euler[9, 5]
    want = Skeleton.of(rig).forward(motion.trans[9:10], motion.root_R[9:10], mixed[None]).joints[0]
    assert np.abs(joints_at(armature, rig, 10) - want).max() < 1e-4


def test_editing_one_bone_keeps_the_action_but_not_from_new_keys_of_others(armature):
    rig = rig_of(armature, "b0")
    first = apply_motion(armature, rig, motion_of(rig), "wave", 1.0, OWN).action
    curve = next(c for c in action_fcurves(first, armature) if bone_of(c.data_path) == "b2")
    curve.keyframe_points[4].co.y = 0.7
    assert edited_bones(first, armature) == ["b2"]
    some = ApplyOptions(bones=frozenset({"b5"}), motion="chain/wave")
    assert apply_motion(armature, rig, motion_of(rig, seed=1), "wave", 1.0, some).action == first
    assert curve.keyframe_points[4].co.y == pytest.approx(0.7)
    whole = apply_motion(armature, rig, motion_of(rig, seed=1), "wave", 1.0, OWN)
    assert whole.kept and whole.action != first
    assign_action(armature, first)
    forced = apply_motion(armature, rig, motion_of(rig, seed=1), "wave", 1.0, ApplyOptions(overwrite=True))
    assert forced.action == first and edited_bones(first, armature) == []


def test_an_action_of_the_artists_own_or_of_another_armature_is_never_overwritten(armature):
    mine = bpy.data.actions.new("wave")
    rig = rig_of(armature, "b0")
    applied = apply_motion(armature, rig, motion_of(rig), "wave", 1.0, ApplyOptions(overwrite=True))
    assert applied.kept and applied.action != mine and mine.users == 0
    twin = chain_armature(6)
    assign_action(twin, applied.action)
    again = apply_motion(armature, rig, motion_of(rig), applied.action.name, 1.0, ApplyOptions(overwrite=True))
    assert again.action != applied.action and twin.animation_data.action == applied.action


@pytest.mark.parametrize("mode", ["replace", "strip"])
def test_what_fails_leaves_the_replaced_action_as_it_was(armature, mode):
    rig = rig_of(armature, "b0")
    first = apply_motion(armature, rig, motion_of(rig), "wave", 1.0, ApplyOptions(mode=mode)).action
    before, names = values(first, armature), sorted(a.name for a in bpy.data.actions)
    strips = [(s.name, s.frame_end) for t in armature.animation_data.nla_tracks for s in t.strips]
    playing = armature.animation_data.action
    with (
        pytest.raises(OSError, match="disk full"),
        applying(armature, rig, motion_of(rig, 40, seed=1), "wave", 1.0, ApplyOptions(mode=mode)),
    ):
        raise OSError("disk full")
    assert sorted(a.name for a in bpy.data.actions) == names == ["wave"]
    now = bpy.data.actions["wave"]
    assert values(now, armature) == before and now.use_fake_user
    assert (armature.animation_data.action == now) == (playing is not None)
    assert [(s.name, s.frame_end) for t in armature.animation_data.nla_tracks for s in t.strips] == strips
    assert all(s.action == now for t in armature.animation_data.nla_tracks for s in t.strips)
    assert np.abs(joints_at(armature, rig, 5) - motion_of(rig).joints[4]).max() < 1e-4


def test_drivers_on_a_chosen_bone_are_named(armature):
    armature.pose.bones["b5"].rotation_mode = "XYZ"
    armature.pose.bones["b5"].driver_add("rotation_euler", 0).driver.expression = "0.5"
    rig = rig_of(armature, "b0")
    with pytest.raises(AnyMoCapError, match="Drivers move its bones"):
        apply_motion(armature, rig, motion_of(rig), "wave", 1.0, ApplyOptions(bones=frozenset({"b5"})))
    assert not bpy.data.actions


def test_in_pose_mode_and_after_renames(armature):
    rig = rig_of(armature, "b0")
    first = apply_motion(armature, rig, motion_of(rig), "wave", 1.0, OWN).action
    bpy.ops.object.mode_set(mode="POSE")
    armature.name, first.name = "Renard", "my walk"
    assert own_name(armature, "chain/wave") == "my walk" and own_name(armature, "chain/run") is None
    motion = motion_of(rig, seed=5)
    applied = apply_motion(live_armature("Renard"), rig, motion, "my walk", 1.0, OWN)
    assert applied.action == first and armature.mode == "POSE" and bpy.context.mode == "POSE"
    assert applied.max_error_mm < 0.1


def test_a_library_override_takes_the_keys(tmp_path: Path, armature):
    """Linked from another file and overridden: the override gets an Action of its own, the library stays."""
    rig = rig_of(armature, "b0")
    library = tmp_path / "rigged.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(library), copy=True)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, target):
        target.objects = ["chain"]
    linked = target.objects[0]
    bpy.context.scene.collection.objects.link(linked)
    with pytest.raises(AnyMoCapError, match="library override"):
        live_armature(linked.name)
    override = linked.override_create(remap_local_usages=True)
    bpy.context.view_layer.update()
    motion = motion_of(rig)
    for mode in ("replace", "replace", "strip"):
        applied = apply_motion(live_armature(override.name), rig, motion, "wave", 1.0, ApplyOptions(mode=mode))
        assert applied.max_error_mm < 0.1 and applied.action.is_editable
    assert [a.name for a in bpy.data.actions] == ["wave"] and linked.animation_data is None
    assert np.abs(joints_at(override, rig, 10) - motion.joints[9]).max() < 1e-4
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    again = next(o for o in bpy.data.objects if o.override_library is not None)
    assert np.abs(joints_at(again, rig, 10) - motion.joints[9]).max() < 1e-4


def test_undo_and_redo_of_a_replaced_action():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.preferences.edit.use_global_undo = True
    armature = chain_armature(4)
    rig = rig_of(armature, "b0")
    bpy.ops.ed.undo_push(message="none")
    apply_motion(armature, rig, motion_of(rig), "wave", 1.0, OWN)
    bpy.ops.ed.undo_push(message="first")
    first = values(bpy.data.actions["wave"], armature)
    apply_motion(armature, rig, motion_of(rig, seed=1), "wave", 1.0, OWN)
    bpy.ops.ed.undo_push(message="second")
    second = values(bpy.data.actions["wave"], armature)
    bpy.ops.ed.undo()
    assert [a.name for a in bpy.data.actions] == ["wave"]
    assert values(bpy.data.actions["wave"], bpy.data.objects["chain"]) == first != second
    assert edited_bones(bpy.data.actions["wave"], bpy.data.objects["chain"]) == []
    bpy.ops.ed.undo()
    assert not bpy.data.actions
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    assert values(bpy.data.actions["wave"], bpy.data.objects["chain"]) == second
