"""Points and names that mirror each other across the mid-plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .checkup.side_names import side_stem
from .rest_bones import MIDDLE, PAIR_MISS, Array


def find_pairs(points: Array, size: float, names: tuple[str, ...] = (), rank: Array | None = None) -> NDArray[np.int64]:
    """(P, 2) points that mirror each other, left first: mutual best partners across the mid-plane x = 0.

    Args:
        points: (J, 3) at rest, metres. size: the body's largest extent, metres.
        names: J names, of which partners share all but the word for the side; they decide between near candidates.
        rank: (J,) place within the limb, which partners share too.
    """
    left = np.flatnonzero(points[:, 0] > MIDDLE * size / 4)
    right = np.flatnonzero(points[:, 0] < -MIDDLE * size / 4)
    if not len(left) or not len(right):
        return np.zeros((0, 2), np.int64)
    miss = np.linalg.norm(points[left][:, None] - points[right][None] * [-1.0, 1.0, 1.0], axis=-1) / size
    cost = miss.copy()
    if names:
        stems = [side_stem(name) for name in names]
        cost += PAIR_MISS * np.array([[stems[a] != stems[b] for b in right] for a in left])
    if rank is not None:
        cost += PAIR_MISS * (rank[left][:, None] != rank[right][None])
    best_right, best_left = cost.argmin(1), cost.argmin(0)
    pairs = [
        (int(left[i]), int(right[r])) for i, r in enumerate(best_right) if best_left[r] == i and miss[i, r] < PAIR_MISS
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)
