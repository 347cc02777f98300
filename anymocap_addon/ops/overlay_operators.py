"""Show, place and drag the overlay."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
