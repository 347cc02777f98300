"""The next step follows the pipeline, says why and how long, and is never a step that is done."""

from __future__ import annotations

import pytest

from anymocap_addon.core.stage_record import StageRecord
from anymocap_addon.jobs.duration_words import about
from anymocap_addon.jobs.expected_seconds import expected_seconds
from anymocap_addon.jobs.next_step import CREATURE_STEPS, Situation, next_step
from anymocap_addon.jobs.registry import REGISTRY
from anymocap_addon.jobs.stage_figure import stage_figure
from anymocap_addon.jobs.state import StageState

CLIP_STEPS = ("detect", "fit", "apply")


def states(**words: str) -> dict[str, StageState]:
    return {name: StageState(REGISTRY[name], None, word, "", None) for name, word in words.items()}


def ready(*names: str) -> dict[str, StageState]:
    return states(**dict.fromkeys(names, "ready"))


def test_steps_come_in_the_order_of_work():
    for number, name in enumerate(CREATURE_STEPS):
        step = next_step(Situation(ready(*CREATURE_STEPS[:number]), seconds={name: 12.0}))
        assert (step.action, step.stage, step.seconds) == ("stage", name, 12.0)
    for number, name in enumerate(CLIP_STEPS):
        done = ready(*CREATURE_STEPS, *CLIP_STEPS[:number])
        step = next_step(Situation(done, clip="walk", has_video=True))
        assert (step.action, step.stage) == ("stage", name) and "walk" in step.title
    whole = ready(*CREATURE_STEPS, *CLIP_STEPS)
    assert next_step(Situation(whole, clip="walk", has_video=True)).action == "done"
    assert next_step(Situation(whole, clip="walk", has_video=True, has_armature=False)).action == "bring_in"


def test_facing_is_asked_before_anything_is_built_upon_it():
    for done in ({}, ready("prep")):
        first = next_step(Situation(done, facing_asked=True, seconds={"checkup": 4.0}))
        assert (first.action, first.seconds) == ("check_creature", 4.0)
        assert next_step(Situation(done, facing_asked=True, checked=True)).action == "say_facing"
    assert next_step(Situation(states(checkup="running"), facing_asked=True)).action == "wait"
    assert next_step(Situation({}, has_mesh=False, facing_asked=True)).action == "add_mesh", "there is nothing to see"
    captured = ready(*CREATURE_STEPS, *CLIP_STEPS)
    assert next_step(Situation(captured, clip="walk", facing_asked=True)).action == "done", "the motion is there"


def test_a_reader_is_tested_before_a_clip_is_asked_for():
    trained = ready(*CREATURE_STEPS)
    assert next_step(Situation(trained)).action == "test_reader"
    assert next_step(Situation(trained, tested=True)).action == "add_clip"
    assert next_step(Situation(trained, clip="walk")).action == "add_clip", "a move whose film is not there yet"
    assert next_step(Situation(trained, clip="walk", has_video=True)).stage == "detect"
    read = {**trained, **ready("detect")}
    assert next_step(Situation(read, clip="walk")).stage == "fit", "the film is gone, but it was read"


def test_a_reader_that_is_too_far_off_is_trained_again_before_a_film_is_paid_for():
    trained, doubt = ready(*CREATURE_STEPS), "212 px off on unseen poses: too far off."
    for tested, clip in ((False, ""), (True, ""), (True, "walk")):
        step = next_step(Situation(trained, clip=clip, tested=tested, reader_doubt=doubt, seconds={"train": 9.0}))
        assert (step.action, step.why, step.seconds) == ("train_again", doubt, 9.0)
    there = next_step(Situation(trained, clip="walk", has_video=True, tested=True, reader_doubt=doubt))
    assert (there.action, there.stage, there.why) == ("stage", "detect", doubt), "a film that is there can be read"


def test_the_result_of_the_test_stands_before_the_film_is_asked_for():
    score = "3.6 px off, fit 0.9 % of the body: good"
    step = next_step(Situation(ready(*CREATURE_STEPS), tested=True, test_score=score))
    assert step.action == "add_clip" and step.why.startswith(f"The test: {score}. Film a move")


