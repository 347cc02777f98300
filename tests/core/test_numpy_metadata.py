"""A numpy without metadata, as in Blender's own Python, still has a version for those who ask."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy

REPOSITORY = Path(__file__).resolve().parents[2]
ASK = """
import sys
sys.path[:0] = {paths!r}
from anymocap_addon.jobs.numpy_metadata import complete_numpy_metadata
from importlib.metadata import PackageNotFoundError, distributions, version
before = len(sys.meta_path)
complete_numpy_metadata()
loaded = "numpy" in sys.modules
try:
    print(len(sys.meta_path) - before, loaded, version("numpy"), len([d for d in distributions() if d.name == "numpy"]))
except PackageNotFoundError:
    print("none")
try:
    version("no-such-package")
except PackageNotFoundError:
    print("others are not made up")
"""


def asked(*paths: Path) -> list[str]:
    code = ASK.format(paths=[str(path) for path in (REPOSITORY, *paths)])
    ended = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    return ended.stdout.splitlines()


def test_numpy_without_metadata_gets_its_version(tmp_path):
    for folder in Path(numpy.__file__).parents[1].glob("numpy*"):
        if not folder.name.endswith(".dist-info"):
            (tmp_path / folder.name).symlink_to(folder)
    assert asked(tmp_path) == [f"1 False {numpy.__version__} 1", "others are not made up"]


def test_numpy_with_metadata_is_left_alone():
    assert asked(Path(numpy.__file__).parents[1])[0] == f"0 False {version('numpy')} 1"


def test_where_there_is_no_numpy_none_is_made_up():
    assert asked() == ["none", "others are not made up"]
