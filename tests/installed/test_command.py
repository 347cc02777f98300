"""`blender --command anymocap` as scripts use it: what stands on standard output, exit codes, a batch, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from real_blender import SANDBOX, RealBlender, wait

BATCH = """
project = "Projekt ü"
stages = ["prep", "rig"]
[[creature]]
name = "lynx"
stages = ["example", "prep", "rig", "ref"]
[[creature]]
name = "no such one"
mesh = "no such.glb"
"""


def run_apart(blender: RealBlender, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command with standard output and standard error kept apart."""
    command = [str(SANDBOX), "--run", "blender", "--command", "anymocap", *map(str, arguments)]
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(blender.resources)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


@dataclass(frozen=True)
class Night:
    """A batch that was run once: its file, its project, and how it ended."""

    file: Path
    project: Path
    ended: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def night(blender: RealBlender, tmp_path_factory: pytest.TempPathFactory) -> Night:
    file = tmp_path_factory.mktemp("a night") / "a night.toml"
    file.write_text(BATCH, encoding="utf-8")
    return Night(file, file.parent / "Projekt ü", run_apart(blender, "batch", file, "--json"))


def test_the_last_line_of_standard_output_is_the_answer(blender: RealBlender, tmp_path: Path) -> None:
    ended = run_apart(blender, "status", "--project", tmp_path, "--creature", "no one", "--json")
    assert ended.returncode == 2
    assert [json.loads(line)["ok"] for line in ended.stdout.splitlines()] == [False]
    assert "error: " in ended.stderr and "Traceback" not in ended.stderr


def test_a_batch_goes_on_after_a_failure_and_does_nothing_twice(blender: RealBlender, night: Night) -> None:
    assert night.ended.returncode == 1, night.ended.stderr
    answer = json.loads(night.ended.stdout.splitlines()[-1])
    assert [(row["creature"], row["state"]) for row in answer["entries"]] == [
        ("lynx", "done"),
        ("no such one", "failed"),
    ]
    assert "no such.glb: prep needs this file" in answer["entries"][1]["message"]
    assert (night.project / "assets" / "lynx" / "rigged" / "rigged.blend").exists()
    again = run_apart(blender, "batch", night.file, "--json")
    answer = json.loads(again.stdout.splitlines()[-1])
    assert [row["state"] for row in answer["entries"]] == ["ready", "failed"] and not answer["entries"][0]["ran"]


def test_control_c_stops_at_once_and_the_stage_resumes(blender: RealBlender, night: Night) -> None:
    place = ["--poses", "40", "--rows", "64", "--project", str(night.project), "--creature", "lynx", "--json"]
    drawn = night.project / "runs" / "lynx" / "dataset"
    running = blender.start("--command", "anymocap", "dataset", *place)
    deadline = time.monotonic() + 120
    while not list(drawn.glob("*_meta.json")):
        assert time.monotonic() < deadline and running.poll() is None
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does it: to all of them
    ended = wait(running, 30)
    assert ended.code == 1 and "Traceback" not in ended.output, ended.output
    assert ended.last_json()["error"]["message"] == "Cancelled."
    before = {path.name: path.stat().st_mtime_ns for path in drawn.glob("*_meta.json")}
    assert 0 < len(before) < 40
    assert blender.command("anymocap", "dataset", *place, timeout_s=300).code == 0
    after = {path.name: path.stat().st_mtime_ns for path in drawn.glob("*_meta.json")}
    assert len(after) == 40 and {name: after[name] for name in before} == before
