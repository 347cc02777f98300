"""The one interface of all backbones: a name -> a network that turns frames into one map a joint and view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..errors import BadInputError
from .unet import UNet

IMAGE_MEAN = (0.485, 0.456, 0.406)
IMAGE_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True)
class Backbone:
    """What the rest of the reader needs to know about a kind of network.

    Attributes:
        name: what settings and reader.pt call it.
        stride: network px a map cell.
        multiple: frame sizes must be multiples of this.
        make: (outputs) -> module from normalised images (B, 3, H, W) to logits (B, outputs, H/stride, W/stride).
        rate: AdamW's learning rate at its peak.
        matrix_rate: Muon's, for the weights that are matrices; 0 leaves all weights to AdamW.
    """

    name: str
    stride: int
    multiple: int
    make: Callable[[int], nn.Module]
    rate: float
    matrix_rate: float = 0.0


BACKBONES: dict[str, Backbone] = {
    "unet": Backbone("unet", stride=4, multiple=16, make=UNet, rate=2e-3, matrix_rate=0.05),
}


def backbone(name: str) -> Backbone:
    """The backbone of that name.

    Raises:
        BadInputError: there is none; the message lists those that are.
    """
    if name not in BACKBONES:
        known = ", ".join(sorted(BACKBONES))
        raise BadInputError(f"There is no backbone {name!r}.", key="backbone", hint=f"Choose one of: {known}.")
    return BACKBONES[name]


class ReaderNet(nn.Module):
    """uint8 RGB frames (B, H, W, 3) to logits (B, 2J, H/stride, W/stride): front joints first, then side joints."""

    mean: Tensor
    scale: Tensor

    def __init__(self, kind: Backbone, joints: int) -> None:
        super().__init__()
        self.kind = kind
        self.body = kind.make(2 * joints).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.register_buffer("mean", torch.tensor(IMAGE_MEAN).view(3, 1, 1) * 255, persistent=False)
        self.register_buffer("scale", 1 / (torch.tensor(IMAGE_STD).view(3, 1, 1) * 255), persistent=False)

    def forward(self, frames: Tensor) -> Tensor:
        # A (B, H, W, 3) batch seen as (B, 3, H, W) is channels-last already: nothing is copied.
        images = (frames.permute(0, 3, 1, 2).float() - self.mean) * self.scale
        logits: Tensor = self.body(images)
        return logits
