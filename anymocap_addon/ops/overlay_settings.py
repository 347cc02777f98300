"""What the overlay shows and where: one PropertyGroup of the Scene."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
