"""A picture drawn as several samples a pixel and averaged on the graphics card."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader
from numpy.typing import NDArray

_VERTEX = "void main() { gl_Position = vec4(position, 0.0, 1.0); }"
_FRAGMENT = """
void main() {
  ivec2 corner = ivec2(gl_FragCoord.xy) * stride;
  vec4 sum = vec4(0.0);
  for (int y = 0; y < factor; y++) {
    for (int x = 0; x < factor; x++) { sum += texelFetch(large, corner + ivec2(x, y) * apart, 0); }
  }
  pixel = sum / float(factor * factor);
}
"""


class SampledTarget:
    """All samples of a picture lie in one target, `factor` times as wide and high as the picture.

    They are finer pixels of one drawing, or `factor` x `factor` tiles of one drawing each; one pass averages either.
    """

    def __init__(self, width: int, height: int, factor: int) -> None:
        self.width, self.height, self.factor = width, height, factor
        self._large = gpu.types.GPUOffScreen(width * factor, height * factor)
        self._small = gpu.types.GPUOffScreen(width, height)
        self._shader = _average_shader()
        self._square = batch_for_shader(self._shader, "TRI_STRIP", {"position": [(-1, -1), (1, -1), (-1, 1), (1, 1)]})

    def bind(self) -> AbstractContextManager[Any]:
        """Draw into the samples within this `with` block."""
        bound: AbstractContextManager[Any] = self._large.bind()
        return bound

    def average(self, bottom: int, top: int, tiles: bool = False) -> NDArray[np.uint8]:
        """Rows bottom..top, counted from below, of the averaged picture: (rows, width, 4), upper row first."""
        shader = self._shader
        with self._small.bind():
            plain_state("NONE")
            gpu.state.viewport_set(0, 0, self.width, self.height)
            gpu.state.scissor_test_set(True)
            gpu.state.scissor_set(0, bottom, self.width, top - bottom)
            shader.bind()
            shader.uniform_sampler("large", self._large.texture_color)
            shader.uniform_int("factor", self.factor)
            shader.uniform_int("stride", 1 if tiles else self.factor)
            shader.uniform_int("apart", (self.width, self.height) if tiles else (1, 1))
            self._square.draw(shader)
            gpu.state.scissor_test_set(False)
            frame = gpu.state.active_framebuffer_get()
            buffer = frame.read_color(0, bottom, self.width, top - bottom, 4, 0, "UBYTE")
        buffer.dimensions = self.width * (top - bottom) * 4
        return np.frombuffer(buffer, np.uint8).reshape(top - bottom, self.width, 4)[::-1].copy()

    def free(self) -> None:
        """Give the card's memory back."""
        self._large.free()
        self._small.free()


def plain_state(depth: str) -> None:
    """Set every state that another drawing may have left; a wrong one draws nothing and says nothing."""
    gpu.state.depth_test_set(depth)
    gpu.state.depth_mask_set(True)
    gpu.state.face_culling_set("NONE")
    gpu.state.color_mask_set(True, True, True, True)
    gpu.state.blend_set("NONE")


def _average_shader() -> gpu.types.GPUShader:
    info = gpu.types.GPUShaderCreateInfo()
    info.sampler(0, "FLOAT_2D", "large")
    info.push_constant("IVEC2", "apart")
    info.push_constant("INT", "stride")
    info.push_constant("INT", "factor")
    info.vertex_in(0, "VEC2", "position")
    info.fragment_out(0, "VEC4", "pixel")
    info.vertex_source(_VERTEX)
    info.fragment_source(_FRAGMENT)
    return gpu.shader.create_from_info(info)
