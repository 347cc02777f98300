"""Network frames to points: used by held-out tests, calibration and reading alike, so that they agree."""

from __future__ import annotations

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..dataset.degradation import Frame
from ..layout import Layout
from .heatmaps import Grid, decode, probabilities
from .network import ReaderNet

CHUNK = 4
DISAGREEMENT = 2.0


def shrink(picture: NDArray[np.uint8], layout: Layout, frame: Frame) -> NDArray[np.uint8]:
    """A layout-aligned RGB picture (height, width, 3) at network size, padded by its own border."""
    width, height = round(layout.width * frame.scale), round(layout.height * frame.scale)
    small = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    padded = cv2.copyMakeBorder(small, 0, frame.height - height, 0, frame.width - width, cv2.BORDER_REPLICATE)
    return np.asarray(padded, np.uint8)


@torch.no_grad()
def predict(network: ReaderNet, images: Tensor, grid: Grid) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Points and peak masses of frames, from two passes half a cell apart.

    The second pass sees the frame moved by half a cell, so that what the grid of cells does to a point differs and
    partly cancels: up to a tenth less median error. Where the passes disagree by more than DISAGREEMENT cells the surer
    one wins.

    Args:
        network: in evaluation mode.
        images: (N, H, W, 3) uint8.

    Returns:
        uv (N, 2J, 2) layout px, mass (N, 2J).
    """
    device = network.mean.device
    shift = grid.stride // 2
    points, masses = [], []
    for chunk in torch.split(images.to(device), CHUNK):
        uv, mass = decode(probabilities(network(chunk, grid)), grid)
        moved, moved_mass = decode(probabilities(network(_shifted(chunk, shift), grid)), grid)
        moved = moved - shift / grid.frame.scale
        agree = (moved - uv).norm(dim=-1) < DISAGREEMENT * grid.cell_px
        surer = torch.where((mass > moved_mass)[..., None], uv, moved)
        points.append(torch.where(agree[..., None], (uv + moved) / 2, surer).cpu().numpy())
        masses.append(torch.where(agree, (mass + moved_mass) / 2, torch.minimum(mass, moved_mass)).cpu().numpy())
    return np.concatenate(points).astype(np.float64), np.concatenate(masses).astype(np.float64)


def _shifted(images: Tensor, pixels: int) -> Tensor:
    """Images (N, H, W, 3) moved right and down, their first row and column repeated."""
    rows = (torch.arange(images.shape[1], device=images.device) - pixels).clamp(min=0)
    columns = (torch.arange(images.shape[2], device=images.device) - pixels).clamp(min=0)
    return images[:, rows][:, :, columns]