def test_a_doubtful_capture_is_told_before_and_after_it_is_applied():
    fitted, doubt = ready(*CREATURE_STEPS, "detect", "fit"), "51 frames, 188 px from the reading: far."
    step = next_step(Situation(fitted, clip="walk", has_video=True, capture_doubt=doubt))
    assert (step.stage, step.why) == ("apply", doubt)
    whole = {**fitted, **ready("apply")}
    assert next_step(Situation(whole, clip="walk", has_video=True, capture_doubt=doubt)).why == doubt
    assert next_step(Situation(whole, clip="walk", has_video=True)).why == "Play it.", "no bad frame is promised"


def test_a_motion_that_came_with_its_clip_needs_no_reader():
    """The example is read already."""
    example = Situation(ready("prep", "rig", "ref", "fit"), clip="example", has_armature=False)
    assert next_step(example).action == "bring_in"


def test_what_is_wrong_is_said_and_what_runs_is_waited_for():
    assert next_step(Situation({}, has_mesh=False)).action == "add_mesh"
    assert next_step(Situation(states(prep="running"))).action == "wait"
    failed = next_step(Situation({**ready("prep"), **states(rig="failed")}))
    assert failed.stage == "rig" and "failed" in failed.why
    stale = {**ready(*CREATURE_STEPS), "ref": StageState(REGISTRY["ref"], None, "stale", "rig is stale", None)}
    assert "rig is stale" in next_step(Situation(stale)).why
    record = StageRecord("prep", "cancelled")
    stopped = {"prep": StageState(REGISTRY["prep"], None, "stale", "it was stopped", record)}
    assert "goes on from there" in next_step(Situation(stopped)).why
    assert next_step(Situation({}, made_elsewhere=frozenset({"prep"}))).stage == "rig"


def test_estimates_scale_with_the_work_and_with_the_cores():
    assert expected_seconds("train", {"preset": "default", "steps": 0}) == pytest.approx(555.0)
    assert expected_seconds("train", {"preset": "default", "steps": 2260}) == pytest.approx(1110.0)
    assert expected_seconds("train", {"preset": "default"}, cores=4) == pytest.approx(277.5)
    assert 55 < expected_seconds("dataset", {"poses": 800}) < 75
    record = StageRecord("dataset", "done", settings={"poses": 800}, seconds=130.0)
    twice = expected_seconds("dataset", {"poses": 1600}, record)
    assert twice == pytest.approx(130.0 * (5 + 120) / (5 + 60))
    assert expected_seconds("fit", {}, StageRecord("fit", "done", seconds=9.0)) == 9.0
    assert expected_seconds("fit", {}, StageRecord("fit", "failed", seconds=0.1)) == 4.0
    assert expected_seconds("nobody", {}) is None


def test_every_stage_has_an_estimate():
    for stage in REGISTRY:
        assert expected_seconds(stage.name, stage.item_settings("any")), stage.name


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "a few seconds"),
        (42.0, "about 40 s"),
        (99.0, "about 100 s"),
        (555.0, "about 9 min"),
        (7200, "about 2.0 h"),
    ],
)
def test_durations_are_said_as_people_say_them(seconds, words):
    assert about(seconds) == words


def test_figures_are_told_with_their_units_and_never_raise():
    result = {"bones": 24, "joints": 24, "painted_faces": dict.fromkeys("abcde", 1)}
    assert stage_figure(StageRecord("rig", "done", result=result)) == "24 bones, 24 joints, 5 limbs painted"
    assert stage_figure(StageRecord("prep", "done", result={"size_m": [0.4, 1.5, 1.0]})) == "1.50 m long"
    asked = {"size_m": [0.4, 1.5, 2.0], "asked": {"length_m": 2.0, "axis": "z"}}
    assert stage_figure(StageRecord("prep", "done", result=asked)) == "2.00 m along Z, as asked", "nobody was asked"
    asked["facing_confirmed"] = True
    assert stage_figure(StageRecord("prep", "done", result=asked)) == "2.00 m along Z, as asked; faces -Y"
    assert stage_figure(StageRecord("train", "done", result={"median_px": 5.24})) == "5.2 px off on unseen poses"
    assert stage_figure(StageRecord("rig", "failed", result=result)) == ""
    assert stage_figure(StageRecord("rig", "done", result={"bones": 24})) == "", "of another version"
    assert stage_figure(None) == ""
