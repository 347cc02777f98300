"""Paths in settings: relative to the project where they are recorded, absolute where they are used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .stage import Stage


def portable_paths(stage: Stage, settings: dict[str, Any], root: Path) -> dict[str, Any]:
    """Settings as they are recorded: paths inside the project are relative to it, so that it can be moved."""
    values = dict(settings)
    for setting in stage.settings:
        if setting.kind == "path" and values[setting.name]:
            path = Path(root, values[setting.name]).resolve()
            values[setting.name] = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    return values


def absolute_paths(stage: Stage, settings: dict[str, Any], root: Path) -> dict[str, Any]:
    """Settings as a step gets them: every path absolute."""
    values = dict(settings)
    for setting in stage.settings:
        if setting.kind == "path" and values[setting.name]:
            values[setting.name] = str(Path(root, values[setting.name]))
    return values
