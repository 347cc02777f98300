"""Words of the overlay: readable on any ground."""

from __future__ import annotations

from typing import Literal

import blf
import gpu

from .marks import Colour

FONT = 0
WHITE: Colour = (0.95, 0.96, 0.97, 1.0)
MUTED: Colour = (0.72, 0.75, 0.79, 1.0)
_SHADOW_BLUR = 3  # one of the levels that blf knows: 0, 3, 5
_ROOM_FOR_DESCENDERS = 0.3  # of the size

Align = Literal["left", "centre", "right"]


def text_width(words: str, size: float) -> float:
    """Width in px of words `size` px high."""
    blf.size(FONT, size)
    width: float = blf.dimensions(FONT, words)[0]
    return width


def draw_text(words: str, x: float, y: float, size: float, colour: Colour = WHITE, align: Align = "left") -> None:
    """Write on the base line `y`, with a shadow.

    Args:
        x: left end, middle or right end. size: px.
    """
    blf.size(FONT, size)
    if align != "left":
        width = blf.dimensions(FONT, words)[0]
        x -= width / 2 if align == "centre" else width
    blf.enable(FONT, blf.SHADOW)
    blf.shadow(FONT, _SHADOW_BLUR, 0.0, 0.0, 0.0, 0.9)
    blf.shadow_offset(FONT, 0, 0)
    blf.position(FONT, round(x), round(y), 0)
    blf.color(FONT, *colour)
    blf.draw(FONT, words)
    blf.disable(FONT, blf.SHADOW)
    gpu.state.blend_set("ALPHA")  # blf switches blending off behind itself


def middle_line(low: float, height: float, size: float) -> float:
    """The base line of words that stand in the middle of a band."""
    return low + (height - size * (1 - _ROOM_FOR_DESCENDERS)) / 2
