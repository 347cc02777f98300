"""How good the reader is on poses it never saw, degraded as clips are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..dataset.degradation import HELD_OUT
from ..dataset.samples import Samples
from ..layout import Layout
from .batches import Batch, make_batch
from .calibration import HIT_PX, Calibration, fit_calibration
from .heatmaps import Grid
from .network import ReaderNet
from .predict import predict

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Held:
    """Errors (N, 2J) in layout px and peak masses (N, 2J); `visible` marks those that count."""

    error_px: Array
    mass: Array
    visible: NDArray[np.bool_]

    def summary(self) -> dict[str, float]:
        """Median and 95th percentile over all visible joints, each view's median, and the share of hits."""
        joints = self.error_px.shape[1] // 2
        every = self.error_px[self.visible]
        front = self.error_px[:, :joints][self.visible[:, :joints]]
        side = self.error_px[:, joints:][self.visible[:, joints:]]
        return {
            "median_px": float(np.median(every)),
            "p95_px": float(np.percentile(every, 95)),
            "front_median_px": float(np.median(front)),
            "side_median_px": float(np.median(side)),
            f"within_{HIT_PX:.0f}px": float((every < HIT_PX).mean()),
        }

    def calibrations(self) -> tuple[Calibration, Calibration]:
        """Of the front and of the side view."""
        joints = self.error_px.shape[1] // 2
        fitted = []
        for view in (slice(0, joints), slice(joints, None)):
            seen = self.visible[:, view]
            fitted.append(fit_calibration(self.mass[:, view][seen], self.error_px[:, view][seen]))
        return fitted[0], fitted[1]


def held_batch(
    samples: Samples, indices: NDArray[np.int64], layout: Layout, grid: Grid, draws: int, seed: int
) -> Batch:
    """Each held-out pose `draws` times, degraded in a way that depends on the seed alone."""
    chosen = [int(index) for index in indices] * draws
    rngs = [np.random.default_rng([seed, 2, position]) for position in range(len(chosen))]
    return make_batch(samples, chosen, layout, grid.frame, rngs, HELD_OUT)


def measure(network: ReaderNet, batch: Batch, grid: Grid) -> Held:
    """Read a held-out batch; the network's mode is left as it was."""
    training = network.training
    network.eval()
    try:
        uv, mass = predict(network, batch.images, grid)
    finally:
        network.train(training)
    error = np.linalg.norm(uv - batch.uv.numpy(), axis=-1)
    return Held(error, mass, batch.visible.numpy() > 0)
