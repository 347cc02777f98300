"""Orthographic pictures of a surface with a metric grid, lines and dots: numpy alone, so any process can draw them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .voxel_solid import sampled_surface

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]
Colour = tuple[int, int, int]

# View -> signed axes of picture right, picture up and towards the eye; front and side as in the layout.
VIEWS: dict[str, tuple[str, str, str]] = {
    "front": ("+x", "+z", "-y"),
    "side": ("-y", "+z", "-x"),
    "top": ("-y", "+x", "+z"),
}
WALL: Colour = (236, 237, 239)
GRID: Colour = (205, 208, 213)
GROUND: Colour = (140, 146, 156)
TEXT: Colour = (90, 96, 106)
SKIN: Colour = (158, 166, 178)
MARGIN = 34  # px around the creature; holds the figures of the grid
LINES = 9  # at most about so many grid lines along the longest side
_FONT = dict(
    zip(
        "0123456789.-m",
        (
            "111101101101111 010110010010111 111001111100111 111001111001111 101101111001001 111100111001111 "
            "111100111101111 111001010010010 111101111101111 111101111001111 000000000000010 000000111000000 "
            "000000110111101"
        ).split(),
        strict=True,
    )
)


@dataclass(frozen=True, eq=False)
class Surface:
    """points (V, 3) metres, triangles (T, 3), colours (V, 3) RGB 0..255."""

    points: Array
    triangles: NDArray[np.int64]
    colours: Array

    @classmethod
    def plain(cls, points: Array, triangles: NDArray[np.int64]) -> Surface:
        """All of one colour."""
        return cls(points, triangles, np.tile(np.array(SKIN, float), (len(points), 1)))


class OrthoPicture:
    """One view of a surface to scale.

    Attributes:
        pixels: (H, W, 3) RGB.
        m_per_px: metres of a pixel.
    """

    def __init__(self, view: str, low: Array, high: Array, m_per_px: float) -> None:
        """
        Args:
            view: front, side or top.
            low, high: (3,) corners of what is shown, metres; m_per_px: scale.
        """
        self.axes = [("xyz".index(name[1]), -1.0 if name[0] == "-" else 1.0) for name in VIEWS[view]]
        self.m_per_px = m_per_px
        corners = self._flat(np.stack([low, high]))
        self._left, self._top = float(corners[:, 0].min()), float(corners[:, 1].max())
        extent = np.ptp(corners[:, :2], axis=0) / m_per_px
        width, height = int(np.ceil(extent[0])) + 2 * MARGIN, int(np.ceil(extent[1])) + 2 * MARGIN
        self.pixels: Picture = np.empty((height, width, 3), np.uint8)
        self.pixels[:] = WALL
        self._grid(view)

    def _flat(self, places: Array) -> Array:
        """(..., 3) metres right, up and towards the eye."""
        return np.stack([places[..., axis] * sign for axis, sign in self.axes], -1)

    def project(self, places: Array) -> Array:
        """(..., 2) column and row in px of places (..., 3) in metres."""
        flat = self._flat(np.asarray(places, float))
        return np.stack(
            [(flat[..., 0] - self._left) / self.m_per_px + MARGIN, (self._top - flat[..., 1]) / self.m_per_px + MARGIN],
            -1,
        )

    def surface(self, surface: Surface) -> None:
        """Draw it lit from the eye, nearest points over farther ones."""
        places, triangle, weights = sampled_surface(surface.points, surface.triangles, 0.6 * self.m_per_px)
        corners = surface.points[surface.triangles]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-15)
        facing = np.abs(self._flat(normal)[triangle] @ np.array([0.25, 0.35, 0.9]))
        tint = np.einsum("sk,skc->sc", weights, surface.colours[surface.triangles[triangle]])
        colour = np.clip(tint * (0.45 + 0.6 * facing[:, None]), 0, 255)
        order = np.argsort(self._flat(places)[:, 2], kind="stable")  # the nearest are written last
        column, row = np.floor(self.project(places[order])).astype(int).T
        inside = (column >= 0) & (row >= 0) & (column < self.pixels.shape[1]) & (row < self.pixels.shape[0])
        self.pixels[row[inside], column[inside]] = colour[order][inside]

    def line(self, start: Array, end: Array, colour: Colour, width: int = 2) -> None:
        """A line between two places in metres."""
        ends = self.project(np.stack([start, end]))
        count = int(np.abs(ends[1] - ends[0]).max()) * 2 + 2
        for place in ends[0] + np.linspace(0, 1, count)[:, None] * (ends[1] - ends[0]):
            self._block(place, width, colour)

    def dot(self, place: Array, colour: Colour, radius: int = 3) -> None:
        """A disc around a place in metres, with a dark rim."""
        column, row = self.project(place)
        rows, columns = np.mgrid[
            int(row) - radius - 2 : int(row) + radius + 4, int(column) - radius - 2 : int(column) + radius + 4
        ]
        away = np.hypot(columns + 0.5 - column, rows + 0.5 - row)
        inside = (rows >= 0) & (columns >= 0) & (rows < self.pixels.shape[0]) & (columns < self.pixels.shape[1])
        for limit, tint in ((radius + 1.2, (30, 32, 36)), (radius, colour)):
            drawn = inside & (away <= limit)
            self.pixels[rows[drawn], columns[drawn]] = tint

    def text(self, words: str, column: int, row: int, colour: Colour = TEXT, scale: int = 2) -> None:
        """Figures, full stop, minus and m, from the upper left corner in px."""
        for letter in words:
            glyph = np.array([int(bit) for bit in _FONT[letter]], bool).reshape(5, 3).repeat(scale, 0).repeat(scale, 1)
            rows, columns = np.nonzero(glyph)
            rows, columns = rows + row, columns + column
            inside = (rows >= 0) & (columns >= 0) & (rows < self.pixels.shape[0]) & (columns < self.pixels.shape[1])
            self.pixels[rows[inside], columns[inside]] = colour
            column += 4 * scale

    def _block(self, place: Array, width: int, colour: Colour) -> None:
        column, row = (int(v) for v in np.floor(place - (width - 1) / 2))
        self.pixels[max(row, 0) : max(row + width, 0), max(column, 0) : max(column + width, 0)] = colour

    def _grid(self, view: str) -> None:
        """Lines at round metres with their figures; the ground's is stronger."""
        span = max(self.pixels.shape[:2]) * self.m_per_px
        step = grid_step(span)
        for axis, length in ((0, self.pixels.shape[1]), (1, self.pixels.shape[0])):
            start = self._left - MARGIN * self.m_per_px if axis == 0 else self._top + MARGIN * self.m_per_px
            low = start if axis == 0 else start - length * self.m_per_px
            first = int(np.ceil(low / step))
            for k in range(first, int(np.floor((low + length * self.m_per_px) / step)) + 1):
                pixel = (
                    int((k * step - start) / self.m_per_px) if axis == 0 else int((start - k * step) / self.m_per_px)
                )
                if not 0 <= pixel < length:
                    continue
                ground = axis == 1 and k == 0 and view != "top"
                where = (slice(None), pixel) if axis == 0 else (pixel, slice(None))
                self.pixels[where] = GROUND if ground else GRID
                value = k * step * self.axes[axis][1]
                label = f"{value:.{max(0, -int(np.floor(np.log10(step))))}f}"
                label = label if k else "0"
                if axis == 0:
                    self.text(label, pixel + 3, self.pixels.shape[0] - 13)
                else:
                    self.text(label + ("m" if k == 0 else ""), 3, pixel - 12)


def grid_step(span: float) -> float:
    """Metres between grid lines: 1, 2 or 5 times a power of ten."""
    rough = span / LINES
    power = 10.0 ** np.floor(np.log10(rough))
    return float(power * min((m for m in (1.0, 2.0, 5.0, 10.0) if m * power >= rough), default=10.0))


def beside(pictures: list[Picture], columns: int = 2) -> Picture:
    """Pictures in rows of `columns`, on the wall's colour."""
    rows = [pictures[k : k + columns] for k in range(0, len(pictures), columns)]
    widths = [max(row[c].shape[1] for row in rows if c < len(row)) for c in range(min(columns, len(pictures)))]
    heights = [max(picture.shape[0] for picture in row) for row in rows]
    sheet = np.empty((sum(heights), sum(widths), 3), np.uint8)
    sheet[:] = WALL
    for r, row in enumerate(rows):
        for c, picture in enumerate(row):
            top, left = sum(heights[:r]), sum(widths[:c])
            sheet[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return sheet
