"""`doctor`: is everything there that the stages need?"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..core.errors import AnyMoCapError
from ..core.film.key import KEY_VARIABLE, USER_FOLDER_VARIABLE, key_source
from ..jobs.cores import usable_cores
from ..jobs.launch import BLENDER_VARIABLE, PYTHON_VARIABLE, blender_command
from ..jobs.pool import Pool
from ..jobs.worker_check import WorkerCheck

_BLENDER_MARK = "anymocap-blender:"
_BLENDER_PROBE = f"import bpy; print(chr(10) + {_BLENDER_MARK!r} + bpy.app.version_string)"
_BLENDER_TIMEOUT_S = 180
_LEAST_FREE_GB = 2
_KEY_WORDS = {"environment": f"from the environment (${KEY_VARIABLE})", "stored": "stored", "none": "none"}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        ok: the stages can run as far as this is concerned.
        found: what is there.
        hint: what to do, or what to know although it is ok.
    """

    name: str
    ok: bool
    found: str
    hint: str = ""


def doctor(pool: Pool) -> dict[str, Any]:
    """Print what was found and return it; `ok` tells whether the stages can run.

    Args:
        pool: whose workers are looked at.
    """
    folder = _user_folder(pool)
    findings = [_worker(pool), _blender(), _disk(Path.cwd()), _cores(), _folder(folder), _key(folder)]
    for finding in findings:
        mark = "ok  " if finding.ok else "FAIL"
        print(f"{mark} {finding.name:<11} {finding.found}" + (f"\n     {finding.hint}" if finding.hint else ""))
    return {"ok": all(finding.ok for finding in findings), "checks": [asdict(finding) for finding in findings]}


def _worker(pool: Pool) -> Finding:
    check = WorkerCheck(pool.worker_python(), environment=pool.environment())
    for _ in check:
        time.sleep(0.02)
    report = check.report
    assert report is not None
    if report.ok:
        return Finding("worker", True, report.line(), " ".join(report.warnings))
    said = " ".join(str(error) for error in report.errors)
    return Finding(
        "worker", False, said, f"From a terminal: install requirements/worker.txt, or set {PYTHON_VARIABLE}."
    )


def _blender() -> Finding:
    hint = f"Install requirements/blender.txt, or set {BLENDER_VARIABLE} to Blender's program file."
    try:
        ended = _run_blender()
    except (AnyMoCapError, OSError, subprocess.TimeoutExpired) as error:
        return Finding("blender", False, str(error), hint)
    versions = [line for line in ended.stdout.splitlines() if line.startswith(_BLENDER_MARK)]
    if versions:
        return Finding("blender", True, f"Blender {versions[-1].removeprefix(_BLENDER_MARK)}")
    said = (ended.stderr or ended.stdout).strip().splitlines()
    return Finding("blender", False, said[-1] if said else f"exit code {ended.returncode}", hint)


def _run_blender() -> subprocess.CompletedProcess[str]:
    command = blender_command(0.0)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "probe.py"
        script.write_text(_BLENDER_PROBE, encoding="utf-8")
        as_module = "--python" not in command
        options = ["-I"] if as_module else ["-b", "--factory-startup", "--python-exit-code", "1", "--python"]
        return subprocess.run(
            [command[0], *options, str(script)], capture_output=True, text=True, timeout=_BLENDER_TIMEOUT_S, check=False
        )


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free / 1e9
    ok = free > _LEAST_FREE_GB
    return Finding(
        "disk", ok, f"{free:.0f} GB free", "" if ok else f"Free some space: a creature takes about {_LEAST_FREE_GB} GB."
    )


def _cores() -> Finding:
    return Finding("cores", True, str(usable_cores()))


def _user_folder(pool: Pool) -> Path | None:
    named = pool.environment().get(USER_FOLDER_VARIABLE) or os.environ.get(USER_FOLDER_VARIABLE, "")
    return Path(named) if named else None


def _folder(folder: Path | None) -> Finding:
    if folder is None:
        return Finding("user folder", True, "none (Blender's extension has one)")
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    ok = nearest.is_dir() and os.access(nearest, os.W_OK)
    return Finding("user folder", ok, str(folder), "" if ok else f"Make {nearest} a folder that you may write to.")


def _key(folder: Path | None) -> Finding:
    source = key_source(folder)
    hint = f"Only filming needs one: enter it in the add-on's preferences, or set {KEY_VARIABLE}."
    return Finding("fal key", True, _KEY_WORDS[source], hint if source == "none" else "")
