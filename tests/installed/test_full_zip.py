"""The full zip with its wheels, installed into an empty Blender that has no other packages: two minutes, 2 GB of disk.

Needs the wheels of this platform (scripts/fetch_wheels brings them, 350 MB the first time) and the bpy module.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.extension.targets import this_platform

from .clean_python import make_clean_python

REPOSITORY = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PYTHON_TAG = f"{sys.version_info.major}{sys.version_info.minor}"


def run(*command: str | Path, **environment: str) -> str:
    ended = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-4000:]
    return ended.stdout


@pytest.fixture(scope="module")
def archive() -> Path:
    which = ("--platform", this_platform(), "--python", PYTHON_TAG)
    run(REPOSITORY / "scripts" / "fetch_wheels", *which)
    return Path(run(REPOSITORY / "scripts" / "build_extension", *which).split("  ")[0])


@pytest.fixture(scope="module")
def found(archive: Path) -> Iterator[dict[str, Any]]:
    """What install_and_use.py reports."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        (top / "resources").mkdir()
        python = make_clean_python(top / "python")
        run(
            *(python, "-I", HERE / "install_and_use.py", archive, top / "project", top / "result.json"),
            BLENDER_USER_RESOURCES=str(top / "resources"),
        )
        yield {**json.loads((top / "result.json").read_text(encoding="utf-8")), "folder": str(top)}


def test_it_installs_and_is_enabled(found):
    print(f"zip to enabled: {found['seconds']} s")
    assert found["enabled"] == [True, True]
    assert found["before"] == {"classes": [], "handlers": [], "scene": False}
    assert found["first"]["scene"] and len(found["first"]["classes"]) > 20


def test_disable_and_enable_leave_nothing_behind(found):
    assert found["disabled"] == found["after"] == found["before"]
    assert found["again"] == found["first"]


def test_the_worker_has_its_packages_from_the_zip_and_numpy_from_blender(found):
    worker, packages = found["use"]["worker"], f"{found['folder']}/resources/extensions/.local/"
    own = {name for name, file in worker["files"].items() if file.startswith(packages)}
    assert set(worker["files"]) - own == {"numpy"}
    assert worker["files"]["numpy"].startswith(f"{found['folder']}/python/")
    assert worker["package"].startswith(f"{found['folder']}/resources/extensions/user_default/anymocap/")
    assert worker["python"] == f"{found['folder']}/python/bin/python"
    assert found["use"]["missing"] == []


def test_the_packages_work_with_blenders_numpy(found):
    worker = found["use"]["worker"]
    assert (worker["trace"], worker["resized"], worker["tokens"]) == (16.0, [3, 2], [1, 2, 8])
    assert (worker["fal"], worker["ffmpeg"]) == ("none", "ffmpeg")


def test_stages_run_through_the_operators_and_leave_blender_light(found):
    assert found["use"]["said"] == [["FINISHED"], ["FINISHED"]]
    assert found["heavy"] == []
