"""What the colours in the picture mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.confidence_colour import confidence_colours
from ...ops.overlay_place import Box, Place
from .look import Look
from .marks import OUTLINE, Areas, Canvas, Colour, Lines, rgba
from .text import WHITE, draw_text, text_width
from .two_view import BONE, MISS

TEXT_PX = 10.0
STEPS = 24
RAMP_PX = (72.0, 7.0)
ROOM_FOR_CONFIDENT_PX, KEY_PX, GAP_PX, MARGIN_PX = 70.0, 16.0, 5.0, 8.0
LEAST_WIDTH_PX = 420.0  # narrower pictures have no room for it


@dataclass(frozen=True)
class LegendMarks:
    """The ramp of confidence with its left end; for each kind of line a stroke, its word and the word's left end."""

    ramp: Areas
    left: float
    keys: tuple[tuple[Lines, str, float], ...]

    @staticmethod
    def make(place: Place, look: Look, fitted: bool) -> LegendMarks | None:
        """None where there is no room.

        Args:
            fitted: there are lines of a fit to be told apart.
        """
        if place.picture.w < LEAST_WIDTH_PX * place.ui_scale:
            return None
        left = place.picture.right - (RAMP_PX[0] + ROOM_FOR_CONFIDENT_PX) * place.ui_scale
        ramp = Areas.make(_ramp(place, left) if look.keypoints else [])
        return LegendMarks(ramp, left, _keys(place, look) if fitted else ())


def draw_legend(canvas: Canvas, place: Place, look: Look, marks: LegendMarks) -> None:
    """Draw it along the picture's lower edge."""
    size, scale = TEXT_PX * place.ui_scale, place.ui_scale
    y = place.picture.y + MARGIN_PX * scale
    marks.ramp.draw()
    if look.keypoints:
        draw_text("doubtful", marks.left - GAP_PX * scale, y, size, WHITE, "right")
        draw_text("confident", marks.left + (RAMP_PX[0] + GAP_PX) * scale, y, size, WHITE)
    for stroke, word, x in marks.keys:
        stroke.draw(canvas, 2.0 * scale)
        draw_text(word, x, y, size, WHITE)


def _keys(place: Place, look: Look) -> tuple[tuple[Lines, str, float], ...]:
    size, scale = TEXT_PX * place.ui_scale, place.ui_scale
    x, y = place.picture.x + MARGIN_PX * scale, place.picture.y + MARGIN_PX * scale + size * 0.35
    keys = []
    for shown, word, colour in ((look.skeleton, "fit", BONE), (look.residuals, "error", MISS)):
        if shown:
            end = x + KEY_PX * scale
            keys.append((Lines.make(np.array([[[x, y], [end, y]]]), np.array(colour)), word, end + GAP_PX * scale))
            x = end + 3 * GAP_PX * scale + text_width(word, size)
    return tuple(keys)


def _ramp(place: Place, left: float) -> list[tuple[Box, Colour]]:
    width, height = RAMP_PX[0] * place.ui_scale / STEPS, RAMP_PX[1] * place.ui_scale
    y = place.picture.y + MARGIN_PX * place.ui_scale
    edge = Box(left - 1, y - 1, RAMP_PX[0] * place.ui_scale + 2, height + 2)
    steps = [
        (Box(left + number * width, y, width, height), rgba(colour))
        for number, colour in enumerate(confidence_colours(np.linspace(0, 1, STEPS)))
    ]
    return [(edge, OUTLINE), *steps]
