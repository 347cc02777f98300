"""The add-on's preferences."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
