"""The real zip in a real Blender."""

from __future__ import annotations

from pathlib import Path

import pytest
from extension_zip import build_extension_zip
from real_blender import RealBlender, install, sandbox_or_skip


@pytest.fixture(scope="session")
def extension_zip() -> Path:
    """The zip of the working tree for the Blender that the tests have."""
    sandbox_or_skip()
    return build_extension_zip()


@pytest.fixture
def empty_blender(tmp_path: Path) -> RealBlender:
    """A Blender that nothing is installed in."""
    sandbox_or_skip()
    return RealBlender(tmp_path / "user")


@pytest.fixture(scope="session")
def blender(extension_zip: Path, tmp_path_factory: pytest.TempPathFactory) -> RealBlender:
    """A Blender with the extension installed and enabled."""
    blender = RealBlender(tmp_path_factory.mktemp("user"))
    ended = install(blender, extension_zip)
    assert ended.code == 0, ended.output
    return blender
