"""Network frames to points: used by held-out tests, calibration and reading alike, so that they agree."""

from __future__ import annotations

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..dataset.degradation import Frame
from ..layout import Layout
from .backbone import ReaderNet
from .heatmaps import Grid, decode, probabilities

CHUNK = 4


def shrink(picture: NDArray[np.uint8], layout: Layout, frame: Frame) -> NDArray[np.uint8]:
    """A layout-aligned RGB picture (height, width, 3) at network size, padded by its own border."""
    width, height = round(layout.width * frame.scale), round(layout.height * frame.scale)
    small = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    padded = cv2.copyMakeBorder(small, 0, frame.height - height, 0, frame.width - width, cv2.BORDER_REPLICATE)
    return np.asarray(padded, np.uint8)


@torch.no_grad()
def predict(network: ReaderNet, images: Tensor, grid: Grid) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points and peak masses of frames.

    Args:
        network: in evaluation mode.
        images: (N, H, W, 3) uint8.

    Returns:
        uv (N, 2J, 2) layout px, mass (N, 2J).
    """
    device = network.mean.device
    points, masses = [], []
    for chunk in torch.split(images, CHUNK):
        uv, mass = decode(probabilities(network(chunk.to(device)), grid), grid)
        points.append(uv.cpu().numpy())
        masses.append(mass.cpu().numpy())
    return np.concatenate(points).astype(np.float64), np.concatenate(masses).astype(np.float64)
