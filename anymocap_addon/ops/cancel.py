"""Cancel what is at work or queued."""

from __future__ import annotations

CLASSES: tuple[type, ...] = ()
