"""Choose, add and forget clips."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
