"""Bring the rigged creature into the open file."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
