"""The queue of all that runs in one Blender: order, cancel, plans, other processes, and what is left when it closes.

Timers do not fire in a Blender without a window, so the tests call what the timer calls.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import pytest
from other_process import start_host
from tiny_stages import TINY

import anymocap_addon
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.stage_record import load_record
from anymocap_addon.jobs.alive import process_alive
from anymocap_addon.jobs.plan import Planned, PlanRun
from anymocap_addon.jobs.stage_run import StageRun


@pytest.fixture
def host() -> Iterator[Any]:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    anymocap_addon.register()
    yield sys.modules["anymocap_addon.ops.running"].HOST
    anymocap_addon.unregister()


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    paths = Project(tmp_path).creature("c")
    paths.assets.mkdir(parents=True)
    (paths.assets / "source.txt").write_text("ambling", encoding="utf-8")
    return paths


def new_run(host: Any, paths: CreaturePaths, stage: str, role: str = "batch", **settings: Any) -> StageRun:
    return StageRun(paths, TINY[stage], settings, pool=host.pool, registry=TINY, role=role)


def new_plan(host: Any, paths: CreaturePaths, *planned: Planned) -> PlanRun:
    return PlanRun(paths, list(planned), pool=host.pool, registry=TINY)


def tick_until(host: Any, reached: Callable[[], bool], patience_s: float = 30.0) -> None:
    end = time.monotonic() + patience_s
    while not reached():
        assert time.monotonic() < end, "it never came"
        host.timer()
        time.sleep(0.01)


def test_runs_queue_in_order_and_interactive_ones_go_at_once(host, paths):
    endless = host.start(new_run(host, paths, "misbehave", how="polite"))
    copy = host.start(new_run(host, paths, "copy"))
    assert not host.waits(endless) and host.waits(copy)
    assert host.at_work(paths) == [endless, copy] and host.at_work(Project(paths.root).creature("other")) == []
    tick_until(host, lambda: endless.total > 0)
    assert copy.word == "queued" and copy.started is None and copy.log is None
    refit = host.start(new_run(host, paths, "speak", role="interactive"))
    tick_until(host, lambda: refit.word == "done")
    assert endless.word == "running" and copy.word == "queued"
    host.cancel(endless)
    tick_until(host, lambda: not host.at_work())
    assert (endless.word, copy.word, copy.fraction) == ("cancelled", "done", 1.0)
    assert copy.started > endless.started and copy.log.exists()
    assert host.of(paths, "copy") is copy and host.of(paths, "count") is None


def test_two_creatures_take_turns(host, paths):
    other = Project(paths.root).creature("other")
    other.assets.mkdir(parents=True)
    (other.assets / "source.txt").write_text("trotting", encoding="utf-8")
    first, second = host.start(new_run(host, paths, "copy")), host.start(new_run(host, other, "copy"))
    assert host.at_work(other) == [second]
    tick_until(host, lambda: not host.at_work())
    assert (first.word, second.word) == ("done", "done")
    assert (other.runs / "copy.txt").read_text() == "trotting"


def test_what_waits_is_cancelled_at_once_and_what_runs_when_it_has_ended(host, paths):
    endless = host.start(new_run(host, paths, "misbehave", how="polite"))
    waiting = host.start(new_run(host, paths, "copy"))
    last = host.start(new_run(host, paths, "speak"))
    tick_until(host, lambda: endless.total > 0)
    host.cancel(waiting)
    assert waiting.word == "cancelled" and host.at_work(paths) == [endless, last]
    host.cancel(endless)
    assert endless.word == "cancelling"
    tick_until(host, lambda: last.word == "done")
    assert endless.word == "cancelled" and endless.error is None
    assert load_record(paths, "misbehave").outcome == "cancelled"
    assert load_record(paths, "copy") is None
    host.cancel(endless)  # once more, as a second click does
    assert endless.word == "cancelled"


def test_a_plan_shows_each_of_its_stages(host, paths):
    told = []
    host.when_ended.append(told.append)
    plan = host.start_plan(new_plan(host, paths, Planned("copy"), Planned("count", {"processes": 1})), "Both")
    assert [stage.word for stage in plan.stages] == ["queued", "queued"] and plan.label == "Both"
    tick_until(host, lambda: plan.stages[0].word == "done")
    assert told == plan.stages[:1], "the end of a stage is told when it ends, not with the plan's"
    assert plan.stages[1].word in ("queued", "running") and plan.stages[1].plan is plan
    tick_until(host, lambda: not plan.at_work)
    assert [stage.word for stage in plan.stages] == ["done", "done"] and plan.error is None
    assert told == plan.stages and host.of(paths, "count").run.result.figures["total"] == 7
    host.when_ended.remove(told.append)


def test_a_plan_stops_at_a_failure_and_the_next_in_the_queue_goes_on(host, paths):
    planned = (Planned("copy"), Planned("misbehave", {"how": "bad_input"}), Planned("count"))
    plan = host.start_plan(new_plan(host, paths, *planned))
    after = host.start(new_run(host, paths, "speak"))
    tick_until(host, lambda: after.word == "done")
    assert [stage.word for stage in plan.stages] == ["done", "failed", "cancelled"]
    assert plan.error is plan.stages[1].error and "The thing is bent" in str(plan.error)


def test_cancelling_a_stage_of_a_plan_keeps_what_comes_before_it(host, paths):
    plan = host.start_plan(new_plan(host, paths, Planned("slow", {"seconds": 0.5}), Planned("copy"), Planned("speak")))
    tick_until(host, lambda: plan.stages[0].word == "running")
    host.cancel(plan.stages[1])
    assert [stage.word for stage in plan.stages] == ["running", "cancelled", "cancelled"]
    tick_until(host, lambda: not plan.at_work)
    assert plan.stages[0].word == "done" and load_record(paths, "copy") is None
    endless = host.start_plan(new_plan(host, paths, Planned("misbehave", {"how": "polite"}), Planned("copy")))
    tick_until(host, lambda: endless.stages[0].total > 0)
    host.cancel(endless.stages[0])
    tick_until(host, lambda: not endless.at_work)
    assert [stage.word for stage in endless.stages] == ["cancelled", "cancelled"]


def test_a_queued_plan_is_cancelled_whole(host, paths):
    first = host.start(new_run(host, paths, "slow", seconds=0.3))
    plan = host.start_plan(new_plan(host, paths, Planned("copy"), Planned("count")))
    host.cancel(plan.stages[0])
    tick_until(host, lambda: not host.at_work())
    assert first.word == "done" and [stage.word for stage in plan.stages] == ["cancelled", "cancelled"]
    assert load_record(paths, "copy") is None


def test_what_was_cancelled_goes_on_where_it_stopped(host, paths):
    (paths.runs).mkdir(parents=True)
    (paths.runs / "copy.txt").write_text("ambling" * 3)
    settings = {"processes": 1, "pause_s": 0.1}
    first = host.start(new_run(host, paths, "count", **settings))
    tick_until(host, lambda: first.done >= 4)
    host.cancel(first)
    tick_until(host, lambda: not first.at_work)
    again = host.start(new_run(host, paths, "count", **settings))
    tick_until(host, lambda: not again.at_work)
    figures = again.run.result.figures
    assert figures["total"] == 21 and 0 < figures["shards"][0]["made"] <= 17


def test_closing_ends_the_queue_and_leaves_everything_resumable(host, paths):
    plan = host.start_plan(new_plan(host, paths, Planned("slow", {"seconds": 600.0}), Planned("copy")))
    host.start(new_run(host, paths, "speak"))
    tick_until(host, lambda: plan.stages[0].total > 0)
    pid = plan.stages[0].run.job.read()["processes"][0]["pid"]
    host.close()
    assert not process_alive(pid) and not bpy.app.timers.is_registered(host.timer)
    assert load_record(paths, "slow").outcome == "cancelled" and load_record(paths, "copy") is None
    assert host.at_work() == []
    host.open()


def test_an_own_fault_ends_its_stage_and_nothing_else(host, paths, capsys):
    def settings() -> dict[str, Any]:
        raise ZeroDivisionError("of all things")

    plan = host.start_plan(new_plan(host, paths, Planned("copy", settings)))
    after = host.start(new_run(host, paths, "speak"))
    broken = [lambda: 1 / 0]
    host.each_tick += broken
    tick_until(host, lambda: after.word == "done")
    host.each_tick.remove(broken[0])
    assert plan.stages[0].word == "failed" and "ZeroDivisionError" in str(plan.error)
    assert "of all things" in capsys.readouterr().err


def test_the_timer_looks_into_no_file_while_a_stage_runs_and_is_asked_for_a_redraw_only_when_something_changed(
    host, paths
):
    slow = host.start(new_run(host, paths, "slow", seconds=600.0))
    tick_until(host, lambda: slow.total > 0)
    before = host.changed
    opened = []

    def note(event: str, arguments: Any) -> None:
        if watching and event == "open":
            opened.append(str(arguments[0]))

    watching = True
    sys.addaudithook(note)
    for _ in range(20):
        host.timer()
    watching = False
    assert set(opened) <= {str(slow.run.job.events(0))}, "only the events are read"
    assert host.changed <= before + 1, "the same progress is no change"


def test_jobs_of_other_processes_are_shown(host, paths):
    assert host.foreign(paths) == []
    other = start_host(paths, "slow", seconds=600.0)
    other.stdout.readline()
    tick_until(host, lambda: bool(host.foreign(paths)))
    (job,) = host.foreign(paths)
    assert (job.stage, job.pid) == ("slow", other.pid)
    other.kill()
    other.wait()
    tick_until(host, lambda: not host.foreign(paths))


def test_a_stage_at_work_elsewhere_is_not_started_twice(host, paths):
    other = start_host(paths, "slow", seconds=600.0)
    other.stdout.readline()
    ours = host.start(new_run(host, paths, "slow", seconds=600.0))
    tick_until(host, lambda: not ours.at_work)
    assert ours.word == "failed" and f"already running (process {other.pid})" in str(ours.error)
    other.kill()
    other.wait()


def test_a_look_at_other_processes_that_fails_stops_nothing_else(host, paths, monkeypatch, capsys):
    """A timer that raises is never called again: all that runs would stand still."""
    watch = sys.modules["anymocap_addon.jobs.watch"]
    monkeypatch.setattr(watch.ForeignJobs, "look", lambda _: 1 / 0)
    host.foreign(paths)
    run = host.start(new_run(host, paths, "copy"))
    tick_until(host, lambda: run.word == "done")
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_file_load_leaves_the_queue_as_it_is(host, paths, tmp_path):
    endless = host.start(new_run(host, paths, "misbehave", how="polite"))
    tick_until(host, lambda: endless.total > 0)
    file = tmp_path / "scene.blend"
    bpy.context.scene.anymocap.project, bpy.context.scene.anymocap.creature = str(paths.root), "c"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(file))
    assert bpy.app.timers.is_registered(host.timer), "the timer is persistent"
    assert host.of(paths, "misbehave") is endless and endless.word == "running"
    assert bpy.ops.anymocap.cancel() == {"FINISHED"}, "the scene finds it again by project and creature"
    tick_until(host, lambda: endless.word == "cancelled")


def test_enabling_and_disabling_leaves_nothing_behind():
    def traces() -> tuple[Any, ...]:
        handlers = {
            name: list(found)
            for name in dir(bpy.app.handlers)
            if isinstance(found := getattr(bpy.app.handlers, name), list)
        }
        ours = sys.modules.get("anymocap_addon.ops.running")
        timer = ours is not None and bpy.app.timers.is_registered(ours.HOST.timer)
        hooks = (len(ours.HOST.when_ended), len(ours.HOST.each_tick)) if ours is not None else (0, 0)
        groups = sorted(cls.__name__ for cls in bpy.types.PropertyGroup.__subclasses__() if cls.is_registered)
        classes = [name for name in groups if name.startswith("ANYMOCAP")]
        return handlers, timer, hooks, hasattr(bpy.types.Scene, "anymocap"), classes

    before = traces()
    for _ in range(2):
        anymocap_addon.register()
        assert traces() != before
        anymocap_addon.unregister()
        assert traces() == before
