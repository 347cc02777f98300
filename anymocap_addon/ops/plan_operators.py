"""Operators that run several stages one after the other."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
