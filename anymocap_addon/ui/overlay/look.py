"""What of the overlay is drawn, as plain values: two equal looks of a clip's frame are the same picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...ops.overlay_place import Part


@dataclass(frozen=True)
class Look:
    """Layers of the overlay; see ops/overlay_settings.py."""

    frame: bool = True
    keypoints: bool = True
    skeleton: bool = True
    residuals: bool = True
    guides: bool = True
    caption: bool = True
    strip: bool = True
    opacity: float = 1.0

    @staticmethod
    def of(settings: Any) -> Look:
        """What the scene's settings ask for."""
        return Look(**{name: getattr(settings, name) for name in Look.__dataclass_fields__})


@dataclass(frozen=True)
class Moment:
    """The frame of the clip that is shown.

    Attributes:
        frame: 0..T-1; outside: the scene stands before the clip or after it, and this is its nearest frame.
        hovered: the frame that the mouse is over in the strip, or None; part: which handle it is over.
    """

    frame: int
    outside: bool = False
    hovered: int | None = None
    part: Part | None = None
