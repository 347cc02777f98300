"""Jump to the next frame that needs a look."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
