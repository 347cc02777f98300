"""Dots, lines and areas as vertex arrays and batches: built once for what is shown, drawn as often as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gpu
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...blender.draw import vertex_buffer
from ...ops.overlay_place import Box
from .shaders import blenders, dot_shader

Array = NDArray[np.float64]
Colour = tuple[float, float, float, float]

OUTLINE: Colour = (0.07, 0.08, 0.1, 1.0)
DOT_CORE = 0.72  # share of a dot's radius within its outline
_SQUARE = np.array([[-1, -1], [1, -1], [1, 1], [-1, -1], [1, 1], [-1, 1]], float)


@dataclass(frozen=True)
class Canvas:
    """What is drawn into: a region or an offscreen.

    Attributes:
        width, height: px.
        linear: it takes linear light (the 3D view), not sRGB values (an offscreen).
    """

    width: int
    height: int
    linear: bool

    @property
    def matrix(self) -> Matrix:
        """Region pixels to clip space."""
        return Matrix(
            ((2 / self.width, 0, 0, -1), (0, 2 / self.height, 0, -1), (0, 0, 1, 0), (0, 0, 0, 1))
        )  # fmt: skip


def rgba(colour: Any, alpha: float = 1.0) -> Colour:
    """A colour 0..255 as floats."""
    red, green, blue = (float(value) / 255.0 for value in colour[:3])
    return red, green, blue, alpha


def _batch(kind: str, attributes: dict[str, Array]) -> gpu.types.GPUBatch | None:
    """A batch of float attributes (n, k); None without vertices, which Blender would refuse."""
    if not len(next(iter(attributes.values()))):
        return None
    arrays = {name: np.ascontiguousarray(values, np.float32) for name, values in attributes.items()}
    return gpu.types.GPUBatch(type=kind, buf=vertex_buffer(arrays))


@dataclass(frozen=True)
class Dots:
    """Round dots with an outline."""

    batch: gpu.types.GPUBatch | None

    @staticmethod
    def make(centres: Array, radii: Array, colours: Array) -> Dots:
        """Dots in the order of drawing.

        Args:
            centres: (n, 2) region px. radii: (n,) px, outline included. colours: (n, 4) 0..1.
        """
        corners = centres[:, None] + _SQUARE * radii[:, None, None]
        return Dots(
            _batch(
                "TRIS",
                {
                    "pos": corners.reshape(-1, 2),
                    "at": np.tile(_SQUARE, (len(centres), 1)),
                    "colour": np.repeat(colours, len(_SQUARE), 0),
                },
            )
        )

    def draw(self, canvas: Canvas, outline: Colour = OUTLINE, core: float = DOT_CORE) -> None:
        """Draw them."""
        if self.batch is None:
            return
        shader = dot_shader()
        shader.bind()
        shader.uniform_float("mvp", canvas.matrix)
        shader.uniform_float("outline", outline)
        shader.uniform_float("core", core)
        shader.uniform_float("linear", float(canvas.linear))
        self.batch.draw(shader)


@dataclass(frozen=True)
class Lines:
    """Lines of one width."""

    batch: gpu.types.GPUBatch | None

    @staticmethod
    def make(ends: Array, colours: Array) -> Lines:
        """Separate lines.

        Args:
            ends: (n, 2, 2) region px. colours: (n, 4), or (4,) for all.
        """
        positions = np.concatenate([ends.reshape(-1, 2), np.zeros((2 * len(ends), 1))], 1)
        every = np.repeat(np.broadcast_to(colours, (len(ends), 4)), 2, 0)
        return Lines(_batch("LINES", {"pos": positions, "color": every}))

    @staticmethod
    def path(points: Array, colour: Colour) -> Lines:
        """One line through (n, 2) region px."""
        return Lines.make(np.stack([points[:-1], points[1:]], 1), np.array(colour))

    def draw(self, canvas: Canvas, width: float) -> None:
        """Draw them `width` px wide."""
        if self.batch is None:
            return
        shader = blenders("POLYLINE_FLAT_COLOR")
        shader.bind()
        shader.uniform_float("viewportSize", (canvas.width, canvas.height))
        shader.uniform_float("lineWidth", width)
        self.batch.draw(shader)


@dataclass(frozen=True)
class Areas:
    """Plain rectangles, and areas under curves."""

    batch: gpu.types.GPUBatch | None

    @staticmethod
    def make(boxes: list[tuple[Box, Colour]]) -> Areas:
        """Rectangles in the order of drawing."""
        low = np.array([(box.x, box.y) for box, _ in boxes], float).reshape(-1, 1, 2)
        size = np.array([(box.w, box.h) for box, _ in boxes], float).reshape(-1, 1, 2)
        positions = low + (_SQUARE + 1) / 2 * size
        colours = np.repeat(np.array([colour for _, colour in boxes], float).reshape(-1, 4), len(_SQUARE), 0)
        return Areas(_batch("TRIS", {"pos": positions.reshape(-1, 2), "color": colours}))

    @staticmethod
    def under(points: Array, base: float, colour: Colour) -> Areas:
        """The area between a curve (n, 2), x growing, and the level `base`."""
        low = np.stack([points[:, 0], np.full(len(points), base)], 1)
        positions = np.stack([low, points], 1).reshape(-1, 2)
        return Areas(_batch("TRI_STRIP", {"pos": positions, "color": np.tile(np.array(colour), (len(positions), 1))}))

    def draw(self) -> None:
        """Draw them."""
        if self.batch is None:
            return
        shader = blenders("FLAT_COLOR")
        shader.bind()
        self.batch.draw(shader)


def inside(ends: Array, box: Box) -> Array:
    """The parts of lines (n, 2, 2) that lie in the box (Liang and Barsky), those outside left out: (m, 2, 2)."""
    start, way = ends[:, 0], ends[:, 1] - ends[:, 0]
    low, high = np.array([box.x, box.y]), np.array([box.right, box.top])
    steps = np.where(way == 0, 1e-12, way)
    first, second = (low - start) / steps, (high - start) / steps
    enter = np.clip(np.minimum(first, second).max(1), 0.0, 1.0)
    leave = np.clip(np.maximum(first, second).min(1), 0.0, 1.0)
    kept = enter < leave
    cut = start[:, None] + np.stack([enter, leave], 1)[..., None] * way[:, None]
    return np.asarray(cut[kept])
