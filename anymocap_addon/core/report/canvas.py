"""A drawing surface for the report: lines, boxes and text by cv2, drawn at twice the size and averaged down.

matplotlib and what it needs would add 75 MB to the extension for one picture; cv2 is there for the clips anyway.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Colour = tuple[int, int, int]

SUPERSAMPLE = 2
FONT = cv2.FONT_HERSHEY_SIMPLEX
FONT_UNITS = 30.0  # height in px of a line of the font at scale 1

PAPER: Colour = (252, 252, 253)
PANEL: Colour = (255, 255, 255)
INK: Colour = (31, 41, 51)
MUTED: Colour = (84, 96, 110)
GRID: Colour = (226, 230, 235)
BLUE: Colour = (52, 108, 205)
ORANGE: Colour = (224, 122, 52)
GREEN: Colour = (38, 150, 108)
RED: Colour = (205, 62, 82)


@dataclass(frozen=True)
class Box:
    """A rectangle of the picture, px: left, top, width, height."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def bottom(self) -> float:
        return self.y + self.h

    def inset(self, left: float, top: float, right: float, bottom: float) -> Box:
        """The box without these margins."""
        return Box(self.x + left, self.y + top, self.w - left - right, self.h - top - bottom)


def plain(text: str) -> str:
    """Text in the letters that the font has: accents fall away, other scripts become '?'."""
    folded = unicodedata.normalize("NFKD", text)
    letters = "".join(c for c in folded if not unicodedata.combining(c))
    return letters.encode("ascii", "replace").decode("ascii")


class Canvas:
    """An RGB picture of `width` x `height` px to draw on; coordinates are px of the finished picture."""

    def __init__(self, width: int, height: int, colour: Colour = PAPER) -> None:
        self.width, self.height = width, height
        self.pixels: Picture = np.full((height * SUPERSAMPLE, width * SUPERSAMPLE, 3), colour, np.uint8)

    @staticmethod
    def _at(x: float, y: float) -> tuple[int, int]:
        return round(x * SUPERSAMPLE), round(y * SUPERSAMPLE)

    def box(self, box: Box, fill: Colour | None = None, line: Colour | None = None, width: float = 1) -> None:
        """A filled or outlined rectangle."""
        corners = self._at(box.x, box.y), self._at(box.right, box.bottom)
        if fill is not None:
            (left, top), (right, bottom) = corners
            self.pixels[max(0, top) : max(0, bottom), max(0, left) : max(0, right)] = fill
        if line is not None:
            cv2.rectangle(self.pixels, *corners, line, round(width * SUPERSAMPLE), cv2.LINE_AA)

    def line(self, a: tuple[float, float], b: tuple[float, float], colour: Colour, width: float = 1) -> None:
        """A straight line."""
        cv2.line(self.pixels, self._at(*a), self._at(*b), colour, max(1, round(width * SUPERSAMPLE)), cv2.LINE_AA)

    def polyline(self, points: NDArray[np.float64], colour: Colour, width: float = 1.5) -> None:
        """An open line through points (N, 2)."""
        if len(points) == 1:
            self.dot((float(points[0, 0]), float(points[0, 1])), 2, colour)
            return
        at = np.round(points * SUPERSAMPLE).astype(np.int32)[:, None]
        cv2.polylines(self.pixels, [at], False, colour, max(1, round(width * SUPERSAMPLE)), cv2.LINE_AA)

    def area(self, points: NDArray[np.float64], colour: Colour) -> None:
        """A filled polygon through points (N, 2)."""
        cv2.fillPoly(self.pixels, [np.round(points * SUPERSAMPLE).astype(np.int32)], colour, cv2.LINE_AA)

    def dot(self, at: tuple[float, float], radius: float, fill: Colour, line: Colour | None = None) -> None:
        """A filled circle, with an outline when `line` is given."""
        cv2.circle(self.pixels, self._at(*at), round(radius * SUPERSAMPLE), fill, -1, cv2.LINE_AA)
        if line is not None:
            cv2.circle(self.pixels, self._at(*at), round(radius * SUPERSAMPLE), line, SUPERSAMPLE, cv2.LINE_AA)

    def ring(self, at: tuple[float, float], radius: float, colour: Colour, width: float = 1.5) -> None:
        """An open circle."""
        thick = max(1, round(width * SUPERSAMPLE))
        cv2.circle(self.pixels, self._at(*at), round(radius * SUPERSAMPLE), colour, thick, cv2.LINE_AA)

    @staticmethod
    def text_width(text: str, size: float, bold: bool = False) -> float:
        """Width in px of a text of that size."""
        (width, _), _ = cv2.getTextSize(plain(text), FONT, size * SUPERSAMPLE / FONT_UNITS, 2 if bold else 1)
        return float(width) / SUPERSAMPLE

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 13,
        colour: Colour = INK,
        *,
        align: str = "left",
        bold: bool = False,
    ) -> None:
        """Text whose middle line is at `y`; `x` is its left end, middle or right end by `align`."""
        shown = plain(text)
        width = self.text_width(shown, size, bold)
        left = x - {"left": 0.0, "middle": width / 2, "right": width}[align]
        baseline = y + size * 0.35
        scale, thickness = size * SUPERSAMPLE / FONT_UNITS, max(1, round(size / (7 if bold else 9)))
        cv2.putText(self.pixels, shown, self._at(left, baseline), FONT, scale, colour, thickness, cv2.LINE_AA)

    def fitted_text(self, x: float, y: float, text: str, room: float, **style: Any) -> None:
        """Text, shortened with '..' where it would be wider than `room`."""
        size, bold, shown = style.get("size", 13), style.get("bold", False), plain(text)
        while len(shown) > 3 and self.text_width(shown, size, bold) > room:
            shown = shown[: -3 if shown.endswith("..") else -1] + ".."
        self.text(x, y, shown, **style)

    def paste(self, picture: Picture, box: Box, smooth: bool = True) -> None:
        """A picture (H, W, 3) RGB stretched over `box`; without `smooth` its pixels stay sharp squares."""
        (left, top), (right, bottom) = self._at(box.x, box.y), self._at(box.right, box.bottom)
        shrinks = picture.shape[0] > bottom - top
        method = (cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR) if smooth else cv2.INTER_NEAREST
        self.pixels[top:bottom, left:right] = cv2.resize(picture, (right - left, bottom - top), interpolation=method)

    def picture(self) -> Picture:
        """The finished picture (height, width, 3), RGB."""
        return np.asarray(cv2.resize(self.pixels, (self.width, self.height), interpolation=cv2.INTER_AREA), np.uint8)
