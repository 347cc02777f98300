"""Pictures of a project in a panel: the reference, the training poses, reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy.utils.previews

_collections: list[Any] = []


def picture_icon(path: Path, made: str) -> int:
    """The icon of a picture, or of a film's first frame; it appears as soon as Blender has loaded it in the background.

    Args:
        made: when the picture was made; another time loads it again.
    """
    name = f"{path} {made}"
    if name not in _collections[0]:
        _collections[0].load(name, str(path), "MOVIE" if path.suffix == ".mp4" else "IMAGE")
    icon: int = _collections[0][name].icon_id
    return icon


def register() -> None:
    """Open the collection of pictures."""
    _collections.append(bpy.utils.previews.new())


def unregister() -> None:
    """Free the pictures."""
    bpy.utils.previews.remove(_collections.pop())
