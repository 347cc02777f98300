"""Two processes that start one stage at the same moment: one after the other looks at its record."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from anymocap_addon.core.errors import AnyMoCapError
from anymocap_addon.jobs import start_lock as module
from anymocap_addon.jobs.start_lock import start_lock

REPOSITORY = Path(__file__).resolve().parents[2]
ADD_ONE = """
import sys, time
from pathlib import Path
from anymocap_addon.jobs.start_lock import start_lock
record, count = Path(sys.argv[1]), Path(sys.argv[2])
def held():
    while True:
        try:
            next(waiting)
        except StopIteration as end:
            return end.value
        time.sleep(0.005)
for _ in range(20):
    waiting = start_lock(record)
    release = held()
    value = int(count.read_text())
    time.sleep(0.002)
    count.write_text(str(value + 1))
    release()
"""


def test_what_is_read_and_written_under_the_lock_is_never_lost(tmp_path: Path) -> None:
    count = tmp_path / "count"
    count.write_text("0")
    command = [sys.executable, "-c", ADD_ONE, str(tmp_path / "stages" / "fit.json"), str(count)]
    for process in [subprocess.Popen(command, cwd=REPOSITORY) for _ in range(3)]:
        assert process.wait(60) == 0
    assert count.read_text() == "60"
    assert list((tmp_path / "stages").iterdir()) == []


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / ".fit.json.lock").write_text(str(ended.pid))
    with pytest.raises(StopIteration):
        next(start_lock(tmp_path / "fit.json"))


def test_a_held_lock_is_waited_for_without_blocking_and_told_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_S", 0.1)
    with pytest.raises(StopIteration) as held:
        next(start_lock(tmp_path / "fit.json"))
    waiting = start_lock(tmp_path / "fit.json")
    assert next(waiting) is None
    time.sleep(0.12)
    with pytest.raises(AnyMoCapError, match="starting this stage"):
        next(waiting)
    held.value.value()
    with pytest.raises(StopIteration):
        next(start_lock(tmp_path / "fit.json"))


@pytest.mark.parametrize("content", [b"abc", b"\xff\xfe", b"99999999999999999999999", b"-1", b"0"])
def test_a_lock_that_nobody_can_have_written_is_taken_over(tmp_path: Path, content: bytes) -> None:
    record = tmp_path / "fit.json"
    record.with_name(".fit.json.lock").write_bytes(content)
    with pytest.raises(StopIteration) as end:
        next(start_lock(record))
    end.value.value()
    assert not record.with_name(".fit.json.lock").exists()


def test_a_lock_whose_writer_was_killed_before_it_signed_is_taken_over(tmp_path: Path) -> None:
    record, lock = tmp_path / "fit.json", tmp_path / ".fit.json.lock"
    lock.touch()
    assert next(start_lock(record)) is None, "it may be signed in a moment"
    os.utime(lock, (time.time() - 60, time.time() - 60))
    with pytest.raises(StopIteration) as end:
        next(start_lock(record))
    end.value.value()
    assert not lock.exists()
