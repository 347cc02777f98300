"""Zips that are not for this Blender are refused in words; an extension repository on disk offers updates."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scripts.extension import stage as staging
from scripts.extension.blender_command import blender_extension
from scripts.extension.repository import publish
from scripts.extension.targets import Target, this_platform

HERE = Path(__file__).resolve().parent
OWN = Target(this_platform(), f"{sys.version_info.major}{sys.version_info.minor}")
OTHER_PYTHON = Target(OWN.platform, "313" if OWN.python == "311" else "311")
OTHER_PLATFORM = Target("macos-arm64" if OWN.platform != "macos-arm64" else "windows-x64", OWN.python)


def build(target: Target, top: Path) -> Path:
    """A zip of the whole add-on without any wheels."""
    made = top / staging.zip_name(target)
    (top / "wheels" / target.name).mkdir(parents=True, exist_ok=True)
    staging.stage(target, [], top / "staged", top / "wheels")
    blender_extension("build", "--source-dir", str(top / "staged"), "--output-filepath", str(made))
    return made


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What refuse_and_update.py reports."""
    top = tmp_path_factory.mktemp("repository")
    refused = [build(target, top) for target in (OTHER_PLATFORM, OTHER_PYTHON)]
    publish([build(OWN, top), *refused], top / "repository")
    shutil.copytree(top / "repository", top / "newer")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging, "MANIFEST", top / "blender_manifest.toml")
        own = (HERE.parents[1] / "blender_manifest.toml").read_text(encoding="utf-8")
        staging.MANIFEST.write_text(own.replace('version = "0.1.0"', 'version = "0.9.0"'), encoding="utf-8")
        publish([build(OWN, top)], top / "newer")
    (top / "resources").mkdir()
    arguments = (",".join(map(str, refused)), top / "repository", top / "newer", top / "result.json")
    command = [sys.executable, "-I", HERE / "refuse_and_update.py", *arguments]
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(top / "resources")}
    ended = subprocess.run([str(part) for part in command], capture_output=True, text=True, env=environment)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-4000:]
    return {**json.loads((top / "result.json").read_text(encoding="utf-8")), "said": ended.stdout}


def test_zips_of_another_platform_or_python_are_refused_in_words(found):
    assert f"anymocap: This platform ({OWN.platform}) isn't one of ({OTHER_PLATFORM.platform})" in found["said"]
    assert "anymocap: This Blender version" in found["said"]
    assert found["not_installed"] == ""


def test_blender_installs_from_the_repository_and_is_offered_the_update(found):
    assert found["online"] is False, "looking for updates on disk needs no online access"
    assert (found["first_offline"], found["second_offline"]) == (False, False), "but Blender asks for it to install"
    assert (found["first_offered"], found["first_installed"], found["first_enabled"]) == ("0.1.0", "0.1.0", True)
    assert (found["second_offered"], found["before_update"]) == ("0.9.0", "0.1.0")
    assert (found["second_installed"], found["second_enabled"]) == ("0.9.0", True)
