"""The two-view layout: the one place that knows where a point in metres lies in the picture, and back.

Continuous pixel coordinates: the canvas spans [0, width] x [0, height] and the first pixel's centre is (0.5, 0.5).
The front view lies left (camera at -Y looking along +Y, u grows with world X); the side view lies right (camera at
-X looking along +X, u grows with world -Y). v grows downward with -Z and both views share it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import stack
from .errors import BadInputError

WALL = (128, 130, 134)
FLOOR = (152, 154, 158)
DIVIDER = (60, 60, 62)
DIVIDER_WIDTH_PX = 4.0
CAMERA_DISTANCE_M = 50.0
FRAME_MARGIN = 0.06
MIN_VIEW_PX = 240


@dataclass(frozen=True)
class OrthoCamera:
    """An orthographic Blender camera: sensor_fit VERTICAL, so ortho_scale is the height in metres."""

    location: tuple[float, float, float]
    rotation_deg: tuple[float, float, float]
    ortho_scale: float
    width: int
    height: int


@dataclass(frozen=True)
class Layout:
    """Canvas, split and scale. Defaults are the wolf's.

    Attributes:
        width, height: canvas in px.
        w_front, w_side: widths of the two views in px; they add up to `width`.
        ground_v: row of the ground plane z = 0, px.
        m_per_px: metres a pixel, in both views.
        cx, cy: world X at the middle of the front view and world Y at the middle of the side view, metres.
    """

    width: int = 1280
    height: int = 720
    w_front: int = 420
    w_side: int = 860
    ground_v: float = 640.0
    m_per_px: float = 1.9 / 720
    cx: float = 0.0
    cy: float = 0.0

    def __post_init__(self) -> None:
        if self.w_front + self.w_side != self.width:
            raise BadInputError(
                f"w_front {self.w_front} and w_side {self.w_side} do not add up to {self.width}.", key="layout"
            )
        if min(self.w_front, self.w_side) < 1 or not self.m_per_px > 0:
            raise BadInputError("Both views need a width and a scale above zero.", key="layout")

    def project(self, xyz: Any) -> tuple[Any, Any]:
        """World points (..., 3) in metres to layout pixels: front (..., 2) and side (..., 2).

        Takes numpy arrays and torch tensors; the inverse is `unproject`.
        """
        x, y, z = xyz[..., 0], xyz[..., 1], xyz[..., 2]
        v = self.ground_v - z / self.m_per_px
        u_front = self.w_front / 2 + (x - self.cx) / self.m_per_px
        u_side = self.w_front + self.w_side / 2 - (y - self.cy) / self.m_per_px
        return stack([u_front, v], -1), stack([u_side, v], -1)

    def unproject(self, front_uv: Any, side_uv: Any, v: Any = None) -> Any:
        """Pixels of both views (..., 2) to world points (..., 3) in metres.

        x comes from the front, y from the side and z from the row `v` (...), by default the mean of both rows.
        """
        row = (front_uv[..., 1] + side_uv[..., 1]) / 2 if v is None else v
        x = self.cx + (front_uv[..., 0] - self.w_front / 2) * self.m_per_px
        y = self.cy - (side_uv[..., 0] - self.w_front - self.w_side / 2) * self.m_per_px
        return stack([x, y, (self.ground_v - row) * self.m_per_px], -1)

    def camera(self, view: str) -> OrthoCamera:
        """The Blender camera of the "front" or "side" view, whose picture is that view's part of the canvas."""
        height_m = self.height * self.m_per_px
        z = (self.ground_v - self.height / 2) * self.m_per_px
        if view == "front":
            location = (self.cx, -CAMERA_DISTANCE_M, z)
            return OrthoCamera(location, (90.0, 0.0, 0.0), height_m, self.w_front, self.height)
        if view == "side":
            location = (-CAMERA_DISTANCE_M, self.cy, z)
            return OrthoCamera(location, (90.0, 0.0, -90.0), height_m, self.w_side, self.height)
        raise ValueError(f"view is {view!r}, not 'front' or 'side'")

    def studio(self, scale: float = 1.0) -> NDArray[np.uint8]:
        """The empty studio: grey wall, lighter floor band below the ground row, dark divider; (H, W, 3) RGB."""
        rows, columns = round(self.height * scale), round(self.width * scale)
        picture = np.empty((rows, columns, 3), np.uint8)
        picture[:] = WALL
        picture[max(0, round(self.ground_v * scale)) :] = FLOOR
        left = round((self.w_front - DIVIDER_WIDTH_PX / 2) * scale)
        picture[:, left : left + max(1, round(DIVIDER_WIDTH_PX * scale))] = DIVIDER
        return picture

    @staticmethod
    def framing(bounds_min: NDArray[np.float64], bounds_max: NDArray[np.float64], reach_m: float = 0.0) -> Layout:
        """The layout whose two views hold the bounds, grown by `reach_m` on all sides but the ground, unclipped.

        The canvas is split in proportion to what each view must hold; the scale is the finest that fits width and
        height with a margin of 6 %, and the ground row leaves a floor band below the feet.

        Args:
            bounds_min, bounds_max: (3,) metres, the creature at rest.
            reach_m: how far limbs may reach beyond the bounds.
        """
        low = np.asarray(bounds_min, float)
        high = np.asarray(bounds_max, float)
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (high > low).all()):
            raise BadInputError(f"The creature's bounds {low} to {high} are empty.", hint="Check the mesh.")
        canvas = Layout()
        size_x, size_y = (high - low)[:2] + 2 * reach_m
        height_m = max(high[2], 0.0) + reach_m - min(low[2], 0.0)
        usable = 1 - 2 * FRAME_MARGIN
        ground_share = 560 / 720
        from_height = height_m / (ground_share * canvas.height * (1 - FRAME_MARGIN))
        m = max((size_x + size_y) / (usable * canvas.width), from_height)
        spare = canvas.width - (size_x + size_y) / m
        w_front = round(size_x / m + spare / 2)
        w_front = int(np.clip(w_front - w_front % 2, MIN_VIEW_PX, canvas.width - MIN_VIEW_PX))
        m = max(m, size_x / (usable * w_front), size_y / (usable * (canvas.width - w_front)))
        middle = (low + high) / 2
        return Layout(
            w_front=w_front,
            w_side=canvas.width - w_front,
            ground_v=round(ground_share * canvas.height),
            m_per_px=float(m),
            cx=float(middle[0]),
            cy=float(middle[1]),
        )
