"""What the overlay holds between two drawings that no file needs to keep."""

from __future__ import annotations

import traceback
from dataclasses import dataclass

from .overlay_place import Part


@dataclass
class OverlayState:
    """State of the overlay in this Blender.

    Attributes:
        fault: why it switched itself off, one sentence; empty while it works.
        part: what the mouse is over; hovered: the clip's frame that it is over in the strip.
    """

    fault: str = ""
    part: Part | None = None
    hovered: int | None = None

    def fail(self, error: Exception) -> None:
        """Switch the overlay off after an error in a draw, which would come again at every redraw; says so once."""
        traceback.print_exc()
        self.fault = f"{type(error).__name__}: {error}"


STATE = OverlayState()
