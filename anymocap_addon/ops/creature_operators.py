"""Choose and add creatures and their project folder."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
