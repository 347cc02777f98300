"""The overlay's words: clip, frame, time, error and confidence above the picture, the views' names within it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.capture_view import CaptureView
from ...core.confidence_colour import RAMP
from ...ops.overlay_place import CORNER_PX, Place
from .look import Moment
from .marks import Areas, Canvas, Colour, Lines, rgba
from .strip import PANEL
from .text import MUTED, WHITE, draw_text, middle_line, text_width

CAPTION_TEXT_PX, NAME_PX = 12.0, 10.0
LEAST_NAMED_PX = 240.0  # narrower pictures have no room for the views' names
BAD: Colour = rgba(np.minimum(RAMP[0] + 30, 255))  # text needs to be lighter than an area
GAP_PX = 16.0
GRIP: Colour = (0.8, 0.82, 0.86, 0.9)
HELD: Colour = (1.0, 1.0, 1.0, 0.12)


@dataclass(frozen=True)
class CaptionMarks:
    """Batches that change with the place only."""

    bar: Areas
    held_bar: Areas
    corner: Lines

    @staticmethod
    def make(place: Place) -> CaptionMarks:
        """The bar behind the words, lighter while the mouse is over it, and the corner to resize by."""
        return CaptionMarks(
            Areas.make([(place.caption, PANEL)] if place.caption else []),
            Areas.make([(place.caption, HELD)] if place.caption else []),
            Lines.make(_corner(place), np.array(GRIP)),
        )


def draw_caption(canvas: Canvas, view: CaptureView, place: Place, moment: Moment, marks: CaptionMarks) -> None:
    """Draw the words that there is room for."""
    marks.bar.draw()
    if moment.part == "MOVE":
        marks.held_bar.draw()
    marks.corner.draw(canvas, (3.0 if moment.part == "RESIZE" else 1.5) * place.ui_scale)
    if place.caption is not None:
        _draw_bar(view, place, moment)
        if place.picture.w >= LEAST_NAMED_PX * place.ui_scale:
            _draw_view_names(view, place)


@dataclass(frozen=True)
class Words:
    """A piece of the caption.

    Attributes:
        rank: pieces of a high rank are left out first where there is little room.
        right: it stands at the right end.
    """

    text: str
    colour: Colour
    rank: int
    right: bool = False


def caption_words(view: CaptureView, moment: Moment) -> list[Words]:
    """The pieces of the caption from left to right."""
    frame, scores = moment.frame, view.scores
    pieces = [Words(view.clip, WHITE, 1), Words(f"frame {frame + 1} of {view.T}", MUTED, 0)]
    if moment.outside:
        pieces.append(Words("outside the clip", BAD, 2))
    pieces.append(Words(f"{view.det.pts[frame]:.2f} s", MUTED, 4))
    if scores.error_px is not None:
        bad = scores.error_px[frame] > scores.most_px
        pieces.append(Words(f"worst joints {scores.error_px[frame]:.1f} px", BAD if bad else WHITE, 2, right=True))
    bad = scores.confidence[frame] < scores.least_confidence
    pieces.append(Words(f"confidence {100 * scores.confidence[frame]:.0f} %", BAD if bad else WHITE, 3, right=True))
    return pieces


def _draw_bar(view: CaptureView, place: Place, moment: Moment) -> None:
    assert place.caption is not None
    bar, scale = place.caption, place.ui_scale
    size, gap = CAPTION_TEXT_PX * scale, GAP_PX * scale
    y = middle_line(bar.y, bar.h, size)
    left, right = bar.x + gap / 2, bar.right - CORNER_PX * scale - gap / 2
    pieces = _fitting(
        [(piece, text_width(piece.text, size)) for piece in caption_words(view, moment)], right - left, gap
    )
    for piece, width in pieces:
        if not piece.right:
            draw_text(piece.text, left, y, size, piece.colour)
            left += width + gap
    for piece, width in reversed(pieces):
        if piece.right:
            draw_text(piece.text, right, y, size, piece.colour, "right")
            right -= width + gap


def _fitting(pieces: list[tuple[Words, float]], room: float, gap: float) -> list[tuple[Words, float]]:
    """The pieces with their widths for which there is room, in their order."""
    kept = sorted(pieces, key=lambda pair: pair[0].rank)
    while kept and sum(width + gap for _, width in kept) - gap > room:
        kept.pop()
    return [pair for pair in pieces if pair in kept]


def _draw_view_names(view: CaptureView, place: Place) -> None:
    size = NAME_PX * place.ui_scale
    for name, u in (("front", 0), ("side", view.layout.w_front)):
        x = place.picture.x + u * place.scale + 8 * place.ui_scale
        draw_text(name, x, place.picture.top - 1.8 * size, size, WHITE)


def _corner(place: Place) -> NDArray[np.float64]:
    """Two strokes across the upper right corner, (2, 2, 2)."""
    whole, corner = place.whole, CORNER_PX * place.ui_scale
    strokes = []
    for share in (0.45, 0.75):
        reach = corner * share
        strokes.append(
            [[whole.right - reach - 2, whole.top - 3], [whole.right - 3, whole.top - reach - 2]]
        )  # fmt: skip
    return np.array(strokes)
