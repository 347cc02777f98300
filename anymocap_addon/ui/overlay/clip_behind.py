"""The clip's frame on a wall behind the creature, exactly where the layout's camera sees it.

The wall stands square to the camera, farther away than anything of the creature, and is drawn with the scene's depth:
the creature covers it. In wireframe shading its wires lie over the clip; X-ray has no depth, so there the clip covers
all but the bones.
"""

from __future__ import annotations

import gpu
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...blender.draw import vertex_buffer
from ...blender.layout_camera import camera_distance
from ...core.capture_view import CaptureView
from ...core.layout import Layout
from .frame_texture import TEXTURES, packs_bytes
from .shaders import frame_shader

Array = NDArray[np.float64]

DEPTH_SHARE = 0.9  # of the way from the creature to the end of what the camera sees


class Wall:
    """The wall's batch, made once for a clip and a view."""

    def __init__(self) -> None:
        self._of: tuple[CaptureView, str] | None = None
        self._batch: gpu.types.GPUBatch | None = None

    def batch(self, view: CaptureView, side: str) -> gpu.types.GPUBatch:
        """That of the view "front" or "side" of this clip."""
        if self._batch is None or self._of != (view, side):
            corners = view_corners(view.layout, side)
            buffer = vertex_buffer({"pos": corners.astype(np.float32), "uv": clip_uv(view, corners).astype(np.float32)})
            self._of, self._batch = (view, side), gpu.types.GPUBatch(type="TRI_STRIP", buf=buffer)
        return self._batch

    def free(self) -> None:
        """Let go of it."""
        self._of = self._batch = None


WALL = Wall()


def draw_clip_behind(
    view: CaptureView, side: str, frame: int, seen: Matrix, place: Array, opacity: float, linear: bool
) -> None:
    """Draw the part of frame `frame` that the view "front" or "side" shows.

    Args:
        seen: world to clip space. place: (4, 4) prep space to the world.
        linear: as overlay Canvas.
    """
    if view.preview is None:
        return
    packed = packs_bytes()
    texture = TEXTURES.texture(view.preview, frame, packed)
    if texture is None:
        return
    shader = frame_shader(packed)
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.state.depth_mask_set(False)
    gpu.state.face_culling_set("NONE")
    gpu.state.blend_set("ALPHA")
    try:
        shader.bind()
        shader.uniform_float("mvp", seen @ Matrix((place @ wall(view.layout, side)).tolist()))
        shader.uniform_float("opacity", opacity)
        shader.uniform_float("linear", float(linear))
        shader.uniform_sampler("image", texture)
        WALL.batch(view, side).draw(shader)
    finally:
        gpu.state.depth_test_set("NONE")
        gpu.state.depth_mask_set(True)
        gpu.state.blend_set("NONE")


def view_corners(layout: Layout, side: str) -> Array:
    """(4, 2) layout px of a view's part of the canvas: lower then upper corners, left first."""
    left, right = (0, layout.w_front) if side == "front" else (layout.w_front, layout.width)
    return np.array([[left, layout.height], [right, layout.height], [left, 0], [right, 0]], float)


def clip_uv(view: CaptureView, points: Array) -> Array:
    """Place in the clip's picture, 0..1 with v downward, of points (n, 2) in layout px."""
    assert view.preview is not None
    clip = points @ view.to_clip[:, :2].T + view.to_clip[:, 2]
    return np.asarray(clip / [view.preview.clip_width, view.preview.clip_height])


def wall(layout: Layout, side: str) -> Array:
    """(4, 4) from layout px (u, v, 0, 1) to prep space, on the wall behind the creature."""
    behind = DEPTH_SHARE * camera_distance(layout.camera(side))
    origin, along_u, along_v = (
        layout.unproject(np.array(uv, float), np.array(uv, float)) for uv in ((0, 0), (1, 0), (0, 1))
    )
    matrix = np.eye(4)
    matrix[:3, 0], matrix[:3, 1], matrix[:3, 3] = along_u - origin, along_v - origin, origin
    away = 1 if side == "front" else 0  # the axis that the camera looks along
    matrix[away, :] = 0.0
    matrix[away, 3] = behind
    return matrix
