"""A window of a real Blender with the installed zip, and a prepared project that the scenarios share copies of."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from extension_zip import build_extension_zip
from real_blender import RealBlender, install, prepare_project, sandbox_or_skip, show_no_splash


@pytest.fixture(scope="session")
def blender(tmp_path_factory: pytest.TempPathFactory) -> RealBlender:
    """A Blender with the extension installed and enabled, as the artist has it."""
    sandbox_or_skip()
    blender = RealBlender(tmp_path_factory.mktemp("user"))
    ended = install(blender, build_extension_zip())
    assert ended.code == 0, ended.output
    show_no_splash(blender)
    return blender


@pytest.fixture(scope="session")
def prepared(blender: RealBlender, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a captured clip, poses to train on and scene.blend."""
    return prepare_project(blender, tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def project(prepared: Path, tmp_path: Path) -> Path:
    """A copy of the prepared project."""
    return shutil.copytree(prepared, tmp_path / "project")
