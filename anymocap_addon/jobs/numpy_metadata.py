"""Tells libraries the version of Blender's numpy, which Blender installs without the metadata that says so.

transformers refuses to be imported when it finds no metadata of numpy, although numpy itself is there.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

_WHATEVER = importlib.metadata.DistributionFinder.Context()


class _Numpy(importlib.metadata.Distribution):
    """The metadata that numpy's wheel would have brought, as far as anybody asks."""

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        import numpy

        return f"Metadata-Version: 2.1\nName: numpy\nVersion: {numpy.__version__}\n"

    def locate_file(self, path: Any) -> Path:
        import numpy

        return Path(numpy.__file__).parents[1] / str(path)


class _Finder(importlib.metadata.DistributionFinder):
    """Finds that metadata and nothing else."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        return None

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context = _WHATEVER
    ) -> Iterable[importlib.metadata.Distribution]:
        return [_Numpy()] if context.name in (None, "numpy") else []


def complete_numpy_metadata() -> None:
    """Make numpy's version known in this process where numpy is there but its metadata is not. Imports nothing."""
    if importlib.util.find_spec("numpy") is None:
        return
    try:
        importlib.metadata.version("numpy")
    except importlib.metadata.PackageNotFoundError:
        sys.meta_path.append(_Finder())
