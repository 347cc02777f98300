"""The whole network of a reader: pictures in, maps out; the part around the backbone that all backbones share."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .backbone import Backbone
from .heatmaps import Grid

IMAGE_MEAN = (0.485, 0.456, 0.406)
IMAGE_STD = (0.229, 0.224, 0.225)


class ReaderNet(nn.Module):
    """uint8 RGB frames (B, H, W, 3) to logits (B, 2J, h, w): front joints first, then side joints, each masked to the
    columns of its own view.
    """

    mean: Tensor
    scale: Tensor

    def __init__(self, kind: Backbone, joints: int) -> None:
        super().__init__()
        self.kind = kind
        self.body = kind.make(2 * joints).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.register_buffer("mean", torch.tensor(IMAGE_MEAN).view(3, 1, 1) * 255, persistent=False)
        self.register_buffer("scale", 1 / (torch.tensor(IMAGE_STD).view(3, 1, 1) * 255), persistent=False)

    def forward(self, frames: Tensor, grid: Grid) -> Tensor:
        # A (B, H, W, 3) batch seen as (B, 3, H, W) is channels-last already: nothing is copied.
        images = (frames.permute(0, 3, 1, 2).float() - self.mean) * self.scale
        logits: Tensor = self.body(images)
        return logits + grid.mask().to(logits)
