"""Keypoints as the solvers see them: metres, a weight and a robust scale for every joint, frame and view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..layout import Layout

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ErrorModel:
    """What a confidence is worth: error_px = high * (low / high) ** confidence, geometric between both ends.

    A reading of expected error e gets the weight (reference / e)^2 and the robust scale e / reference, so that what
    counts as an outlier grows with what is expected. `reference_px` is the error at which weight and scale are 1.

    Attributes:
        low_px, high_px: expected error at confidence 1 and at confidence 0.
    """

    low_px: float = 3.0
    high_px: float = 20.0
    reference_px: float = 3.0

    def expected_px(self, confidence: Array) -> Array:
        """Expected error of a reading of that confidence, px."""
        return np.asarray(self.high_px * (self.low_px / self.high_px) ** np.clip(confidence, 0, 1))


@dataclass(frozen=True, eq=False)
class Observations:
    """Readings in metres, all (T, J) tensors.

    Attributes:
        x, y: from the front and from the side. z_front, z_side: heights by each view's row.
        weight_front, weight_side: 0 for a reading that must not count.
        scale_front, scale_side: multiples of the solver's robust scale.
    """

    x: Tensor
    y: Tensor
    z_front: Tensor
    z_side: Tensor
    weight_front: Tensor
    weight_side: Tensor
    scale_front: Tensor
    scale_side: Tensor


def observations(
    layout: Layout,
    front_uv: Array,
    side_uv: Array,
    front_conf: Array,
    side_conf: Array,
    model: ErrorModel | None,
    device: torch.device,
) -> Observations:
    """Readings of both views as tensors.

    Args:
        front_uv, side_uv: (T, J, 2) layout px. front_conf, side_conf: (T, J) in 0..1.
        model: how confidence becomes weight; None takes the confidence itself as weight, as the first-order solver.
    """
    by_front = layout.unproject(front_uv, side_uv, front_uv[..., 1])
    by_side = layout.unproject(front_uv, side_uv, side_uv[..., 1])
    weights, scales = [], []
    for confidence in (front_conf, side_conf):
        if model is None:
            weights.append(confidence)
            scales.append(np.ones_like(confidence))
        else:
            error = model.expected_px(confidence)
            weights.append(np.where(confidence > 0, (model.reference_px / error) ** 2, 0.0))
            scales.append(error / model.reference_px)
    arrays = (by_front[..., 0], by_front[..., 1], by_front[..., 2], by_side[..., 2], *weights, *scales)
    return Observations(*(torch.as_tensor(np.ascontiguousarray(a), device=device) for a in arrays))


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
