"""A real Blender with a user folder of its own, for the tests of the installed extension."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SANDBOX = REPOSITORY / "scripts" / "blender_sandbox"
SCENARIO = REPOSITORY / "tests" / "gui" / "scenario.py"
PICTURES = REPOSITORY / "build" / "gui"
EXTENSION = "bl_ext.user_default.anymocap"


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code and all that it printed."""

    code: int
    output: str

    def last_json(self) -> Any:
        """What the command printed on its last line that holds JSON."""
        lines = [line for line in self.output.splitlines() if line.startswith(("{", "["))]
        assert lines, self.output
        return json.loads(lines[-1])


@dataclass(frozen=True)
class RealBlender:
    """A Blender that keeps its settings and extensions in `resources`."""

    resources: Path

    def start(self, *arguments: str | Path, window: bool = False, **environment: str) -> subprocess.Popen[str]:
        """Start Blender with these arguments, as the leader of a process group of its own."""
        how = ["--window"] if window else ["--run", "blender"]
        return self._start([*how, *map(str, arguments)], environment)

    def run(self, *arguments: str | Path, timeout_s: float = 180.0, window: bool = False, **environment: str) -> Ended:
        """Run Blender with these arguments to its end."""
        return wait(self.start(*arguments, window=window, **environment), timeout_s)

    def command(self, *arguments: str | Path, timeout_s: float = 180.0, **environment: str) -> Ended:
        """Run `blender --command ARGUMENTS`."""
        return self.run("--command", *arguments, timeout_s=timeout_s, **environment)

    def script(self, script: Path, *arguments: str | Path, timeout_s: float = 180.0, **environment: str) -> Ended:
        """Run a Python script in a Blender without a window; an exception is exit code 3."""
        head = ["-b", "--addons", EXTENSION, "--python-exit-code", "3", "--python"]
        return self.run(*head, script, "--", *arguments, timeout_s=timeout_s, **environment)

    def play(self, scenario: str, time_limit_s: float = 120.0, blend: Path | None = None, **options: Any) -> Played:
        """Play one of tests/gui/scenarios in a window; its pictures lie in build/gui/<scenario>."""
        return wait_for_scenario(self.start_scenario(scenario, time_limit_s, blend, **options), scenario, time_limit_s)

    def start_scenario(
        self, scenario: str, time_limit_s: float = 120.0, blend: Path | None = None, **options: Any
    ) -> subprocess.Popen[str]:
        """Start a scenario in a window and come back at once."""
        pictures = PICTURES / scenario
        for old in pictures.glob("*.*"):
            old.unlink()
        given = {"pictures": str(pictures), "time_limit_s": time_limit_s, **options}
        opened = [str(blend)] if blend else []
        return self.start(*opened, "--python", SCENARIO, "--", scenario, json.dumps(given, default=str), window=True)

    def _start(self, arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(SANDBOX), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, "BLENDER_USER_RESOURCES": str(self.resources), **environment},
            start_new_session=True,
        )


@dataclass(frozen=True)
class Played(Ended):
    """How a scenario ended; `result` is what it measured."""

    result: dict[str, Any]
    pictures: Path


def wait(process: subprocess.Popen[str], timeout_s: float) -> Ended:
    """Wait for a Blender; one that takes longer is killed with all that it started, and the test fails."""
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        pytest.fail(f"Blender was still running after {timeout_s} s:\n{output[-4000:]}")
    return Ended(process.returncode, output)


def wait_for_scenario(process: subprocess.Popen[str], scenario: str, time_limit_s: float) -> Played:
    """Wait for a scenario. A traceback in Blender's output is a failure even where Blender went on."""
    ended = wait(process, time_limit_s + 40.0)
    result = PICTURES / scenario / "result.json"
    found = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
    assert ended.code == 0, f"{scenario} ended with {ended.code}:\n{ended.output[-6000:]}"
    assert "Traceback (most recent call last)" not in ended.output, ended.output[-6000:]
    return Played(ended.code, ended.output, found, PICTURES / scenario)


def sandbox_or_skip() -> str:
    """Which Blender there is. Without one the tests are skipped, but not where CI is set."""
    ended = subprocess.run([str(SANDBOX)], capture_output=True, text=True, check=False)
    if ended.returncode:
        reason = ended.stderr.strip().splitlines()[-1]
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return ended.stdout.strip()


def install(blender: RealBlender, extension: Path, enable: bool = True) -> Ended:
    """Install a zip by Blender's own command."""
    how = ["--enable"] if enable else []
    return blender.command("extension", "install-file", "--repo", "user_default", *how, extension)


def show_no_splash(blender: RealBlender) -> None:
    """A window shows its work at once, and keeps no preferences of a scenario."""
    code = (
        "import bpy; bpy.context.preferences.view.show_splash = False;"
        "bpy.context.preferences.use_preferences_save = False; bpy.ops.wm.save_userpref()"
    )
    ended = blender.run("-b", "--python-exit-code", "3", "--python-expr", code)
    assert ended.code == 0, ended.output


def prepare_project(blender: RealBlender, project: Path) -> Path:
    """A project with a captured clip, poses to train on and scene.blend."""
    ended = blender.script(REPOSITORY / "tests" / "gui" / "prepare.py", project, timeout_s=400)
    assert ended.code == 0, ended.output
    return project
