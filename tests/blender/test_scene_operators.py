"""Bring in, apply, jump, and the scene's time: what the artist's buttons do to the open file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np
import pytest

import anymocap_addon
from anymocap_addon.blender.action_slots import action_fcurves
from anymocap_addon.blender.own_actions import bone_of
from anymocap_addon.core.clip_clock import ClipClock
from anymocap_addon.core.detections import Detections, save_detections
from anymocap_addon.core.motion import save_motion
from anymocap_addon.core.project import Project
from anymocap_addon.core.rig import RigInfo
from anymocap_addon.ops.apply_operators import edited_action
from anymocap_addon.ops.current_capture import CAPTURES
from anymocap_addon.ops.jump import stop_frames
from anymocap_addon.ops.scene_time import rate_offer

from .capture_rig import select_bones
from .small_creature import framed, write_small_creature
from .test_apply import motion_of

T = 40


@pytest.fixture
def scene(tmp_path: Path, small_rig: RigInfo) -> Iterator[bpy.types.Scene]:
    """A scene that names a creature with a clip, read and fitted; frames 12 to 14 and 30 are misread."""
    write_small_creature(tmp_path, small_rig, framed(small_rig))
    clip = Project(tmp_path).creature("small").clip("wave")
    motion = motion_of(small_rig, T)
    layout = framed(small_rig).layout
    assert layout is not None
    front, side = layout.project(motion.joints)
    sure = np.full(front.shape[:2], 0.9)
    random = np.random.default_rng(0)
    motion.reproj_front[:] = motion.reproj_side[:] = random.uniform(1.0, 4.0, sure.shape)
    motion.reproj_side[[12, 13, 14, 30], 3:] += 60.0
    det = Detections(small_rig.keypoints, front, side, sure, sure, 24.0, np.arange(T) / 24, np.eye(2, 3))
    save_motion(clip.motion, motion)
    save_detections(clip.det, det)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    anymocap_addon.register()
    scene = bpy.context.scene
    scene.anymocap.project, scene.anymocap.creature, scene.anymocap.clip = str(tmp_path), "small", "wave"
    yield scene
    CAPTURES.clear()
    anymocap_addon.unregister()


def counts() -> dict[str, int]:
    names = ("objects", "meshes", "armatures", "actions", "collections", "scenes", "materials")
    return {name: len(getattr(bpy.data, name)) for name in names}


def test_the_creature_is_brought_in_once_whatever_it_is_called(scene):
    mine = bpy.data.objects.new("mine", None)
    scene.collection.objects.link(mine)
    mine.select_set(True)
    assert bpy.ops.anymocap.bring_in() == {"FINISHED"}
    armature = scene.anymocap.armature
    assert [o.name for o in bpy.context.selected_objects] == [armature.name]
    assert bpy.context.view_layer.objects.active == armature
    collection = bpy.data.collections["small"]
    assert {o.type for o in collection.objects} == {"ARMATURE", "MESH"}
    before = counts()
    armature.name, collection.name = "Renard", "animals"
    scene.anymocap.armature = None
    assert bpy.ops.anymocap.bring_in() == {"FINISHED"}
    assert scene.anymocap.armature == armature and counts() == before
    for obj in list(collection.objects):
        bpy.data.objects.remove(obj)
    bpy.ops.anymocap.bring_in()
    assert len(bpy.data.collections) == before["collections"] and len(collection.objects) == 2


def test_bone_shapes_stay_out_of_the_scene(scene, tmp_path):
    path = Project(tmp_path).creature("small").rigged_blend
    bpy.ops.wm.open_mainfile(filepath=str(path))
    shape = bpy.data.objects.new("Icosphere", bpy.data.meshes.new("Icosphere"))
    bpy.context.scene.collection.objects.link(shape)
    armature = next(o for o in bpy.data.objects if o.type == "ARMATURE")
    armature.pose.bones[0].custom_shape = shape
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.anymocap.project, scene.anymocap.creature = str(tmp_path), "small"
    bpy.ops.anymocap.bring_in()
    assert "Icosphere" not in scene.objects
    assert scene.anymocap.armature.pose.bones[0].custom_shape.name == "Icosphere"


def test_the_creatures_own_file_is_no_place_for_it(scene, tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(Project(tmp_path).creature("small").rigged_blend))
    settings = bpy.context.scene.anymocap
    settings.project, settings.creature = str(tmp_path), "small"
    before = counts()
    with pytest.raises(RuntimeError, match="file of your shot"):
        bpy.ops.anymocap.bring_in()
    assert counts() == before


def test_a_creature_that_is_not_rigged_leaves_nothing(scene, tmp_path):
    Project(tmp_path).creature("small").rigged_blend.unlink()
    before = counts()
    with pytest.raises(RuntimeError, match="Run the rig stage first"):
        bpy.ops.anymocap.bring_in()
    assert counts() == before


def test_apply_keeps_an_edited_action_unless_it_is_told_otherwise(scene):
    bpy.ops.anymocap.bring_in()
    armature = scene.anymocap.armature
    assert bpy.ops.anymocap.apply_here() == {"FINISHED"}
    first = armature.animation_data.action
    assert edited_action(bpy.context) == (first.name, [])
    curve = next(c for c in action_fcurves(first, armature) if "head" in c.data_path)
    curve.keyframe_points[3].co.y += 0.5
    edited = curve.keyframe_points[3].co.y
    assert edited_action(bpy.context) == (first.name, ["head"])
    bpy.ops.anymocap.apply_here()
    assert armature.animation_data.action != first and curve.keyframe_points[3].co.y == edited
    armature.animation_data.action = first
    bpy.ops.anymocap.apply_here(edited="OVERWRITE")
    assert armature.animation_data.action == first and edited_action(bpy.context)[1] == []
    scene.anymocap.armature = None
    assert not bpy.ops.anymocap.apply_here.poll()


def test_the_panels_settings_reach_the_keys_some_bones_and_strips(scene):
    bpy.ops.anymocap.bring_in()
    armature = scene.anymocap.armature
    scene.anymocap.stages.apply.bones = "selected"
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    with pytest.raises(RuntimeError, match="No captured bone"):
        bpy.ops.anymocap.apply_here()
    select_bones(armature, "tail")
    assert bpy.ops.anymocap.apply_here() == {"FINISHED"} and bpy.context.mode == "POSE"
    curves = action_fcurves(armature.animation_data.action, armature)
    assert {bone_of(curve.data_path) for curve in curves} == {"tail"}
    scene.anymocap.stages.apply.bones = "all"
    scene.anymocap.stages.apply.mode = "strip"
    scene.anymocap.start_frame = 51
    assert bpy.ops.anymocap.apply_here() == {"FINISHED"}
    (track,) = armature.animation_data.nla_tracks
    assert armature.animation_data.action is None and track.strips[0].frame_start == 51.0
    assert track.strips[0].action == bpy.data.actions["chain_wave"] and len(bpy.data.actions) == 1


def test_apply_is_one_undo_step_without_an_orphan(scene):
    bpy.context.preferences.edit.use_global_undo = True
    bpy.ops.anymocap.bring_in()
    scene.anymocap.armature.select_set(False)
    scene.frame_set(7)
    bpy.ops.ed.undo_push(message="before")
    before = counts()
    bpy.ops.anymocap.apply_here("EXEC_DEFAULT", True)
    assert counts() == {**before, "actions": 1}
    assert bpy.context.scene.frame_current == 7 and not bpy.context.selected_objects
    name = bpy.context.scene.anymocap.armature.name
    bpy.ops.ed.undo()
    assert counts() == before, "one step back: the Action is gone, and nothing else"
    data = bpy.data.objects[name].animation_data
    assert data is None or data.action is None
    bpy.ops.ed.redo()
    assert counts() == {**before, "actions": 1}
    assert bpy.data.objects[name].animation_data.action == bpy.data.actions[0]


def test_jumps_stop_at_each_run_of_bad_frames_once(scene):
    stops = []
    scene.frame_set(1)
    while bpy.ops.anymocap.jump(direction="NEXT") == {"FINISHED"}:
        stops.append(scene.frame_current)
    assert stops == [13, 31]
    assert bpy.ops.anymocap.jump(direction="PREVIOUS") == {"FINISHED"} and scene.frame_current == 13
    assert bpy.ops.anymocap.jump(direction="PREVIOUS") == {"CANCELLED"}
    scene.render.fps = 30
    for start in (12, 30):
        bpy.ops.anymocap.jump(direction="NEXT")
        assert scene.frame_current == round(1 + start * 30 / 24)


@pytest.mark.parametrize("rate", [12.0, 24.0, 25.0, 30.0, 60.0])
def test_a_stop_shows_the_first_bad_frame(rate):
    clock = ClipClock(1.0, rate, 24.0, 100)
    for start in range(100):
        (stop,) = stop_frames([range(start, start + 1)], clock)
        shown = clock.clip_frame(stop)
        assert shown is not None and abs(shown - start) <= (0 if rate >= 24 else 1)


def test_range_and_rate_follow_the_clip_when_asked(scene):
    scene.render.fps = 30
    scene.anymocap.start_frame = 11
    assert bpy.ops.anymocap.scene_range() == {"FINISHED"}
    assert (scene.frame_start, scene.frame_end) == (11, 60)  # 39 frames of 1/24 s are 48.75 of 1/30 s
    assert rate_offer(bpy.context) == "Clip 24 fps, scene 30 fps: keys fall between frames"
    assert scene.render.fps == 30, "told, not done"
    assert bpy.ops.anymocap.scene_rate() == {"FINISHED"}
    assert (scene.render.fps, scene.render.fps_base) == (24, 1.0) and rate_offer(bpy.context) == ""
    bpy.ops.anymocap.scene_range()
    assert (scene.frame_start, scene.frame_end) == (11, 50)
