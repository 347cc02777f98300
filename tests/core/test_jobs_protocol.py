"""The worker process and its protocol: ends of every kind, cancel, death of the parent, prints of libraries."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from other_process import start_host
from tiny_stages import TINY

from anymocap_addon.core.errors import AnyMoCapError, BadInputError, CancelledError
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.stage_record import load_record
from anymocap_addon.jobs.alive import process_alive
from anymocap_addon.jobs.events import EventTail, EventWriter
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.stage import Registry
from anymocap_addon.jobs.stage_run import StageRun
from anymocap_addon.jobs.step_run import WorkerError


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    """A project whose path has spaces and letters that are not ASCII."""
    paths = Project(tmp_path / "mein Projekt für 狐").creature("Füchsin 1")
    paths.assets.mkdir(parents=True)
    (paths.assets / "source.txt").write_text("ambling", encoding="utf-8")
    return paths


@pytest.fixture
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.close()


def start(paths: CreaturePaths, pool: Pool, stage: str, **settings: object) -> StageRun:
    return StageRun(paths, TINY[stage], settings, pool=pool, registry=TINY)


def finish(run: StageRun) -> list[dict]:
    events = []
    for event in run:
        if event is None:
            time.sleep(0.01)
        elif event["event"] != "busy":  # the host's own work, no event of the worker
            events.append(event)
    return events


def step_until(run: StageRun, kind: str, timeout_s: float = 20.0) -> dict:
    deadline = time.monotonic() + timeout_s
    for event in run:
        if event is not None and event["event"] == kind:
            return event
        assert time.monotonic() < deadline, f"no {kind} within {timeout_s} s"
        time.sleep(0.01)
    raise AssertionError(f"the stage ended without {kind}")


def wait_until_dead(pid: int, seconds: float) -> float:
    began = time.monotonic()
    while process_alive(pid):
        assert time.monotonic() - began < seconds, f"process {pid} lives after {seconds} s"
        time.sleep(0.02)
    return time.monotonic() - began


def test_prints_of_libraries_go_to_the_log_and_never_into_the_protocol(paths, pool):
    run = start(paths, pool, "speak")
    events = finish(run)
    assert [event["event"] for event in events] == ["hello", "log", "done"]
    assert events[0]["versions"]["anymocap"] and events[0]["pid"] == run.result.figures["pid"]
    assert "forged" not in run.result.figures
    assert run.result.figures["heavy"] == []
    log = run.job.log.read_bytes()
    for said in (b'"forged"', b"a C library speaks", b"raw bytes\xff", b"to standard error", b"through the context"):
        assert said in log
    assert run.job.read()["state"] == "done"


def test_big_files_are_hashed_bit_by_bit_when_a_stage_starts_and_ends(paths, pool):
    """Hashing 24 MiB at once would keep a window waiting; no part of it may be more than a few."""
    big = paths.assets / "big.bin"
    stage = replace(TINY["misbehave"], inputs=lambda paths, values: [paths.assets / "big.bin"])
    registry = Registry((stage,))
    big.write_bytes(b"x" * (24 << 20))
    run = StageRun(paths, stage, {"how": "write", "megabytes": 16}, pool=pool, registry=registry)
    kinds = ["wait" if event is None else event["event"] for event in run]
    assert kinds.index("hello") > 24 and kinds[:24] == ["busy"] * 24
    assert kinds[kinds.index("done") :].count("busy") >= 16
    os.utime(big)  # touched, the same content
    again = StageRun(paths, stage, {"how": "write", "megabytes": 16}, pool=pool, registry=registry)
    assert [event["event"] for event in again].count("busy") >= 24 and again.result.skipped


def test_worker_stays_warm_for_the_next_stage(paths, pool):
    first, second = start(paths, pool, "speak"), start(paths, pool, "copy")
    finish(first)
    finish(second)
    assert first.result.figures["pid"] == second.result.figures["pid"] != os.getpid()
    pool.close()
    wait_until_dead(first.result.figures["pid"], 2.0)


@pytest.mark.skipif(os.name != "posix", reason="niceness is POSIX's")
def test_a_window_s_worker_gives_way_and_shares_the_session(paths):
    """Between sessions Linux shares the cores evenly, so a worker with one of its own would not give way."""
    for polite in (False, True):
        pool = Pool(polite=polite)
        run = StageRun(paths, TINY["speak"], {}, pool=pool, registry=TINY, force=True)
        finish(run)
        pid = run.result.figures["pid"]
        own = os.getpriority(os.PRIO_PROCESS, 0)
        assert os.getpriority(os.PRIO_PROCESS, pid) == (min(own + 10, 19) if polite else own)
        assert os.getsid(pid) == os.getsid(0) and os.getpgid(pid) == pid
        pool.close()


@pytest.mark.parametrize(
    ("how", "kind", "says"),
    [
        ("fail", WorkerError, ["It does not work.", "thing", "Do another thing."]),
        ("bad_input", BadInputError, ["thing.json: angle: The thing is bent. Straighten it."]),
        ("bug", WorkerError, ["ZeroDivisionError: of all things", "log"]),
        ("lack_a_package", BadInputError, ["lacks torch.", "Install the AnyMoCap zip"]),
        (
            "abort",
            WorkerError,
            ["aborted itself, signal 6", "about to abort", "goes on from its last save. The whole log: ", "log.txt"],
        ),
        ("exit_quietly", WorkerError, ["exit code 0"]),
        ("not_a_number", WorkerError, ["not finite", "log"]),
        ("nothing", AnyMoCapError, ["result.bin", "without writing"]),
    ],
)
def test_every_bad_end_is_one_clear_error(paths, pool, how, kind, says):
    run = start(paths, pool, "misbehave", how=how)
    with pytest.raises(kind) as caught:
        finish(run)
    for text in says:
        assert text in str(caught.value)
    assert "Traceback" not in str(caught.value) or how == "abort"
    assert run.job.read()["state"] == "failed"
    finish(start(paths, pool, "speak"))  # the next stage works, in a new worker when the old one is gone


@pytest.mark.skipif(os.name != "posix", reason="a signal's number is POSIX's exit code")
@pytest.mark.parametrize(
    ("number", "says"),
    [
        (9, r"was killed by signal 9 \(by hand, or by the system when memory ran out\)\."),
        (11, r"crashed \(segmentation fault, signal 11\)\."),
        (14, r"was ended by signal 14\."),
    ],
)
def test_a_process_that_a_signal_ends_says_so(paths, pool, number, says):
    run = start(paths, pool, "misbehave", how="stubborn")
    pid = step_until(run, "hello")["pid"]
    step_until(run, "progress")
    os.kill(pid, number)
    with pytest.raises(WorkerError, match=says) as caught:
        finish(run)
    assert caught.value.hint.startswith("Run it again: it goes on from its last save.")


@pytest.mark.parametrize(("how", "least_s", "most_s"), [("polite", 0, 1.0), ("busy", 1.5, 4.0)])
def test_cancel_ends_the_request_and_keeps_the_worker(paths, pool, how, least_s, most_s):
    run = start(paths, pool, "misbehave", how=how)
    hello = step_until(run, "hello")
    step_until(run, "progress")
    began = time.monotonic()
    run.cancel()
    with pytest.raises(CancelledError):
        finish(run)
    assert least_s <= time.monotonic() - began <= most_s
    after = start(paths, pool, "speak")
    finish(after)
    assert after.result.figures["pid"] == hello["pid"]


def test_what_does_not_listen_is_killed_with_its_children(paths, pool):
    run = start(paths, pool, "misbehave", how="with_child")
    pid = step_until(run, "hello")["pid"]
    child = step_until(run, "metric")["value"]
    run.cancel()
    with pytest.raises(CancelledError):
        finish(run)
    assert not process_alive(pid)
    wait_until_dead(child, 1.0)


def test_closing_a_run_kills_its_process_at_once(paths, pool):
    run = start(paths, pool, "misbehave", how="stubborn")
    pid = step_until(run, "hello")["pid"]
    began = time.monotonic()
    run.close()
    assert time.monotonic() - began < 1.0 and not process_alive(pid)
    assert run.job.read()["state"] == "cancelled"


@pytest.mark.parametrize("how", ["polite", "with_child"])
def test_worker_dies_within_three_seconds_of_its_parent(paths, how):
    host = start_host(paths, "misbehave", how=how)
    pids = [int(host.stdout.readline()) for _ in range(2 if how == "with_child" else 1)]
    assert all(process_alive(pid) for pid in pids)
    host.send_signal(signal.SIGKILL)
    host.wait()
    for pid in pids:
        wait_until_dead(pid, 3.0)


def test_a_killed_stage_resumes_and_does_nothing_twice(paths, pool):
    finish(start(paths, pool, "copy", times=9))
    host = start_host(paths, "count", processes=1, pause_s=0.1)
    host.stdout.readline()
    parts = paths.runs / "parts"
    while len(list(parts.glob("[0-9]*.txt"))) < 5:
        time.sleep(0.02)
    host.send_signal(signal.SIGKILL)
    host.wait()
    time.sleep(2.5)
    there = {path: path.stat().st_mtime_ns for path in parts.glob("[0-9]*.txt")}
    run = start(paths, pool, "count", processes=2, pause_s=0.1)
    finish(run)
    made = sum(shard["made"] for shard in run.result.figures["shards"])
    assert run.result.figures["total"] == 63 and made == 63 - len(there)
    assert all(path.stat().st_mtime_ns == time_ns for path, time_ns in there.items())


def test_shards_share_the_work_and_their_progress_is_one(paths, pool):
    finish(start(paths, pool, "copy", times=4))
    run = start(paths, pool, "count", processes=3, pause_s=0.4)
    events = finish(run)
    shards = run.result.figures["shards"]
    assert sorted(shard["made"] for shard in shards) == [9, 9, 10]
    progress = [event for event in events if event["event"] == "progress"]
    fractions = [event["fraction"] for event in progress]
    assert fractions == sorted(fractions) and 0.0 <= fractions[0] < fractions[-1] <= 1.0
    assert max(event["total"] for event in progress) == 28
    assert any(event["eta_s"] for event in progress)
    assert len({event["pid"] for event in events if event["event"] == "hello"}) == 3


def test_a_newer_interactive_request_supersedes_the_older_one(tmp_path):
    """On the level of the worker: two requests to one process, the second with supersede."""
    from anymocap_addon.jobs.process import BackgroundProcess

    process = BackgroundProcess("worker", tmp_path / "log.txt")
    base = {
        "op": "run",
        "stage": "t",
        "step": 0,
        "shard": [0, 1],
        "package": "tiny_stages",
        "project": str(tmp_path),
        "creature": "c",
        "outputs": [],
        "log": str(tmp_path / "log.txt"),
        "function": "steps:misbehave",
        "settings": {"how": "polite"},
        "supersede": True,
    }
    for name in ("first", "second"):
        process.send({**base, "id": name, "events": str(tmp_path / f"{name}.jsonl")})
    last = {**base, "function": "steps:speak", "id": "third", "events": str(tmp_path / "third.jsonl")}
    process.send(last)
    process.leave()
    assert process._process.wait(15) == 0
    ends = {name: EventTail(tmp_path / f"{name}.jsonl").read()[-1] for name in ("first", "second", "third")}
    assert [ends[name].get("kind") for name in ends] == ["superseded", "superseded", None]
    assert ends["third"]["event"] == "done"


def test_a_refit_supersedes_the_one_that_runs_in_the_same_worker(paths, pool):
    older = StageRun(paths, TINY["slow"], {"seconds": 60.0}, pool=pool, registry=TINY, role="interactive")
    pid = step_until(older, "hello")["pid"]
    newer = StageRun(paths, TINY["slow"], {"seconds": 0.1}, pool=pool, registry=TINY, role="interactive")
    step_until(newer, "hello")
    finish(newer)
    with pytest.raises(CancelledError, match="Superseded"):
        finish(older)
    assert newer.result.figures["pid"] == pid
    record = load_record(paths, "slow")
    assert (record.outcome, record.settings["seconds"]) == ("done", 0.1), "the older one's end came last"
    assert older.job.read()["state"] == "cancelled"


def test_a_stage_that_runs_is_not_started_twice(paths, pool):
    first = start(paths, pool, "slow", seconds=60.0)
    step_until(first, "hello")
    with pytest.raises(AnyMoCapError, match="slow is already running"):
        finish(start(paths, pool, "slow", seconds=0.1))
    first.close()
    finish(start(paths, pool, "slow", seconds=0.1))


def test_the_time_before_a_stop_counts(paths, pool):
    stopped = start(paths, pool, "slow", seconds=0.5)
    step_until(stopped, "hello")
    time.sleep(1.0)
    stopped.close()
    resumed = start(paths, pool, "slow", seconds=0.5)
    finish(resumed)
    assert 1.5 <= resumed.result.seconds < 5.0
    again = start(paths, pool, "slow", seconds=0.4)
    finish(again)
    assert again.result.seconds < 1.5


def test_an_idle_worker_leaves_and_the_next_request_gets_a_new_one(paths):
    pool = Pool(warm_s=0.3)
    first, second = start(paths, pool, "speak"), start(paths, pool, "copy")
    finish(first)
    wait_until_dead(first.result.figures["pid"], 3.0)
    finish(second)
    assert second.result.figures["pid"] != first.result.figures["pid"]
    pool.close()


def test_tail_sees_whole_lines_only_and_survives_a_torn_one(tmp_path):
    file = tmp_path / "events.jsonl"
    tail, writer = EventTail(file), EventWriter(file)
    writer.write({"event": "log", "text": "größer\nals"})
    with file.open("ab") as raw:
        raw.write(b'{"event": "pro')
    assert tail.read() == [{"event": "log", "text": "größer\nals"}]
    with file.open("ab") as raw:
        raw.write(b'gress"}\n{"torn": \n')
    writer.write({"event": "log", "text": "next"})
    assert tail.read() == [{"event": "progress"}, {"event": "log", "text": "next"}]
    writer.close()


def test_a_zombie_counts_as_dead():
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    deadline = time.monotonic() + 10
    while process_alive(child.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not process_alive(child.pid) and child.returncode is None
    child.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows moves no folder with open files in it")
def test_a_project_that_is_moved_while_a_stage_runs_is_told_and_not_begun_anew(paths, pool):
    """The process goes on writing events to a file that nobody finds: waiting for its end would be for ever."""
    events, heard = iter(start(paths, pool, "slow", seconds=600.0)), False
    while not heard:
        event = next(events)
        heard = event is not None and event["event"] == "hello"
    new = paths.root.with_name("moved")
    paths.root.rename(new)
    until = time.monotonic() + 10
    with pytest.raises(WorkerError, match="moved, renamed or deleted while the stage was at work"):
        for _ in events:
            assert time.monotonic() < until, "it waits for ever"
    assert not paths.root.exists()
    paths = Project(new).creature(paths.name)
    record = load_record(paths, "slow")
    assert record is not None and record.outcome == "running", "as after a kill: it resumes"
