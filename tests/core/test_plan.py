"""Plans: order, stop at a failure, cancel, and what is stale."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_stages import COPY, COUNT, TINY

from anymocap_addon.core.errors import AnyMoCapError, BadInputError, CancelledError
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.stage_record import StageRecord, load_record, save_record
from anymocap_addon.jobs.plan import Planned, PlanRun, stale_plan
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.reader_test import reader_test_plan
from anymocap_addon.jobs.registry import REGISTRY
from anymocap_addon.jobs.stage import Registry


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    paths = Project(tmp_path).creature("c")
    paths.assets.mkdir(parents=True)
    (paths.assets / "source.txt").write_text("ambling", encoding="utf-8")
    (paths.assets / "model.glb").touch()
    return paths


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.close()


def step_all(plan: PlanRun) -> None:
    for event in plan:
        if event is None:
            time.sleep(0.01)


def test_stages_follow_each_other_and_settings_may_wait_for_the_ones_before(paths, pool):
    def processes() -> dict[str, int]:
        return {"processes": len((paths.runs / "copy.txt").read_text()) // 7}

    plan = PlanRun(paths, [Planned("copy", {"times": 2}), Planned("count", processes)], pool=pool, registry=TINY)
    step_all(plan)
    assert [(result.stage, result.skipped) for result in plan.results] == [("copy", False), ("count", False)]
    assert load_record(paths, "count").settings["processes"] == 2
    again = PlanRun(paths, [Planned("copy", {"times": 2}), Planned("count", processes)], pool=pool, registry=TINY)
    step_all(again)
    assert [result.skipped for result in again.results] == [True, True]


def test_a_plan_stops_at_the_stage_that_fails_and_says_which(paths, pool):
    planned = [Planned("copy"), Planned("misbehave", {"how": "fail"}), Planned("count")]
    plan = PlanRun(paths, planned, pool=pool, registry=TINY)
    with pytest.raises(AnyMoCapError, match="It does not work"):
        step_all(plan)
    assert plan.planned[plan.index].stage_name == "misbehave" == plan.current.stage.name
    assert load_record(paths, "copy").outcome == "done" and load_record(paths, "count") is None


def test_a_cancelled_plan_ends_the_stage_at_work_and_starts_no_other(paths, pool):
    plan = PlanRun(paths, [Planned("slow", {"seconds": 600.0}), Planned("copy")], pool=pool, registry=TINY)
    for event in plan:
        if event is not None and event["event"] == "progress":
            break
        time.sleep(0.01)
    plan.cancel()
    with pytest.raises(CancelledError):
        step_all(plan)
    assert load_record(paths, "slow").outcome == "cancelled" and load_record(paths, "copy") is None


def test_a_plan_that_is_cut_short_runs_what_is_left(paths, pool):
    plan = PlanRun(paths, [Planned("copy"), Planned("count"), Planned("speak")], pool=pool, registry=TINY)
    plan.cut(1)
    step_all(plan)
    assert [result.stage for result in plan.results] == ["copy"]
    plan.cut(0)  # what was at work is never taken back
    assert [planned.stage_name for planned in plan.planned] == ["copy"]


def test_what_may_be_stale_starts_by_itself_or_ran_before(paths):
    registry = Registry((COPY, replace(COUNT, automatic=False), replace(TINY["perclip"], name="detect")))
    (paths.clip("b").folder).mkdir(parents=True)
    save_record(paths, StageRecord("detect", "done", "a", {"video": "x.mp4"}))
    assert [(p.stage_name, p.item) for p in stale_plan(registry, paths, ["a"])] == [("copy", None), ("detect", "a")]
    save_record(paths, StageRecord("count", "cancelled", settings={"pause_s": 2.0}))
    planned = stale_plan(registry, paths, [])
    assert [p.stage_name for p in planned] == ["copy", "count"] and planned[1].settings["pause_s"] == 2.0
    wanted = stale_plan(registry, paths, [], lambda stage, item: {"asked": stage.name})
    assert wanted[0].settings == {"asked": "copy"}


def test_what_cannot_work_is_said_before_anything_runs(tmp_path):
    paths = Project(tmp_path).creature("c")
    with pytest.raises(BadInputError, match="The creature has no mesh"):
        stale_plan(REGISTRY, paths, [])
    paths.assets.mkdir(parents=True)
    (paths.assets / "model.glb").touch()
    with pytest.raises(BadInputError, match="There is no video for the clip 'a'"):
        stale_plan(REGISTRY, paths, ["a"])


def test_the_reader_is_tested_on_the_creatures_own_motion_where_it_has_one(paths):
    def settings_of(stage, item):
        return {**stage.item_settings(item), "asked": True}

    with pytest.raises(BadInputError, match="There is no reader to test"):
        reader_test_plan(REGISTRY, paths, settings_of)
    paths.reader_pt.parent.mkdir(parents=True)
    paths.reader_pt.touch()
    plan = reader_test_plan(REGISTRY, paths, settings_of)
    assert [(p.stage_name, p.item) for p in plan] == [
        (name, "test") for name in ("exam", "detect", "fit", "report", "preview")
    ]
    assert plan[0].settings["kind"] == "random" and all(p.settings["asked"] for p in plan)
    save_record(paths, StageRecord("rig", "done", result={"limits_from": ["Walk"]}))
    assert reader_test_plan(REGISTRY, paths, settings_of)[0].settings["kind"] == "action"
    save_record(paths, StageRecord("exam", "done", "test", {"kind": "random"}))
    kept = reader_test_plan(REGISTRY, paths, lambda stage, item: {"kind": "random"})
    assert kept[0].settings["kind"] == "random", "an exam that was made stays what it is"
