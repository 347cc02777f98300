"""What the Scene holds of the stages: what a run would use, and what is loaded when the choice changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest
from pretended import pretend_creature, pretend_run

import anymocap_addon
from anymocap_addon.core.clip_source import add_clip
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.stage_record import load_record
from anymocap_addon.jobs.registry import REGISTRY


def module(name: str) -> Any:
    return sys.modules[f"anymocap_addon.ops.{name}"]


@pytest.fixture
def paths(tmp_path: Path) -> Iterator[CreaturePaths]:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    anymocap_addon.register()
    paths = Project(tmp_path).creature("fox")
    pretend_creature(paths)
    yield paths
    anymocap_addon.unregister()


def choose(creature: str = "fox", root: Path | None = None) -> Any:
    settings = bpy.context.scene.anymocap
    if root is not None:
        settings.project = str(root)
    settings.creature = creature
    return settings


def wanted(stage: str, item: str | None = None) -> dict[str, Any]:
    values: dict[str, Any] = module("scene_settings").wanted_settings(bpy.context, REGISTRY[stage], item)
    return values


def test_every_setting_of_every_stage_is_in_the_scene_once(paths):
    settings = choose(root=paths.root)
    for stage in REGISTRY:
        group = getattr(settings.stages, stage.name)
        shown = set(group.bl_rna.properties.keys()) - {"rna_type", "name", "shown_run"}
        scene = {"clip", "move", "armature", "start_frame"}
        once = {setting.name for setting in stage.settings if setting.once}  # a yes to a cost is not kept
        assert shown == {setting.name for setting in stage.settings} - scene - once
        assert set(wanted(stage.name, None if stage.per == "creature" else "walk")) == {
            setting.name for setting in stage.settings
        }


def test_without_a_run_the_defaults_are_wanted_and_the_scene_goes_over_them(paths):
    settings = choose(root=paths.root)
    other = Project(paths.root).creature("wolf")
    pretend_creature(other, "rig")
    choose("wolf")
    assert wanted("dataset")["poses"] == 800 and not settings.stages.dataset.is_property_set("poses")
    settings.stages.dataset.poses = 1600
    assert wanted("dataset")["poses"] == 1600
    assert wanted("prep")["rotz_deg"] is None
    settings.stages.prep.rotz_deg = 90.0
    settings.stages.prep.axis = "y"
    assert (wanted("prep")["rotz_deg"], wanted("prep")["axis"]) == (90.0, "y")
    settings.stages.prep.axis = "AUTO"
    assert wanted("prep")["axis"] == ""


def test_the_settings_of_the_last_run_are_shown_when_a_creature_is_chosen(paths):
    pretend_run(paths, "dataset", settings={"poses": 400, "seed": 7})
    pretend_run(paths, "prep", settings={"mesh": "assets/fox/model.glb", "rotz_deg": 12.5})
    settings = choose(root=paths.root)
    assert (settings.stages.dataset.poses, settings.stages.dataset.seed) == (400, 7)
    assert Path(settings.stages.prep.mesh) == paths.root / "assets/fox/model.glb"
    assert settings.stages.prep.rotz_deg == 12.5
    pretend_creature(Project(paths.root).creature("wolf"), "prep")
    choose("wolf")
    assert settings.stages.dataset.poses == 800 and not settings.stages.dataset.is_property_set("poses")
    assert settings.stages.prep.mesh == "" and not settings.stages.prep.is_property_set("rotz_deg")


def test_settings_of_a_clip_are_its_own(paths):
    pretend_run(paths, "fit", "walk", settings={"solver": "adam"})
    pretend_run(paths, "fit", "run")
    settings = choose(root=paths.root)
    settings.clip = "walk"
    assert settings.stages.fit.solver == "adam"
    settings.clip = "run"
    assert settings.stages.fit.solver == "lm"
    settings.stages.fit.plants = False
    assert wanted("fit")["plants"] is False and wanted("fit")["clip"] == "run"
    assert wanted("fit", "walk")["plants"] is True, "what is set is about the active clip only"
    assert wanted("fit", "walk")["solver"] == "adam"


def test_a_creature_comes_with_one_of_its_own_clips(paths):
    pretend_run(paths, "fit", "walk")
    settings = choose(root=paths.root)
    assert settings.clip == "walk"
    Project(paths.root).creature("wolf").assets.mkdir(parents=True)
    choose("wolf")
    assert settings.clip == ""


def test_threads_and_device_are_the_machines_and_not_the_last_runs(paths):
    pretend_run(paths, "train", settings={"threads": 64, "device": "cuda", "preset": "long"})
    settings = choose(root=paths.root)
    assert settings.stages.train.preset == "long" and not settings.stages.train.is_property_set("threads")
    assert (wanted("train")["threads"], wanted("train")["device"]) == (0, "auto")
    assert wanted("fit", "walk")["device"] == "cpu", "the preferences' auto is no choice of this stage"
    settings.stages.train.threads = 3
    assert wanted("train")["threads"] == 3


def test_the_first_preview_has_the_size_of_the_preferences(paths, monkeypatch):
    scene_settings = module("scene_settings")
    large = module("preference_values").PreferenceValues(preview_rows=720)
    monkeypatch.setattr(scene_settings, "preference_values", lambda context: large)
    settings = choose(root=paths.root)
    assert wanted("preview", "walk")["rows"] == 720
    settings.stages.preview.rows = 480
    assert wanted("preview", settings.clip)["rows"] == 480
    settings.stages.preview.property_unset("rows")
    pretend_run(paths, "preview", "walk", settings={"clip": "walk", "rows": 240})
    assert wanted("preview", "walk")["rows"] == 240, "what is there became stale by a change of the preferences"


def test_armature_and_start_frame_are_the_scenes(paths):
    settings = choose(root=paths.root)
    assert (wanted("apply", "walk")["armature"], wanted("apply", "walk")["start_frame"]) == ("", 1)
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    settings.armature, settings.start_frame = armature, 101
    assert (wanted("apply", "walk")["armature"], wanted("apply", "walk")["start_frame"]) == ("Rig", 101)
    assert len(armature["anymocap_id"]) == 32


def test_what_was_chosen_survives_a_file_unless_the_stage_ran_since(paths, tmp_path):
    pretend_run(paths, "dataset", settings={"poses": 400}, started="2025-01-01T10:00:00")
    settings = choose(root=paths.root)
    settings.stages.dataset.poses = 1600
    file = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=file)
    bpy.ops.wm.open_mainfile(filepath=file)
    assert bpy.context.scene.anymocap.stages.dataset.poses == 1600
    pretend_run(paths, "dataset", settings={"poses": 200}, started="2025-01-02T10:00:00")
    bpy.ops.wm.open_mainfile(filepath=file)
    assert bpy.context.scene.anymocap.stages.dataset.poses == 200


def test_a_record_of_a_former_version_or_a_damaged_one_stops_nothing(paths):
    pretend_run(paths, "rig", settings={"mode": "by magic", "gone": 1, "weights": "rigid"})
    paths.stage_record("train").write_text("{")
    settings = choose(root=paths.root)
    assert settings.stages.rig.mode == "auto" and settings.stages.rig.weights == "rigid"
    assert settings.stages.train.preset == "default"


def test_a_change_of_a_setting_is_told_to_the_panel(paths):
    settings = choose(root=paths.root)
    host = module("running").HOST
    before = host.changed
    settings.stages.dataset.poses = 1000
    assert host.changed > before
    bpy.ops.ed.undo_push(message="1000")
    bpy.context.scene.anymocap.stages.dataset.poses = 2000
    bpy.ops.ed.undo_push(message="2000")
    before = host.changed
    bpy.ops.ed.undo()
    assert bpy.context.scene.anymocap.stages.dataset.poses == 1000 and host.changed > before


def test_an_operator_runs_with_what_the_panel_shows(paths):
    """Prep of a file that is no mesh fails in the background; its record says with which settings it was tried."""
    settings = choose(root=paths.root)
    settings.stages.prep.length_m = 2.5
    with pytest.raises(RuntimeError):
        bpy.ops.anymocap.prep(rotz_deg=30.0)
    record = load_record(paths, "prep")
    assert (record.outcome, record.settings["length_m"], record.settings["rotz_deg"]) == ("failed", 2.5, 30.0)


def test_the_plans_say_what_is_missing(paths):
    assert not bpy.ops.anymocap.run_stale.poll()
    settings = choose(root=paths.root)
    assert bpy.ops.anymocap.run_stale.poll() and not bpy.ops.anymocap.capture.poll()
    with pytest.raises(RuntimeError, match="Choose a clip first"):
        bpy.ops.anymocap.capture()
    with pytest.raises(RuntimeError, match="Nothing of this creature is at work"):
        bpy.ops.anymocap.cancel()
    settings.clip = "walk"
    assert bpy.ops.anymocap.capture.poll()
    with pytest.raises(RuntimeError, match="no video for the clip 'walk'"):
        bpy.ops.anymocap.run_stale()
    paths.reader_pt.unlink()
    with pytest.raises(RuntimeError, match="Train the reader first"):
        bpy.ops.anymocap.test_reader()


def press(operator: str) -> set[str]:
    """What a button does; without a window Blender runs execute, whatever is asked for."""
    module_ = module("plan_operators")
    cls = getattr(module_, f"ANYMOCAP_OT_{operator}")
    own = {name: vars(cls)[name] for name in ("bl_label", "why_not", "planned")}
    button = type("Button", (module_._PlanOperator,), {**own, "report": lambda self, *said: None})()
    pressed: set[str] = button.invoke(bpy.context, None)
    return pressed


def test_a_window_queues_what_a_button_starts_and_cancel_takes_it_back(paths):
    settings = choose(root=paths.root)
    settings.clip = "walk"
    host = module("running").HOST
    for name in ("detect", "fit", "preview"):
        pretend_run(paths, name, "walk")
    assert press("test_reader") == press("capture") == {"FINISHED"}
    assert [stage.stage.name for stage in host.at_work(paths)] == [
        *("exam", "detect", "fit", "report", "preview"),
        *("detect", "fit", "preview"),
    ]
    with pytest.raises(RuntimeError, match="Read is at work"):
        bpy.ops.anymocap.capture()
    with pytest.raises(RuntimeError, match="at work already"):
        bpy.ops.anymocap.run_stale()
    assert bpy.ops.anymocap.cancel(stage="fit", item="walk") == {"FINISHED"}
    assert [(stage.stage.name, stage.item) for stage in host.at_work(paths)][3:] == [
        ("report", "test"),
        ("preview", "test"),
        ("detect", "walk"),
    ]
    assert bpy.ops.anymocap.cancel() == {"FINISHED"}
    assert host.at_work(paths) == []


def test_an_added_clip_is_taken_in_and_checked_before_it_is_read(paths):
    film = paths.root / "walk film.mp4"
    film.write_bytes(b"a film")
    add_clip(paths, "filmed", film)
    choose(root=paths.root).clip = "filmed"
    planned = module("plan_operators").ANYMOCAP_OT_capture.planned(None, bpy.context)
    assert [(one.stage_name, one.item) for one in planned] == [
        (name, "filmed") for name in ("take", "gate", "detect", "fit", "preview")
    ]


def test_a_plan_of_a_window_leaves_the_open_scene_alone(paths):
    """The motion follows as an undo step of its own; in a Blender without a window the plan applies it itself."""
    settings = choose(root=paths.root)
    pretend_run(paths, "detect", "walk")
    settings.clip = "walk"
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    settings.armature = armature
    assert press("run_stale") == {"FINISHED"}
    names = [stage.stage.name for stage in module("running").HOST.at_work(paths)]
    assert "apply" not in names and names[-1] == "report"
    assert module("running").HOST.at_work(paths)[0].plan.applies, "it was never applied"
    operator = module("plan_operators").ANYMOCAP_OT_run_stale
    planned = operator.planned(None, bpy.context)
    assert [one.stage_name for one in planned if one.here] == ["apply"]
    settings.armature = None
    assert not [one for one in operator.planned(None, bpy.context) if one.here]


def test_an_object_of_the_scene_is_taken_anew_only_when_prep_itself_is_asked_for(paths):
    """A new snapshot of the object would make dataset and reader stale, for nothing."""
    settings = choose(root=paths.root)
    mesh = bpy.data.meshes.new("block")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [], [(0, 2, 1), (0, 1, 3)])
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("block", mesh))
    snapshot = paths.static_blend.with_name("source.blend")
    request = module("stage_request")
    settings.stages.prep.object = "block"
    assert request.asked_settings(bpy.context, REGISTRY["prep"])["mesh"] == str(snapshot)
    pretend_run(paths, "prep", settings={"object": "block", "mesh": "assets/fox/prep/source.blend"})
    settings.stages.prep.mesh = str(snapshot)
    before = snapshot.stat().st_mtime_ns
    module("plan_operators").ANYMOCAP_OT_run_stale.planned(None, bpy.context)
    assert snapshot.stat().st_mtime_ns == before
    request.asked_settings(bpy.context, REGISTRY["prep"])
    assert snapshot.stat().st_mtime_ns > before
    bpy.data.objects.remove(bpy.data.objects["block"])
    assert request.asked_settings(bpy.context, REGISTRY["prep"])["mesh"] == str(snapshot), "another file is open"
