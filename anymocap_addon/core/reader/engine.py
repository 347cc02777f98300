"""One optimiser step over the shards of a batch, on one thread or on two with the same result.

Each shard has its own copy of the network that shares the weights but not the gradients and batch statistics. Threads
beat the usual parallel loops inside each operation here: the shards meet once a step instead of hundreds of times, so a
busy machine costs time but no extra work.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn

from .batches import SHARDS, Batch
from .heatmaps import Grid, heatmap_loss
from .network import ReaderNet
from .optimise import make_optimisers

CLIP_NORM = 5.0
Draw = Callable[[int], Batch]


class Engine:
    """Network, optimiser and worker threads; use as a context manager.

    Args:
        network: trained in place.
        threads: how many the whole engine may use.
    """

    def __init__(self, network: ReaderNet, threads: int, device: torch.device) -> None:
        self.network = network.to(device).train()
        self.device = device
        self.optimisers = make_optimisers(self.network)
        self.replicas = [self.network, *(_twin(self.network) for _ in range(SHARDS - 1))]
        self.parallel = min(threads, SHARDS)
        self._inner_threads = max(1, threads // SHARDS)

    def __enter__(self) -> Engine:
        self._threads_before = torch.get_num_threads()
        torch.set_num_threads(self._inner_threads)
        self._pool = ThreadPoolExecutor(
            self.parallel, "reader-shard", initializer=torch.set_num_threads, initargs=(self._inner_threads,)
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        torch.set_num_threads(self._threads_before)

    def step(self, draw: Draw, grid: Grid, share: float) -> float:
        """Draw the shards, add up their gradients, and move the weights at `share` of the peak learning rates.

        Returns:
            The mean loss of the shards before the step.
        """
        losses = list(self._pool.map(lambda shard: self._gradients(draw, shard, grid), range(SHARDS)))
        self._merge()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), CLIP_NORM)
        for optimiser in self.optimisers:
            for group in optimiser.param_groups:
                group["lr"] = share * group["peak"]
            optimiser.step()
        return sum(losses) / SHARDS

    def _gradients(self, draw: Draw, shard: int, grid: Grid) -> float:
        batch = draw(shard).to(self.device)
        replica = self.replicas[shard]
        replica.zero_grad(set_to_none=True)
        loss = heatmap_loss(replica(batch.images, grid), batch.uv, batch.visible, grid)
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    @torch.no_grad()
    def _merge(self) -> None:
        """Mean gradient into the network's own; mean batch statistics into every replica."""
        for shared in zip(*(replica.parameters() for replica in self.replicas)):
            total: Tensor = shared[0].grad
            for other in shared[1:]:
                total += other.grad
            total /= SHARDS
        for buffers in zip(*(replica.buffers() for replica in self.replicas)):
            if buffers[0].is_floating_point():
                mean = torch.stack(buffers).mean(0)
                for buffer in buffers:
                    buffer.copy_(mean)

    def state(self) -> dict[str, Any]:
        """Tensors and plain values from which `restore` goes on exactly."""
        return {
            "network": self.network.state_dict(),
            "optimisers": [optimiser.state_dict() for optimiser in self.optimisers],
        }

    def restore(self, state: dict[str, Any]) -> None:
        for replica in self.replicas:
            replica.load_state_dict(state["network"])
        for optimiser, saved in zip(self.optimisers, state["optimisers"], strict=True):
            optimiser.load_state_dict(saved)


def _twin(network: ReaderNet) -> ReaderNet:
    """A copy whose weights are the same memory."""
    twin = copy.deepcopy(network)
    for own, shared in zip(_weights(twin), _weights(network)):
        own.data = shared.data
    return twin


def _weights(network: nn.Module) -> list[nn.Parameter]:
    return list(network.parameters())
