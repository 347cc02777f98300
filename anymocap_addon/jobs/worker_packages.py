"""Which packages of the worker this Python can import, found without loading any of them.

A zip brings them as wheels for one platform and one Python. They are missing when the zip was built without torch,
when the extension's folder was copied by hand, and when Blender moved on to another Python.
"""

from __future__ import annotations

import importlib.util
import platform
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from ..core.errors import BadInputError

# The compiled part of each: one that was made for another Python is there but cannot be loaded.
_COMPILED: dict[str, str | None] = {"torch": "_C", "cv2": "cv2", "imageio_ffmpeg": None}
# Needed by some stages only: film and the generalist.
_FOR_SOME_STAGES = ("fal_client", "transformers", "safetensors")


def missing_packages() -> list[str]:
    """Names of the modules that every creature needs and this Python lacks; light enough for a panel's refresh.

    This is about the Python of this process, which the worker shares unless another one was chosen.
    """
    return [name for name, compiled in _COMPILED.items() if not _can_import(name, compiled)]


def missing_packages_error(missing: list[str]) -> BadInputError:
    """What to tell the artist when `missing_packages()` is not empty, or a worker's import failed.

    Args:
        missing: module names, at least one.
    """
    them = "it" if len(missing) == 1 else "them"
    return BadInputError(
        f"Python {_python()} ({sys.executable}) lacks {', '.join(missing)}.",
        hint=f"Install the AnyMoCap zip for {_system()} and Python {_python()}, which brings {them}, "
        f"or choose a Python that has {them} in the add-on's preferences.",
    )


def is_worker_package(module: str | None) -> bool:
    """Whether a module that could not be imported is one that the zip brings."""
    return (module or "").partition(".")[0] in {*_COMPILED, *_FOR_SOME_STAGES}


def _can_import(name: str, compiled: str | None) -> bool:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    if spec is None or spec.origin is None:  # a folder without __init__.py is what a half removed package leaves
        return False
    if compiled is None:
        return True
    folder = Path(spec.origin).parent
    return any((folder / f"{compiled}{suffix}").is_file() for suffix in EXTENSION_SUFFIXES)


def _python() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _system() -> str:
    name = {"Darwin": "macOS"}.get(platform.system(), platform.system())
    return f"{name} {platform.machine()}"
