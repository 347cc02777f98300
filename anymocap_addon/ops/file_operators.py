"""Open folders and logs, and clean caches."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
