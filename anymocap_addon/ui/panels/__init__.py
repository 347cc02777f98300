"""The N-panel AnyMoCap of the 3D view: one sub-panel for each step of the work."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
