"""The add-on whose wheels are missing: it is enabled all the same, and says what is missing and what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from scripts.extension import stage as staging
from scripts.extension.blender_command import blender_extension
from scripts.extension.targets import Target, this_platform

from .clean_python import make_clean_python

HERE = Path(__file__).resolve().parent


def test_missing_packages_are_named_with_the_remedy(tmp_path):
    target = Target(this_platform(), f"{sys.version_info.major}{sys.version_info.minor}")
    (tmp_path / "wheels" / target.name).mkdir(parents=True)
    staging.stage(target, [], tmp_path / "staged", tmp_path / "wheels")
    archive = tmp_path / staging.zip_name(target)
    blender_extension("build", "--source-dir", str(tmp_path / "staged"), "--output-filepath", str(archive))
    (tmp_path / "resources").mkdir()
    python = make_clean_python(tmp_path / "python")
    command = (python, "-I", HERE / "use_without_wheels.py", archive, tmp_path / "project", tmp_path / "result.json")
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "resources")}
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-4000:]
    found = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert found["enabled"] and "Traceback" not in ended.stdout + ended.stderr
    assert f"({python}) lacks torch, cv2, imageio_ffmpeg. Install the AnyMoCap zip for " in found["lack"]
    assert "lacks imageio_ffmpeg. Install the AnyMoCap zip" in found["stage"]
    assert found["another"] == "", "another Python is the worker"
