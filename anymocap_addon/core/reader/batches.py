"""What is trained on in each step: a pure function of seed and step, so that training resumes exactly.

A batch is two shards of equal size. Each shard is drawn, degraded, and sent through the network by one thread with its
own batch statistics; the gradients are added in a fixed order. So one thread and two give the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..dataset.degradation import FULL, Frame, Strength, degrade
from ..dataset.samples import Samples
from ..layout import Layout

SHARDS = 2


@dataclass(frozen=True)
class Batch:
    """images (B, H, W, 3) uint8, uv (B, 2J, 2) float32 layout px, visible (B, 2J) float32."""

    images: Tensor
    uv: Tensor
    visible: Tensor

    def to(self, device: torch.device) -> Batch:
        return Batch(self.images.to(device), self.uv.to(device), self.visible.to(device))


@dataclass(frozen=True)
class Feed:
    """Training batches of `size` samples out of `order`ed indices."""

    samples: Samples
    layout: Layout
    indices: NDArray[np.int64]
    size: int
    seed: int

    def shard(self, step: int, shard: int, frame: Frame) -> Batch:
        """The `shard`-th part of the batch of `step` at the size of `frame`."""
        each = self.size // SHARDS
        positions = step * self.size + shard * each + np.arange(each)
        chosen = [self._index(int(position)) for position in positions]
        rngs = [np.random.default_rng([self.seed, 1, int(position)]) for position in positions]
        return make_batch(self.samples, chosen, self.layout, frame, rngs)

    def _index(self, position: int) -> int:
        """Every pose once a round, in a new order each round."""
        count = len(self.indices)
        order = np.random.default_rng([self.seed, 0, position // count]).permutation(count)
        return int(self.indices[order[position % count]])


def make_batch(
    samples: Samples,
    indices: list[int],
    layout: Layout,
    frame: Frame,
    rngs: list[np.random.Generator],
    strength: Strength = FULL,
) -> Batch:
    """Degrade the samples of `indices`, each with its own generator."""
    made = [
        degrade(samples.frames[index], samples.uv[index], layout, frame, rng, strength)
        for index, rng in zip(indices, rngs)
    ]
    return Batch(
        torch.from_numpy(np.stack([one.image for one in made])),
        torch.from_numpy(np.stack([one.uv for one in made])).float(),
        torch.from_numpy(np.stack([one.visible for one in made])).float(),
    )
