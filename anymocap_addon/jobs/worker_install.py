"""The work of a worker setup, in a background process: environment, packages, check."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..core.errors import AnyMoCapError, BadInputError
from ..core.stage_context import StageContext
from .worker_check import WorkerCheck
from .worker_requirements import REQUIREMENTS
from .worker_setup import is_folder_of_wheels

_PACKAGES = 65  # about so many come with a CUDA build of torch
_TOTAL = _PACKAGES + 20.0
_IDENTITY = "import sys; print(sys.version_info[:2], sys.base_prefix)"
_FULL = ("No space left on device", "Errno 28", "Disk quota exceeded")
_AGAIN = "Press the button again to go on from there; the whole output is in the log."


def run(ctx: StageContext) -> dict[str, Any]:
    """Make or complete the environment and check it.

    Settings: folder, index, base_python, device; see worker_setup.WorkerSetup.

    Returns:
        python: the environment's interpreter; found: versions and device in one line.
    """
    folder, base = Path(ctx.settings["folder"]), ctx.settings["base_python"]
    python = environment_python(folder)
    ctx.progress(0, _TOTAL, "Making the environment")
    if not _serves(python, base):
        _make(folder, base)
    _install(ctx, python, folder / "cache")
    ctx.progress(_TOTAL - 5, _TOTAL, "Checking it")
    check = WorkerCheck(str(python), ctx.settings["device"])
    for _ in check:
        ctx.check_cancel()
        time.sleep(0.1)
    report = check.report
    if report is None or report.errors:
        raise report.errors[0] if report else AnyMoCapError("The check gave no answer.", file=python)
    shutil.rmtree(folder / "cache", ignore_errors=True)
    ctx.progress(_TOTAL, _TOTAL)
    return {"python": str(python), "found": report.line()}


def environment_python(folder: Path) -> Path:
    """The interpreter of the environment under `folder`."""
    inside = Path("Scripts", "python.exe") if sys.platform == "win32" else Path("bin", "python")
    return folder / "environment" / inside


def _serves(python: Path, base: str) -> bool:
    """Whether the environment is there, has pip and belongs to this base Python."""
    if not python.exists():
        return False
    own = _output([str(python), "-I", "-c", f"import pip; {_IDENTITY}"])
    return own is not None and own == _output([base, "-I", "-c", _IDENTITY])


def _output(command: list[str]) -> str | None:
    """What it printed, or None when it failed."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.stdout if ended.returncode == 0 else None


def _make(folder: Path, base: str) -> None:
    if _output([base, "-I", "-c", "import venv, ensurepip"]) is None:
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        raise BadInputError(
            "This Blender's Python lacks its parts venv and ensurepip, which make environments.",
            file=base,
            hint=f"Install them ({version}-venv on Debian and Ubuntu), or use a Blender from blender.org, or make an "
            "environment yourself and name its Python.",
        )
    command = [base, "-I", "-m", "venv", "--clear", str(folder / "environment")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    print(ended.stdout, ended.stderr, sep="\n", flush=True)
    if ended.returncode:
        said = (ended.stderr or ended.stdout).strip().splitlines() or [f"exit code {ended.returncode}"]
        raise AnyMoCapError(f"The environment could not be made: {said[-1]}", file=folder, hint=_AGAIN)


def _install(ctx: StageContext, python: Path, cache: Path) -> None:
    # A user's pip may be set to install for the user, which an environment refuses.
    environment = {**os.environ, "PIP_USER": "0"}
    process = subprocess.Popen(
        _pip_command(python, ctx.settings["index"], cache),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
    )
    assert process.stdout is not None
    try:
        said = _follow(ctx, process.stdout)
        if process.wait():
            raise _pip_error(said, cache.parent)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def _pip_command(python: Path, index: str, cache: Path) -> list[str]:
    source = []
    if is_folder_of_wheels(index):
        source = ["--no-index", "--find-links", index]
    elif index:
        source = ["--extra-index-url", index]
    # --upgrade: a torch for the processor, found before the right index was named, must not stay.
    command = [str(python), "-I", "-u", "-m", "pip", "install", "--upgrade"]
    command += ["--no-input", "--disable-pip-version-check", "--only-binary", ":all:"]  # an artist has no compiler
    return [*command, "--progress-bar", "off", "--cache-dir", str(cache), *source, "-r", str(REQUIREMENTS)]


def _follow(ctx: StageContext, lines: Iterable[str]) -> list[str]:
    """Log what pip prints, make progress of it, and return its complaints."""
    packages, complaints = 0.0, []
    for line in lines:
        print(line.rstrip(), flush=True)
        note, weight = _shown(line)
        packages = min(packages + weight, _PACKAGES)
        if note:
            ctx.progress(packages, _TOTAL, note)
        ctx.check_cancel()
        if line.startswith("ERROR") or any(words in line for words in _FULL):
            complaints.append(line.removeprefix("ERROR:").strip())
    return complaints


def _pip_error(complaints: list[str], folder: Path) -> AnyMoCapError:
    if any(words in line for line in complaints for words in _FULL):
        return AnyMoCapError("The disk is full.", file=folder, hint=f"A CUDA environment takes about 8 GB. {_AGAIN}")
    reason = complaints[-1] if complaints else "it ended without a reason"
    return AnyMoCapError(f"pip could not install the packages: {reason}.", file=folder, hint=_AGAIN)


def _shown(line: str) -> tuple[str, float]:
    """(what to show, packages that this line stands for)."""
    collecting = re.match(r"\s*(?:Collecting|Requirement already satisfied:) ([\w.-]+)", line)
    if collecting:
        return f"Collecting {collecting[1]}", 1.0
    downloading = re.match(r"\s*(?:Downloading|Using cached) (?:\S*/)?([A-Za-z0-9_.]+)-\S+ \(([^)]+)\)", line)
    if downloading:
        return f"Downloading {downloading[1]}, {downloading[2]}", 0.0
    if line.startswith("Installing collected packages"):
        return "Unpacking the packages, a few minutes", float(_PACKAGES)
    return "", 0.0
