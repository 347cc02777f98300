"""Maps of joints: where a cell lies in the layout, the loss against a Gaussian, and the way back to a point.

Cell (i, j) of a map has its centre at ((j + 0.5) * stride / scale, (i + 0.5) * stride / scale) layout px. Every map is
a probability over its cells: a softmax of the logits over the columns of its own view.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from ..dataset.degradation import Frame
from ..layout import Layout
from .backbone import Backbone

TARGET_SIGMA = 1.0
COLUMN_SLACK_PX = 12.0
MASKED = -1e4
WINDOW = 2


@dataclass(frozen=True)
class Grid:
    """The cells of the maps of `frame`, for `joints` joints in each of both views."""

    frame: Frame
    stride: int
    joints: int
    w_front: int

    @property
    def height(self) -> int:
        return self.frame.height // self.stride

    @property
    def width(self) -> int:
        return self.frame.width // self.stride

    @property
    def cell_px(self) -> float:
        """Layout px a cell."""
        return self.stride / self.frame.scale

    def to_cells(self, uv: Tensor) -> Tensor:
        """Layout px (..., 2) to cell coordinates, where the first cell's centre is (0, 0)."""
        return uv / self.cell_px - 0.5

    def to_layout(self, cells: Tensor) -> Tensor:
        return (cells + 0.5) * self.cell_px

    def mask(self) -> Tensor:
        """(1, 2J, 1, width) to add to logits: front joints may lie left of the divider only, side joints right."""
        centre = (torch.arange(self.width) + 0.5) * self.cell_px
        front = torch.where(centre < self.w_front + COLUMN_SLACK_PX, 0.0, MASKED)
        side = torch.where(centre > self.w_front - COLUMN_SLACK_PX, 0.0, MASKED)
        rows = torch.cat([front.expand(self.joints, -1), side.expand(self.joints, -1)])
        return rows[None, :, None, :]


def make_grid(layout: Layout, kind: Backbone, width: int, joints: int) -> Grid:
    """The grid for frames `width` network px wide that hold the whole layout, padded to the backbone's multiple."""
    scale = width / layout.width
    multiple = kind.multiple
    padded = [-(-round(size * scale, 3) // multiple) * multiple for size in (layout.width, layout.height)]
    return Grid(Frame(int(padded[0]), int(padded[1]), scale), kind.stride, joints, layout.w_front)


def heatmap_loss(logits: Tensor, uv: Tensor, visible: Tensor, grid: Grid, sigma: float = TARGET_SIGMA) -> Tensor:
    """Mean cross-entropy of each visible joint's map against a Gaussian of `sigma` cells.

    Args:
        logits: (B, 2J, h, w), masked.
        uv: (B, 2J, 2) layout px.
        visible: (B, 2J) float, 0 or 1.
    """
    open_columns = grid.mask().to(logits.device)[0, :, 0] >= 0
    open_rows = torch.ones(logits.shape[-2], dtype=torch.bool, device=logits.device)
    cells = grid.to_cells(uv)
    across = _bell(cells[..., 0], open_columns, sigma)
    down = _bell(cells[..., 1], open_rows, sigma)
    # The Gaussian is a product of two bells: two small sums instead of a target map for each joint.
    expected = (torch.einsum("bjhw,bjw->bjh", logits, across) * down).sum(-1)
    entropy = logits.flatten(2).logsumexp(-1) - expected
    return (entropy * visible).sum() / visible.sum().clamp(min=1)


def _bell(centre: Tensor, allowed: Tensor, sigma: float) -> Tensor:
    """A Gaussian (B, J, n) about `centre` (B, J) over the allowed cells (..., n), summing to one (zero far outside)."""
    offset = torch.arange(allowed.shape[-1], dtype=centre.dtype, device=centre.device) - centre[..., None]
    bell = torch.exp(-(offset**2) / (2 * sigma**2)) * allowed
    return bell / bell.sum(-1, keepdim=True).clamp(min=1e-6)


def probabilities(logits: Tensor) -> Tensor:
    """Softmax over each map, (B, 2J, h, w)."""
    return logits.flatten(2).softmax(-1).view_as(logits)


def decode(maps: Tensor, grid: Grid) -> tuple[Tensor, Tensor]:
    """Points and how sure the maps are of them.

    DARK (Zhang et al. 2020): the peak's cell, then one Newton step on the logarithm of the blurred map.

    Args:
        maps: (B, 2J, h, w) probabilities.

    Returns:
        uv (B, 2J, 2) layout px; mass (B, 2J): the probability within two cells of the peak.
    """
    width = maps.shape[-1]
    peak = maps.flatten(2).argmax(-1)
    row, column = peak // width, peak % width
    mass = _window(maps, row, column, WINDOW).sum((-1, -2))
    blurred = _binomial_blur(maps)
    around = _window(blurred, row, column, 1, edge=True).clamp(min=1e-9).log()
    step = _newton_step(around)
    cells = torch.stack([column, row], -1).to(step) + step
    return grid.to_layout(cells), mass


def _window(maps: Tensor, row: Tensor, column: Tensor, reach: int, edge: bool = False) -> Tensor:
    """(B, J, 2 reach + 1, 2 reach + 1) cut about (row, column); zeros or the repeated edge beyond the map."""
    mode = "replicate" if edge else "constant"
    padded = functional.pad(maps, (reach,) * 4, mode=mode)
    side = torch.arange(2 * reach + 1, device=maps.device)
    at = (row[..., None, None] + side[:, None]) * padded.shape[-1] + column[..., None, None] + side
    cut = padded.flatten(2).gather(2, at.flatten(2))
    return cut.view(*row.shape, 2 * reach + 1, 2 * reach + 1)


def _binomial_blur(maps: Tensor) -> Tensor:
    taps = torch.tensor([1.0, 4.0, 6.0, 4.0, 1.0], dtype=maps.dtype, device=maps.device) / 16
    kernel = (taps[:, None] * taps)[None, None]
    return functional.conv2d(maps.flatten(0, 1)[:, None], kernel, padding=2).view_as(maps)


def _newton_step(log_map: Tensor) -> Tensor:
    """(..., 3, 3) log values -> (..., 2) step (u, v) from the middle to the peak, at most one cell."""
    middle = log_map[..., 1, 1]
    left, right = log_map[..., 1, 0], log_map[..., 1, 2]
    above, below = log_map[..., 0, 1], log_map[..., 2, 1]
    gu, gv = (right - left) / 2, (below - above) / 2
    uu, vv = right - 2 * middle + left, below - 2 * middle + above
    uv = (log_map[..., 2, 2] - log_map[..., 2, 0] - log_map[..., 0, 2] + log_map[..., 0, 0]) / 4
    det = uu * vv - uv * uv
    peaked = (det > 1e-6) & (uu < 0)
    safe = torch.where(peaked, det, torch.ones_like(det))
    step = torch.stack([-(vv * gu - uv * gv) / safe, -(uu * gv - uv * gu) / safe], -1)
    return torch.where(peaked[..., None], step, torch.zeros_like(step)).clamp(-1, 1)
