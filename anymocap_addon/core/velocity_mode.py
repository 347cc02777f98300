"""The mode of a set of velocities: where most samples agree, and how sharply they do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Standard deviation of a Gaussian over its median absolute deviation.
_DEVIATION = 1.4826
_MOST_ITERATIONS = 100
# A kernel narrower than this share of "steady" would follow single samples.
_LEAST_SHARE = 0.2


def mean_shift(samples: Array, start: Array, sigma: float) -> Array:
    """The local maximum (2,) of the Gaussian kernel density of `samples` (N, 2) that lies uphill of `start` (2,)."""
    mode = start
    for _ in range(_MOST_ITERATIONS):
        weight = np.exp(-0.5 * ((samples - mode) ** 2).sum(-1) / sigma**2)
        moved: Array = weight @ samples / weight.sum()
        if np.abs(moved - mode).max() < 1e-9:
            return moved
        mode = moved
    return mode


def steady_mode(samples: Array, wide: Array, sigma: float, steady: float) -> Array:
    """The mode with the kernel narrowed to the samples' own spread, where they agree that well; else `wide`.

    A wide kernel is pulled by the slow frames around touch-down and lift-off. So it is narrowed to the spread
    (1.4826 times the median distance of the samples within 1.5 sigma of the mode) for as long as that falls. Where the
    kernel ends no wider than `steady` the feet agree on one velocity, and the narrow mode is taken.

    Args:
        samples: (N, 2) velocities. wide: (2,) the mode under the kernel `sigma`.
        sigma, steady: in the unit of the samples.
    """
    mode = wide
    while True:
        distance = np.linalg.norm(samples - mode, axis=1)
        spread = _DEVIATION * float(np.median(distance[distance < 1.5 * sigma]))
        if spread > 0.95 * sigma:
            break
        sigma = max(spread, _LEAST_SHARE * steady)
        mode = mean_shift(samples, mode, sigma)
        if sigma > spread:
            break
    return mode if sigma <= steady else wide
