"""The one interface of all backbones: a name -> a network that turns frames into one map a joint and view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import nn

from ..errors import BadInputError
from .unet import UNet


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
