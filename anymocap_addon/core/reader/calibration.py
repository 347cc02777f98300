"""From the mass of a map's peak to a confidence that means something.

The mass within two cells of the peak orders errors well, but its scale is the training set's. On held-out, degraded
drawings a monotone map is fitted from mass to the chance that the point is within 10 layout px, and to the error that
must be expected.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

HIT_PX = 10.0
KNOTS = 16


@dataclass(frozen=True)
class Calibration:
    """Knots of two monotone maps, linear between them and constant beyond.

    Attributes:
        mass: (K) rising.
        confidence: (K) chance of an error below HIT_PX, rising, in 0..1.
        expected_px: (K) median error in layout px, falling.
    """

    mass: Array
    confidence: Array
    expected_px: Array

    def apply(self, mass: Array) -> Array:
        """Confidence in 0..1 of maps with this peak mass."""
        return np.interp(mass, self.mass, self.confidence)

    def error_px(self, mass: Array) -> Array:
        """Expected error in layout px."""
        return np.interp(mass, self.mass, self.expected_px)

    def plain(self) -> dict[str, Any]:
        return {
            "mass": self.mass.tolist(),
            "confidence": self.confidence.tolist(),
            "expected_px": self.expected_px.tolist(),
            "hit_px": HIT_PX,
        }

    @staticmethod
    def of(plain: dict[str, Any]) -> Calibration:
        return Calibration(*(np.asarray(plain[key], np.float64) for key in ("mass", "confidence", "expected_px")))


def fit_calibration(mass: Array, error_px: Array) -> Calibration:
    """Fit both maps by pooling adjacent violators over groups of equal size.

    Args:
        mass: (N) peak masses of visible joints.
        error_px: (N) their errors.
    """
    order = np.argsort(mass, kind="stable")
    groups = [group for group in np.array_split(order, KNOTS) if len(group)]
    weight = np.array([len(group) for group in groups], np.float64)
    # One hit and one miss are added to each group, so that no confidence is exactly 0 or 1.
    hits = np.array([((error_px[group] < HIT_PX).sum() + 1) / (len(group) + 2) for group in groups])
    errors = np.array([np.median(error_px[group]) for group in groups])
    knots = np.array([mass[group].mean() for group in groups])
    return Calibration(knots, rising(hits, weight), -rising(-errors, weight))


def rising(values: Array, weight: Array) -> Array:
    """The closest non-decreasing sequence in weighted least squares (pool adjacent violators)."""
    pools: list[tuple[float, float, int]] = []
    for value, share in zip(values, weight):
        pools.append((float(value), float(share), 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, wa, na), (b, wb, nb) = pools[-2:]
            pools[-2:] = [((a * wa + b * wb) / (wa + wb), wa + wb, na + nb)]
    return np.concatenate([np.full(count, value) for value, _, count in pools])
