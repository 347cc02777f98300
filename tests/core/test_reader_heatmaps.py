"""Maps, their loss and the way back to points."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from anymocap_addon.core.dataset.degradation import Frame
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.reader.backbone import BACKBONES, backbone
from anymocap_addon.core.reader.heatmaps import Grid, decode, heatmap_loss, make_grid, probabilities
from anymocap_addon.core.reader.network import ReaderNet

LAYOUT = Layout()


def _bells(cells: torch.Tensor, grid: Grid, sigma: float = 1.0) -> torch.Tensor:
    """Log-Gaussians (B, 2J, h, w) about `cells` (B, 2J, 2): what a perfect network's logits look like."""
    across = (torch.arange(grid.width) - cells[..., 0:1]) ** 2
    down = (torch.arange(grid.height) - cells[..., 1:2]) ** 2
    return -(across[..., None, :] + down[..., :, None]) / (2 * sigma**2)


def test_decoding_gaussians_is_exact_to_a_tenth_of_a_cell() -> None:
    grid = make_grid(LAYOUT, backbone("unet"), 256, joints=2)
    rng = np.random.default_rng(0)
    uv = torch.from_numpy(
        np.stack([rng.uniform([40, 40], [380, 680], (64, 2)), rng.uniform([460, 40], [1240, 680], (64, 2))], 1)
    ).repeat_interleave(2, 1)
    decoded, mass = decode(probabilities(_bells(grid.to_cells(uv), grid).float()), grid)
    error = (decoded - uv).norm(dim=-1) / grid.cell_px
    assert error.max() < 0.1
    assert mass.min() > 0.9


def test_cells_and_layout_are_inverse_and_the_first_cell_is_centred() -> None:
    grid = Grid(Frame(320, 192, 0.25), stride=4, joints=1, w_front=420)
    assert grid.cell_px == 16
    assert torch.allclose(grid.to_layout(torch.zeros(2)), torch.tensor([8.0, 8.0]))
    uv = torch.tensor([[123.4, 567.8]])
    assert torch.allclose(grid.to_layout(grid.to_cells(uv)), uv)


def test_maps_keep_to_their_own_view() -> None:
    grid = make_grid(LAYOUT, backbone("unet"), 256, joints=1)
    logits = torch.zeros(1, 2, grid.height, grid.width)
    logits[:, 0, 5, -3] = 50.0  # a front joint that the network sees in the side view
    logits[:, 1, 5, 2] = 50.0
    maps = probabilities(logits + grid.mask())
    uv, _ = decode(maps, grid)
    assert uv[0, 0, 0] < LAYOUT.w_front + 20 < uv[0, 1, 0] + 40
    assert maps[0, 0, 5, -3] == 0 and maps[0, 1, 5, 2] == 0
    assert torch.allclose(maps.sum((-1, -2)), torch.ones(1, 2))


def test_loss_is_least_at_the_truth_and_ignores_unseen_joints() -> None:
    grid = make_grid(LAYOUT, backbone("unet"), 256, joints=1)
    uv = torch.tensor([[[200.0, 300.0], [800.0, 300.0]]])
    seen = torch.ones(1, 2)
    exact = heatmap_loss(_bells(grid.to_cells(uv), grid), uv, seen, grid)
    moved = heatmap_loss(_bells(grid.to_cells(uv + 40), grid), uv, seen, grid)
    assert exact < moved
    hidden = torch.tensor([[1.0, 0.0]])
    elsewhere = uv.clone()
    elsewhere[0, 1] = 0
    logits = _bells(grid.to_cells(uv), grid)
    assert torch.equal(heatmap_loss(logits, uv, hidden, grid), heatmap_loss(logits, elsewhere, hidden, grid))


def test_columns_of_the_other_view_get_no_gradient() -> None:
    """A joint at the divider must not pull at cells that its map can never use."""
    grid = make_grid(LAYOUT, backbone("unet"), 256, joints=1)
    logits = torch.zeros(1, 2, grid.height, grid.width, requires_grad=True)
    uv = torch.tensor([[[LAYOUT.w_front + 5.0, 300.0], [LAYOUT.w_front + 5.0, 300.0]]])
    heatmap_loss(logits + grid.mask(), uv, torch.ones(1, 2), grid).backward()
    closed = (grid.mask() < 0).expand_as(logits)
    assert logits.grad is not None
    assert logits.grad[closed].abs().max() == 0
    assert logits.grad[~closed].abs().max() > 0


@pytest.mark.parametrize("name", sorted(BACKBONES))
def test_backbones_give_a_map_for_each_joint_and_view(name: str) -> None:
    kind = backbone(name)
    grid = make_grid(LAYOUT, kind, 96, joints=3)
    network = ReaderNet(kind, 3).eval()
    frames = torch.zeros(1, grid.frame.height, grid.frame.width, 3, dtype=torch.uint8)
    assert network(frames, grid).shape == (1, 6, grid.height, grid.width)
    assert grid.frame.width % kind.multiple == 0 and grid.frame.height % kind.multiple == 0
    assert grid.frame.height >= LAYOUT.height * grid.frame.scale


def test_unknown_backbone_lists_those_that_exist() -> None:
    with pytest.raises(BadInputError, match="unet"):
        backbone("hourglass")
