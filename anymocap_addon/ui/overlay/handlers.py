"""Draw handlers of the overlay."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
