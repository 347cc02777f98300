"""A fitted motion reaches the artist's armature by itself: as one undo step, and only when hands are off."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest

import anymocap_addon
from anymocap_addon.core.motion import save_motion
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.rig import save_rig_info
from anymocap_addon.core.stage_record import load_record
from anymocap_addon.jobs.registry import REGISTRY

from .capture_rig import chain_armature, rig_of
from .test_apply import motion_of


def ops(name: str) -> Any:
    return sys.modules[f"anymocap_addon.ops.{name}"]


@pytest.fixture
def host() -> Iterator[Any]:
    bpy.ops.wm.read_factory_settings()
    bpy.context.preferences.edit.use_global_undo = True
    anymocap_addon.register()
    yield ops("running").HOST
    anymocap_addon.unregister()


@pytest.fixture
def paths(host, tmp_path: Path) -> CreaturePaths:
    """An open scene with the creature's armature and a fitted clip."""
    paths = Project(tmp_path).creature("chain")
    armature = chain_armature(4)
    rig = rig_of(armature, "b0")
    save_rig_info(paths.rig_info, rig)
    save_motion(paths.clip("wave").motion, motion_of(rig, 12))
    bpy.ops.wm.save_as_mainfile(filepath=str(paths.rigged_blend), copy=True)
    settings = bpy.context.scene.anymocap
    settings.project, settings.creature, settings.clip = str(tmp_path), "chain", "wave"
    settings.armature = armature
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ed.undo_push(message="before")
    return paths


def fitted(paths: CreaturePaths, clip: str = "wave", skipped: bool = False, plan: Any = None) -> None:
    """What the host tells when the fit of a clip has ended."""
    stage = ops("running_stage").RunningStage(paths, REGISTRY["fit"], clip, plan=plan)
    stage.run = SimpleNamespace(result=SimpleNamespace(skipped=skipped))
    stage.end()
    ops("apply_ready").note_fitted(stage)


def tick(patience: int = 1) -> None:
    for _ in range(patience):
        ops("apply_ready")._last_look = 0.0
        ops("apply_ready").apply_ready()


def action() -> Any:
    armature = bpy.context.scene.anymocap.armature
    return armature.animation_data and armature.animation_data.action


def test_a_fitted_motion_is_applied_as_one_undo_step(host, paths):
    fitted(paths)
    tick()
    assert action().name == "chain_wave" and host.ready == []
    armature = bpy.context.scene.anymocap.armature
    armature.location.x = 3.0
    bpy.ops.ed.undo_push(message="the artist moves it")
    bpy.ops.ed.undo()
    assert action().name == "chain_wave" and bpy.context.scene.anymocap.armature.location.x == 0.0
    bpy.ops.ed.undo()
    assert action() is None and not bpy.data.actions, "one Ctrl-Z takes away exactly the Action"
    assert bpy.context.scene.anymocap.clip == "wave"
    tick(3)
    assert action() is None, "what was undone is not applied again"
    bpy.ops.ed.redo()
    assert action().name == "chain_wave"


def test_after_an_undo_it_is_told_that_the_motion_is_gone(host, paths):
    """The record still says done; the file does not hold the motion any more."""
    why_not_here = ops("applied_here").why_not_here
    assert "not in this file" in why_not_here(bpy.context.scene)
    fitted(paths)
    tick()
    assert why_not_here(bpy.context.scene) == ""
    bpy.context.scene.anymocap.armature.animation_data.action = bpy.data.actions.new("own")
    assert "plays another" in why_not_here(bpy.context.scene)
    bpy.ops.ed.undo()
    assert load_record(paths, "apply", "wave").outcome == "done"
    assert "it was undone" in why_not_here(bpy.context.scene)
    bpy.ops.anymocap.apply()
    assert why_not_here(bpy.context.scene) == ""
    bpy.context.scene.anymocap.stages.apply.mode = "strip"
    bpy.ops.anymocap.apply()
    assert why_not_here(bpy.context.scene) == ""


def test_the_record_of_an_apply_in_a_scene_names_armature_and_action(host, paths):
    fitted(paths)
    tick()
    record = load_record(paths, "apply", "wave")
    assert record.outcome == "done" and record.settings["armature"] == "chain"
    assert record.result["action"] == "chain_wave"


