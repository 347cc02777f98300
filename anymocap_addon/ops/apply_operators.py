"""Operators that put a finished motion onto the artist's armature, as one undo step."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
