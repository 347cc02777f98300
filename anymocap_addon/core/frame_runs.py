"""Runs of consecutive frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def frame_runs(on: NDArray[np.bool_], least: int = 1) -> list[tuple[int, int]]:
    """The runs [start, end) of True in `on` (T,) that are at least `least` frames long."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], on.astype(int), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a >= least]