@pytest.mark.parametrize("mode", ["EDIT", "busy"])
def test_nothing_is_applied_while_the_artist_is_at_work(host, paths, mode, monkeypatch):
    if mode == "EDIT":
        bpy.ops.object.mode_set(mode="EDIT")
    else:
        monkeypatch.setattr(ops("apply_ready"), "why_waiting", lambda window: "another tool is at work")
    fitted(paths)
    tick(3)
    assert action() is None and len(host.ready) == 1 and host.ready[0].problem == ""
    assert ops("apply_ready").ready_for(bpy.context.scene) is host.ready[0]
    monkeypatch.undo()
    if mode == "EDIT":
        assert "leave the mode" in ops("apply_ready").why_waiting(bpy.context.window_manager.windows[0])
        bpy.ops.object.mode_set(mode="POSE")
    tick()
    assert action().name == "chain_wave"


def test_only_what_was_asked_for_is_applied(host, paths):
    settings = bpy.context.scene.anymocap
    fitted(paths, skipped=True)
    fitted(paths, clip="other")
    fitted(Project(paths.root).creature("other"))
    settings.apply_when_fitted = False
    fitted(paths)
    assert host.ready == []
    settings.apply_when_fitted = True
    fitted(paths, skipped=True, plan=SimpleNamespace(applies=False))
    assert host.ready == []
    fitted(paths, skipped=True, plan=SimpleNamespace(applies=True))
    settings.apply_when_fitted = False  # changed in the meantime
    tick(2)
    assert action() is None and len(host.ready) == 1
    bpy.ops.anymocap.apply()
    assert action().name == "chain_wave" and host.ready == [], "applied by hand: nothing waits any more"


def test_the_armature_is_found_after_a_rename_an_undo_and_a_file_load(host, paths, tmp_path):
    armature = bpy.context.scene.anymocap.armature
    armature.name = "Fluffy"
    bpy.ops.ed.undo_push(message="rename")
    bpy.ops.ed.undo()
    bpy.ops.ed.redo()
    fitted(paths)
    file = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.read_homefile()
    tick(2)
    assert len(host.ready) == 1, "another file is open: nothing is lost"
    bpy.ops.wm.open_mainfile(filepath=file)
    tick()
    assert bpy.data.objects["Fluffy"].animation_data.action.name == "chain_wave" and host.ready == []


def test_a_deleted_armature_is_told_and_nothing_is_lost(host, paths):
    fitted(paths)
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.scene.anymocap.armature.select_set(True)
    bpy.ops.object.delete()
    tick(2)
    assert len(host.ready) == 1 and "not in this file any more" in host.ready[0].problem
    bpy.context.scene.anymocap.armature = chain_armature(4)
    fitted(paths)
    tick()
    assert action().name == "chain_wave"


def test_a_linked_armature_is_told(host, paths, tmp_path):
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library, copy=True)
    bpy.ops.object.delete()
    with bpy.data.libraries.load(library, link=True) as (_, into):
        into.objects = ["chain"]
    linked = next(found for found in bpy.data.objects if not found.is_editable)
    bpy.context.scene.collection.objects.link(linked)
    bpy.context.scene.anymocap.armature = linked
    fitted(paths)
    tick(2)
    assert "linked from another file" in host.ready[0].problem


def test_a_copy_of_an_armature_has_an_id_of_its_own(host, paths):
    first = bpy.context.scene.anymocap.armature
    copy = first.copy()
    bpy.context.scene.collection.objects.link(copy)
    assert copy["anymocap_id"] == first["anymocap_id"]
    bpy.context.scene.anymocap.armature = copy
    assert copy["anymocap_id"] != first["anymocap_id"]
    fitted(paths)
    tick()
    assert copy.animation_data.action is not None and first.animation_data is None


def test_what_fails_is_told_once_and_the_armature_is_as_it_was(host, paths):
    bone = bpy.context.scene.anymocap.armature.pose.bones["b1"]
    bone.constraints.new("LIMIT_ROTATION").use_limit_x = True
    fitted(paths)
    tick(3)
    assert "does not follow its keys" in host.ready[0].problem and action() is None
    bone.constraints.remove(bone.constraints[0])
    tick()
    assert action() is None, "the artist decides after a failure"
    fitted(paths)
    tick()
    assert action().name == "chain_wave"


def test_two_scenes_get_the_motion_on_their_own_armatures(host, paths):
    first = bpy.context.scene
    second = bpy.data.scenes.new("second")
    other = first.anymocap.armature.copy()
    second.collection.objects.link(other)
    settings = second.anymocap
    settings.project, settings.creature, settings.clip = str(paths.root), "chain", "wave"
    settings.armature = other
    fitted(paths)
    assert len(host.ready) == 2
    tick(2)
    assert first.anymocap.armature.animation_data.action and other.animation_data is None
    bpy.context.window_manager.windows[0].scene = second
    tick()
    assert other.animation_data.action is not None and host.ready == []
    assert bpy.context.window_manager.windows[0].scene == second == bpy.context.scene
