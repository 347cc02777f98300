"""Check the worker's Python, and set up one with CUDA."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
