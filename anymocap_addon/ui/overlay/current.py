"""The clip that the overlays show; see ops/current_capture.py, where operators find it too."""

from __future__ import annotations

from ...ops.current_capture import clock, current_view

__all__ = ["clock", "current_view"]
