"""What the worker lacks while it is Blender's own Python, for panel and preferences to say before a stage fails."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..jobs.launch import chosen_python
from ..jobs.worker_packages import missing_packages, missing_packages_error
from .preference_values import preference_values

if TYPE_CHECKING:
    from bpy.types import Context


def worker_lack(context: Context) -> str:
    """Which packages are missing and the remedy; empty when none is, or when another Python is the worker."""
    if chosen_python() or preference_values(context).worker_python:
        return ""
    missing = _missing()
    return str(missing_packages_error(list(missing))) if missing else ""


@functools.cache
def _missing() -> tuple[str, ...]:
    """Looked up once: Blender loads this module anew when another zip is installed."""
    return tuple(missing_packages())
