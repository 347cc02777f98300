"""Jobs of other processes, seen through their folders."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from other_process import start_host
from tiny_stages import TINY

from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.jobs.events import EventWriter
from anymocap_addon.jobs.job_folder import JobFolder
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.stage_run import StageRun
from anymocap_addon.jobs.watch import ForeignJobs, JobWatch


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    paths = Project(tmp_path).creature("c")
    paths.runs.mkdir(parents=True)
    (paths.runs / "copy.txt").write_text("ambling" * 20, encoding="utf-8")
    return paths


def look_until(jobs: ForeignJobs, reached: Callable[[], bool], patience_s: float = 20.0) -> None:
    end = time.monotonic() + patience_s
    while not reached():
        assert time.monotonic() < end, "it never came"
        jobs.look()
        time.sleep(0.02)


def test_a_job_of_another_process_is_followed_to_its_end(paths):
    jobs = ForeignJobs(paths, TINY)
    assert jobs.look() is False and jobs.jobs == []
    host = start_host(paths, "count", processes=2, pause_s=0.05)
    look_until(jobs, lambda: bool(jobs.jobs) and jobs.jobs[0].fraction > 0.2)
    (job,) = jobs.jobs
    assert (job.stage, job.item, job.pid) == ("count", None, host.pid)
    assert job.note.startswith("letter") and job.fraction < 0.6, "two steps of one weight: the first is half of it"
    look_until(jobs, lambda: not jobs.jobs)
    assert host.wait(10) == 0
    assert jobs.look() is False, "what has ended is not looked at again"


def test_a_killed_process_has_no_jobs(paths):
    host = start_host(paths, "slow", seconds=600.0)
    jobs = ForeignJobs(paths, TINY)
    look_until(jobs, lambda: bool(jobs.jobs))
    host.send_signal(signal.SIGKILL)
    host.wait()
    look_until(jobs, lambda: not jobs.jobs, 3.0)


def test_our_own_jobs_are_not_foreign(paths):
    pool = Pool()
    run = StageRun(paths, TINY["slow"], {"seconds": 600.0}, pool=pool, registry=TINY)
    while run.job is None:
        next(iter(run))
    jobs = ForeignJobs(paths, TINY)
    jobs.look()
    assert jobs.jobs == []
    run.close()
    pool.close()


def test_progress_of_several_processes_and_steps_is_one_fraction(paths):
    folder = JobFolder.create(paths, "count", {"item": "a"})
    folder.update(host_pid=os.getppid())
    watch = JobWatch(folder, folder.read(), TINY)
    assert (watch.look(), watch.fraction, watch.item) == (False, 0.0, "a")
    first, second = EventWriter(folder.events(0)), EventWriter(folder.events(1))
    for writer in (first, second):
        writer.write({"event": "hello", "step": 0})
    first.write({"event": "progress", "done": 5, "total": 10, "note": "half", "eta_s": 8.0})
    assert watch.look() and watch.fraction == pytest.approx(0.125)  # (1/2 + 0) / 2 shards / 2 steps
    assert (watch.note, watch.eta_s) == ("half", 8.0)
    second.write({"event": "done", "result": {}})
    assert watch.look() and watch.fraction == pytest.approx(0.375)
    first.write({"event": "hello", "step": 1})
    first.write({"event": "progress", "done": 0, "total": 0})
    assert watch.look() and watch.fraction == pytest.approx(0.5)
    first.close()
    second.close()


def damaged_job(paths: CreaturePaths, event: str = "", **changes: object) -> None:
    """A job folder of another process that lives, as no version of ours writes it."""
    job = paths.jobs / "20260101-000000.000-count-abcd"
    job.mkdir(parents=True, exist_ok=True)
    described = {"stage": "count", "state": "running", "host_pid": os.getppid(), **changes}
    (job / "job.json").write_text(json.dumps(described), encoding="utf-8")
    (job / "events.jsonl").write_text(event + "\n", encoding="utf-8")


def test_a_stray_file_among_the_job_folders_is_no_job(paths):
    """Systems leave them everywhere: .DS_Store, Thumbs.db. The timer that meets one must live on."""
    paths.jobs.mkdir(parents=True)
    (paths.jobs / ".DS_Store").write_bytes(b"x")
    (paths.jobs / "empty" / "job.json").mkdir(parents=True)
    jobs = ForeignJobs(paths, TINY)
    jobs.look()
    assert jobs.jobs == []


@pytest.mark.parametrize("pid", ["12", None, [], 10**30, 1.5])
def test_a_job_without_a_process_is_none_that_runs(paths, pid):
    damaged_job(paths, host_pid=pid)
    jobs = ForeignJobs(paths, TINY)
    jobs.look()
    assert jobs.jobs == []


@pytest.mark.parametrize(
    "event",
    [
        "{}",
        '{"event": "progress"}',
        '{"event": "progress", "done": "a", "total": "b"}',
        '{"event": "hello", "step": "x"}',
        '{"event": "hello", "step": -7}',
        '{"event": []}',
    ],
)
def test_events_of_another_kind_are_passed_over(paths, event):
    damaged_job(paths, event)
    jobs = ForeignJobs(paths, TINY)
    jobs.look()
    (job,) = jobs.jobs
    assert (job.stage, job.fraction) == ("count", 0.0)
