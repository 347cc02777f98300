"""Which optimiser moves which weights, as the backbone says."""

from __future__ import annotations

import torch
from torch import nn

from .muon import Muon
from .network import ReaderNet

WEIGHT_DECAY = 1e-3
MATRIX_WEIGHT_DECAY = 1e-2
LEAST_COLUMNS = 32


def make_optimisers(network: ReaderNet) -> list[torch.optim.Optimizer]:
    """AdamW, and Muon for the matrices when the backbone gives it a rate; each group holds its "peak" rate."""
    kind = network.kind
    matrices = [weight for weight in network.parameters() if _is_matrix(weight)] if kind.matrix_rate else []
    # The head comes last in every backbone; its rows are maps, not directions of one space.
    matrices = matrices[:-1]
    chosen = {id(weight) for weight in matrices}
    others = [weight for weight in network.parameters() if id(weight) not in chosen]
    optimisers: list[torch.optim.Optimizer] = [
        torch.optim.AdamW([{"params": others, "peak": kind.rate}], lr=kind.rate, weight_decay=WEIGHT_DECAY)
    ]
    if matrices:
        group = {"params": matrices, "peak": kind.matrix_rate}
        optimisers.append(Muon([group], lr=kind.matrix_rate, weight_decay=MATRIX_WEIGHT_DECAY))
    return optimisers


def _is_matrix(weight: nn.Parameter) -> bool:
    """Norms, biases and the first layer, which sees three colours only, are not."""
    return weight.ndim >= 2 and weight[0].numel() >= LEAST_COLUMNS
