"""The worker's own environment: made by a real pip from a folder of small wheels, stopped, gone on with, refused."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from small_wheels import make_wheels, torch_wheel

from anymocap_addon.core.errors import AnyMoCapError, BadInputError, CancelledError
from anymocap_addon.jobs.alive import process_alive
from anymocap_addon.jobs.job_folder import JobFolder
from anymocap_addon.jobs.worker_requirements import REQUIREMENTS, pinned_versions
from anymocap_addon.jobs.worker_setup import WorkerSetup, setup_refusal

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def wheels(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("ANYMOCAP_PYTHON", raising=False)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)  # this machine's pip may have wheels of its own
    folder = tmp_path / "wheels of ours"
    make_wheels(folder)
    return folder


def setup(tmp_path: Path, wheels: Path, **options: str) -> WorkerSetup:
    return WorkerSetup(tmp_path / "user folder" / "gpu_worker", str(wheels), **options)


def to_end(work: WorkerSetup) -> list[dict]:
    events = []
    for event in work:
        events += [event] if event else []
        time.sleep(0.0 if event else 0.02)
    return events


def test_it_goes_on_from_where_it_failed_until_it_is_made_and_checked(tmp_path, wheels):
    """One environment all along; making one takes most of the time."""
    safetensors = next(wheels.glob("safetensors-*"))
    elsewhere = safetensors.rename(tmp_path / safetensors.name)
    work = setup(tmp_path, wheels)
    with pytest.raises(AnyMoCapError, match=r"No matching distribution found for safetensors==.* the whole output"):
        to_end(work)
    assert "safetensors" in work.job.log.read_text() and work.python is None

    elsewhere.rename(safetensors)
    torch_wheel(wheels, "5", 0)
    kept = work.folder / "environment" / "kept"
    kept.touch()
    work = setup(tmp_path, wheels)
    with pytest.raises(BadInputError, match=r"CUDA was asked for, but torch .*\+5 is a build for the processor only"):
        to_end(work)
    assert work.python is None

    torch_wheel(wheels, "6.cu128", 1)
    work = setup(tmp_path, wheels)
    events = [event for event in to_end(work) if event["event"] == "progress"]
    assert events[0]["note"] == "Making the environment"
    fractions = [event["fraction"] for event in events]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert Path(work.python).is_file() and work.folder in Path(work.python).parents
    assert "Card 9 (24.5 GB)" in work.found
    assert kept.exists() and not (work.folder / "cache").exists()


@pytest.mark.parametrize("how", ["cancel", "close"])
def test_stopped_in_the_middle_it_leaves_no_process(tmp_path, wheels, how):
    work = setup(tmp_path, wheels)
    for event in work:
        if event and event["event"] == "progress":
            break
        time.sleep(0.0 if event else 0.02)
    pid = work.job.read()["processes"][0]["pid"]
    assert process_alive(pid)
    if how == "close":
        work.close()
    else:
        work.cancel()
        with pytest.raises(CancelledError):
            to_end(work)
    assert not process_alive(pid) and work.python is None


def members(group: int) -> list[int]:
    """Processes of a group."""
    listed = subprocess.run(["ps", "-eo", "pid=,pgid="], capture_output=True, text=True, check=True).stdout
    pairs = [line.split() for line in listed.splitlines()]
    return [int(pid) for pid, of in pairs if int(of) == group]


@pytest.mark.skipif(sys.platform == "win32", reason="killed by a signal")
def test_it_ends_with_the_blender_that_started_it(tmp_path, wheels):
    code = (
        f"import sys, time; sys.path[:0] = {[entry for entry in sys.path if entry]!r}; from pathlib import Path;"
        "from anymocap_addon.jobs.worker_setup import WorkerSetup;"
        "work = WorkerSetup(Path(sys.argv[1]), sys.argv[2]);"
        "[time.sleep(0.0 if event else 0.02) for event in work]"
    )
    folder = tmp_path / "gpu_worker"
    host = subprocess.Popen([sys.executable, "-c", code, str(folder), str(wheels)])
    job = JobFolder(folder / "job")
    while "Collecting" not in job.last_log_lines() and "Processing" not in job.last_log_lines():
        assert host.poll() is None
        time.sleep(0.05)
    group = job.read()["processes"][0]["pid"]
    assert len(members(group)) > 1, "pip belongs to the group"
    host.kill()
    host.wait()
    deadline = time.monotonic() + 20
    while any(process_alive(pid) for pid in members(group)):
        assert time.monotonic() < deadline, "the setup outlived its Blender"
        time.sleep(0.05)


def test_a_python_that_cannot_make_environments(tmp_path, wheels):
    base = tmp_path / "python"
    base.write_text(f'#!/bin/sh\ncase "$*" in *ensurepip*) exit 1;; esac\nexec "{sys.executable}" "$@"\n')
    base.chmod(0o755)
    with pytest.raises(BadInputError, match=r"lacks its parts venv and ensurepip.*-venv on Debian"):
        to_end(setup(tmp_path, wheels, base_python=str(base)))


@pytest.mark.parametrize(
    ("index", "online", "by_command", "system", "says"),
    [
        ("", True, False, "linux", None),
        ("", False, False, "linux", "Allow Online Access"),
        ("", False, True, "linux", "Start it without"),
        ("HERE", False, True, "linux", None),
        ("", True, False, "win32", "processor only. Enter the address"),
        ("https://mirror.example/cuda", True, False, "win32", None),
        ("", True, False, "darwin", "A Mac has no CUDA"),
    ],
)
def test_where_it_cannot_be_made_says_why(tmp_path, monkeypatch, index, online, by_command, system, says):
    for name in ("ANYMOCAP_PYTHON", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    refusal = setup_refusal(str(tmp_path) if index == "HERE" else index, online, by_command, system)
    assert (says in refusal) if says else refusal == ""


def test_an_interpreter_from_the_environment_would_win(monkeypatch):
    monkeypatch.setenv("ANYMOCAP_PYTHON", "/opt/python")
    assert "ANYMOCAP_PYTHON is set" in setup_refusal("", True, False, "linux")


def test_it_installs_what_the_zip_brings_and_names_no_index():
    """Held to requirements/extension.txt, from which the wheels are locked."""
    wanted = {}
    for file in ("worker.txt", "extension.txt"):
        for line in (REPOSITORY / "requirements" / file).read_text().splitlines():
            name, found, version = line.partition("==")
            if found:
                wanted[name] = version
    assert pinned_versions() == wanted
    assert "://" not in REQUIREMENTS.read_text()
