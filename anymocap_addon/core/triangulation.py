"""Joints in space from what both views read, without any skeleton."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .layout import Layout

Array = NDArray[np.float64]


def triangulated(
    layout: Layout, front_uv: Array, side_uv: Array, front_conf: Array, side_conf: Array
) -> tuple[Array, Array]:
    """Joints by triangulation: x from the front, y from the side, height 0.25 front to 1 side by confidence.

    Returns:
        (T, J, 3) metres and the (T, J) weights min(front, side confidence).
    """
    front, side = 0.25 * front_conf, side_conf
    total = np.maximum(front + side, 1e-12)
    row = np.where(front + side > 0, (front * front_uv[..., 1] + side * side_uv[..., 1]) / total, side_uv[..., 1])
    points: Array = layout.unproject(front_uv, side_uv, row)
    return points, np.minimum(front_conf, side_conf)
