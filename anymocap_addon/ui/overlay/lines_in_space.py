"""Lines between points in space, drawn with a width in pixels."""

from __future__ import annotations

from dataclasses import dataclass

import gpu
import numpy as np
from numpy.typing import NDArray

from ...blender.draw import vertex_buffer
from .marks import Canvas, Colour
from .shaders import blenders

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LinesInSpace:
    """Separate lines; `gpu.matrix` says where their space lies."""

    batch: gpu.types.GPUBatch | None
    shaded: bool

    @staticmethod
    def make(ends: Array, colours: Array | None = None) -> LinesInSpace:
        """Lines from `ends` (n, 2, 3), with a colour (n, 2, 4) at each end, or one for all when they are drawn."""
        if not len(ends):  # Blender refuses a batch without vertices
            return LinesInSpace(None, colours is not None)
        attributes = {"pos": ends.reshape(-1, 3).astype(np.float32)}
        if colours is not None:
            attributes["color"] = colours.reshape(-1, 4).astype(np.float32)
        return LinesInSpace(gpu.types.GPUBatch(type="LINES", buf=vertex_buffer(attributes)), colours is not None)

    def draw(self, canvas: Canvas, width: float, colour: Colour = (1.0, 1.0, 1.0, 1.0)) -> None:
        """Draw them `width` px wide; `colour` counts where they have none of their own."""
        if self.batch is None:
            return
        shader = blenders("POLYLINE_SMOOTH_COLOR" if self.shaded else "POLYLINE_UNIFORM_COLOR")
        shader.bind()
        shader.uniform_float("viewportSize", (canvas.width, canvas.height))
        shader.uniform_float("lineWidth", width)
        if not self.shaded:
            shader.uniform_float("color", colour)
        self.batch.draw(shader)
