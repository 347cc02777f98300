"""Keypoints as the solvers see them: metres, a weight and a robust scale for every joint, frame and view."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..layout import Layout

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ErrorModel:
    """What a confidence is worth.

    The reader's confidence is the chance of an error below `hit_px`. Its errors are near log-logistic, where that
    chance is 1 / (1 + (e / hit)^(1/spread)) with median e, so the expected (median) error is

        e = hit_px * ((1 - c) / c) ^ spread,  within [least_px, most_px].

    A reading gets the weight (reference / e)^2 and the robust scale e / reference, so that what counts as an outlier
    grows with what is expected. At `reference_px` weight and scale are 1.
    """

    hit_px: float = 10.0
    spread: float = 0.4
    least_px: float = 2.0
    most_px: float = 40.0
    reference_px: float = 4.25

    def expected_px(self, confidence: Array) -> Array:
        """Expected error of a reading of that confidence, px."""
        chance = np.clip(confidence, 1e-6, 1 - 1e-6)
        error = self.hit_px * ((1 - chance) / chance) ** self.spread
        return np.asarray(np.clip(error, self.least_px, self.most_px))


@dataclass(frozen=True, eq=False)
class Observations:
    """Readings in metres, all (T, J) tensors.

    Constant offsets of the reader are taken out with `without`.

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

    def without(self, front: Tensor, side: Tensor) -> Observations:
        """The readings less an offset (J, 2) metres of each view: front (x, z) and side (y, z)."""
        return replace(
            self,
            x=self.x - front[:, 0],
            z_front=self.z_front - front[:, 1],
            y=self.y - side[:, 0],
            z_side=self.z_side - side[:, 1],
        )


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
