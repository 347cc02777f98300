"""A window of a real Blender with the installed zip, and a prepared project that the scenarios share copies of."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from extension_zip import build_extension_zip
from real_blender import RealBlender, install, sandbox_or_skip

_PREFERENCES = (
    "import bpy; view = bpy.context.preferences.view; view.show_splash = False;"
    "bpy.context.preferences.use_preferences_save = False; bpy.ops.wm.save_userpref()"
)


@pytest.fixture(scope="session")
def blender(tmp_path_factory: pytest.TempPathFactory) -> RealBlender:
    """A Blender with the extension installed and enabled, as the artist has it."""
    sandbox_or_skip()
    blender = RealBlender(tmp_path_factory.mktemp("user"))
    ended = install(blender, build_extension_zip())
    assert ended.code == 0, ended.output
    ended = blender.run("-b", "--python-exit-code", "3", "--python-expr", _PREFERENCES)
    assert ended.code == 0, ended.output
    return blender


@pytest.fixture(scope="session")
def prepared(blender: RealBlender, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a captured clip, poses to train on and scene.blend."""
    project = tmp_path_factory.mktemp("prepared")
    ended = blender.script(Path(__file__).parent / "prepare.py", project, timeout_s=400)
    assert ended.code == 0, ended.output
    return project


@pytest.fixture
def project(prepared: Path, tmp_path: Path) -> Path:
    """A copy of the prepared project."""
    return shutil.copytree(prepared, tmp_path / "project")
