"""Look through the front and the side camera of the two-view layout."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
