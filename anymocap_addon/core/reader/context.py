"""Blocks by which one view learns what the other sees: along the rows that both share, and over the whole frame.

A point at height z lies on the same row in both views. In the front view the hind legs hide behind the front ones; the
side view shows them, and so their rows. Both blocks begin as the identity: a network learns to use them as it needs.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional


class RowContext(nn.Module):
    """Adds to every cell what is seen anywhere on its row: (B, C, H, W) to the same."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gather = nn.Sequential(
            nn.Conv2d(2 * width, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)
        )
        self.spread = nn.Conv2d(width, width, 1)
        nn.init.zeros_(self.spread.weight)
        nn.init.zeros_(self.spread.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        row = torch.cat([x.mean(-1, keepdim=True), x.amax(-1, keepdim=True)], 1)
        mixed: Tensor = x + self.spread(self.gather(row))
        return mixed


class GlobalContext(nn.Module):
    """One transformer block over all cells of the coarsest map: (B, C, H, W) to the same, for any H and W."""

    WAVES = 2

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.place = nn.Linear(2 + 4 * self.WAVES, width)
        self.norm = nn.LayerNorm(width)
        self.ask = nn.Linear(width, 3 * width)
        self.answer = nn.Linear(width, width)
        self.norm_out = nn.LayerNorm(width)
        self.widen, self.narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        for last in (self.answer, self.narrow):
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def forward(self, x: Tensor) -> Tensor:
        batch, width, rows, columns = x.shape
        cells = x.flatten(2).mT
        asked = self.ask(self.norm(cells) + self.place(self._places(rows, columns, x.device)))
        query, key, value = asked.view(batch, -1, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        found = functional.scaled_dot_product_attention(query, key, value)
        cells = cells + self.answer(found.transpose(1, 2).flatten(2))
        cells = cells + self.narrow(functional.gelu(self.widen(self.norm_out(cells))))
        mixed: Tensor = cells.mT.reshape(x.shape)
        return mixed.contiguous(memory_format=torch.channels_last)

    def _places(self, rows: int, columns: int, device: torch.device) -> Tensor:
        """(rows * columns, 2 + 4 waves): where each cell lies in the frame, 0..1, and waves of it."""
        down = (torch.arange(rows, device=device) + 0.5) / rows
        across = (torch.arange(columns, device=device) + 0.5) / columns
        places = torch.stack(torch.meshgrid(down, across, indexing="ij"), -1).view(-1, 2)
        angles = [math.pi * (wave + 1) * places for wave in range(self.WAVES)]
        return torch.cat([places, *map(torch.sin, angles), *map(torch.cos, angles)], -1)
