"""The survey of a creature: states, reasons that an artist understands, what cannot run yet, and what comes next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pretended import pretend_creature, pretend_run

from anymocap_addon.core.checkup.file import Checkup, save_checkup
from anymocap_addon.core.checkup.orientation import Orientation
from anymocap_addon.core.clip_source import add_clip
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.jobs.disk_use import clean, disk_use
from anymocap_addon.jobs.plain_reason import plain_reason
from anymocap_addon.jobs.registry import REGISTRY
from anymocap_addon.jobs.survey import Survey, survey

CREATURE_JSON = '{"name": "fox", "prep": {"length_m": 1.5}}'


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    paths = Project(tmp_path).creature("fox")
    paths.assets.mkdir(parents=True)
    return paths


def look(paths: CreaturePaths, clip: str = "", **changed: dict[str, Any]) -> Survey:
    item = clip or None
    steps = survey(REGISTRY, paths, clip, lambda stage: {**stage.item_settings(item), **changed.get(stage.name, {})})
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def test_a_new_creature_asks_for_its_mesh(paths):
    seen = look(paths)
    assert seen.next_step.action == "add_mesh"
    assert "no mesh yet" in seen.blocked["prep"]
    assert seen.blocked["rig"] == "Rig needs the prepped mesh: run Prep first"
    assert seen.blocked["train"] == "Reader needs the dataset: run Dataset first"
    assert "detect" not in seen.states, "no clip is chosen"


def test_an_object_of_the_scene_is_a_mesh(paths):
    seen = look(paths, prep={"object": "Cube"})
    assert "prep" not in seen.blocked and seen.next_step.action == "check_creature"


def confirm(paths: CreaturePaths, turned: float = 0.0, said: float | None = 0.0) -> None:
    known = {} if said is None else {"facing_confirmed": {"up": "z", "rotz_deg": said}}
    text = json.dumps({"name": "fox", "prep": {"rotz_deg": turned}, **known})
    paths.creature_json.write_text(text, encoding="utf-8")


def test_which_way_it_faces_is_asked_once_for_each_way_it_is_turned(paths):
    paths.model().write_bytes(b"mesh")
    assert look(paths).next_step.action == "check_creature"
    save_checkup(paths.checkup_json, Checkup("model.glb", (), Orientation(0.0, "z", "", False)))
    assert look(paths).next_step.action == "say_facing"
    confirm(paths)
    assert look(paths).next_step.stage == "prep"
    confirm(paths, turned=90.0)
    assert look(paths).next_step.action == "say_facing"
    confirm(paths, turned=90.0, said=90.0)
    assert look(paths).next_step.stage == "prep"


def test_a_creature_rigged_before_anybody_was_asked_goes_on(paths):
    pretend_creature(paths, upto="rig")
    confirm(paths, said=None)
    assert look(paths).next_step.action == "stage"
    paths.rig_info.unlink()
    assert look(paths).next_step.action == "check_creature"


def test_a_trained_creature_is_tested_then_captured(paths, tmp_path):
    pretend_creature(paths)
    assert {look(paths).states[name].word for name in ("prep", "rig", "ref", "dataset", "train")} == {"ready"}
    seen = look(paths)
    assert seen.next_step.action == "test_reader" and seen.next_step.seconds > 10
    (tmp_path / "walk.mp4").write_bytes(b"clip")
    add_clip(paths, "walk", tmp_path / "walk.mp4")
    seen = look(paths, "walk")
    assert seen.next_step.stage == "detect" and "detect" not in seen.blocked
    assert seen.blocked["fit"] == "Fit needs the reading: run Read first"
    for name in ("detect", "fit", "apply", "report"):
        pretend_run(paths, name, "walk")
    seen = look(paths, "walk")
    assert seen.next_step.action == "done"
    clip = seen.summary("walk")
    assert clip.figures[:2] == ("3.6 px off", "fit 0.9 % of the body") and clip.has_motion and not clip.is_test
    assert clip.warnings == ("The clip does not start in the pose.",) and clip.report is not None


def test_changed_settings_and_files_make_stale_for_a_reason_that_is_understood(paths):
    pretend_creature(paths)
    seen = look(paths, dataset={"poses": 400})
    assert (seen.states["dataset"].word, seen.states["train"].word) == ("stale", "stale")
    assert seen.states["dataset"].because == "poses was 800, is now 400"
    assert seen.states["train"].because == "Dataset is out of date"
    assert seen.next_step.stage == "dataset" and "poses was 800" in seen.next_step.why
    paths.model().write_bytes(b"another mesh")
    assert look(paths).states["prep"].because == "the mesh file has changed"


@pytest.mark.parametrize(
    ("because", "words"),
    [
        ("runs/fox/reader.pt changed", "the reader has changed"),
        ("runs\\fox\\reader.pt changed", "the reader has changed"),
        ("/else where/läuft.mp4 changed", "läuft.mp4 has changed"),
        ("det.npz is missing", "the reading is missing"),
        ("creature.json layout is now {'width': 1280}, was {'width': 1279}", "layout has changed"),
        ("plants is now False, was True", "plants was on, is now off"),
        ("axis is now 'x', was ''", "axis was automatic, is now x"),
        ("armature is now 'a long name of an armature', was ''", "it is not on a long name of an armature yet"),
        ("armature is now '', was 'Rig'", "it is on an armature"),
        ("train works differently now", "train works differently now"),
    ],
)
def test_reasons_are_told_without_paths(because, words):
    assert plain_reason(because, REGISTRY) == words


def test_a_damaged_creature_json_is_one_sentence(paths):
    pretend_creature(paths)
    paths.creature_json.write_text('{"name": 5}', encoding="utf-8")
    seen = look(paths)
    assert seen.error.startswith("creature.json (name): ") and "\n" not in seen.error
    paths.creature_json.write_text(CREATURE_JSON, encoding="utf-8")
    assert look(paths).error == ""


def test_a_damaged_record_is_the_fault_of_its_stage_alone(paths):
    pretend_creature(paths)
    paths.stage_record("ref").write_text("{", encoding="utf-8")
    seen = look(paths)
    assert seen.error == "" and seen.states["ref"].word == "failed" and seen.states["prep"].word == "ready"


def test_what_was_made_elsewhere_is_not_made_again(paths):
    pretend_creature(paths)
    paths.stage_record("train").unlink()
    seen = look(paths)
    assert seen.made_elsewhere >= {"train"} and seen.next_step.action == "test_reader"


def test_cleaned_pictures_are_asked_for_when_the_reader_is_trained_again(paths):
    pretend_creature(paths)
    clean(paths, [item for item in disk_use(paths) if item.name == "dataset"])
    assert look(paths).next_step.action == "test_reader"
    again = look(paths, train={"preset": "long"})
    assert again.next_step.stage == "dataset" and "cleaned away" in again.next_step.why
    assert "run Dataset again first" in again.blocked["train"]


def test_it_goes_in_parts_so_that_a_window_never_waits_for_all(paths):
    pretend_creature(paths)
    steps = survey(REGISTRY, paths, "", lambda stage: stage.item_settings(None))
    assert len(list(steps)) >= len([stage for stage in REGISTRY if stage.per == "creature"])
