"""The settings of every stage as PropertyGroups of the Scene, made from the registry."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
