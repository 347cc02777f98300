"""A Python that has Blender and what Blender itself brings, and nothing else that happens to be installed here."""

from __future__ import annotations

import importlib.util
import venv
from pathlib import Path

# bpy from the package registry asks for these, which a Blender program carries in its own Python.
BLENDERS_OWN = (
    "bpy",
    "numpy",
    "numpy.libs",
    "requests",
    "urllib3",
    "certifi",
    "idna",
    "charset_normalizer",
    "zstandard",
)


def make_clean_python(folder: Path) -> Path:
    """A virtual environment whose packages are links to ours; returns its interpreter."""
    spec = importlib.util.find_spec("bpy")
    assert spec is not None and spec.origin is not None, "requirements/blender.txt is not installed"
    ours = Path(spec.origin).parents[1]
    venv.create(folder, with_pip=False, symlinks=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    for name in BLENDERS_OWN:
        if (ours / name).exists():
            (packages / name).symlink_to(ours / name)
    return folder / "bin" / "python"
