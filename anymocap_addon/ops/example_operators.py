"""Try the example: the built-in creature with a clip that is already read."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
