"""Readings of a clip with a variable frame rate, laid on even times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..video.decode import Timing

Array = NDArray[np.float64]


def even_times(timing: Timing) -> Array:
    """(T') seconds from 0 to the last frame in steps of 1 / fps."""
    count = int(np.floor(timing.pts[-1] * timing.fps + 1e-6)) + 1
    times: Array = np.arange(count) / timing.fps
    return times


def at_times(values: Array, pts: Array, times: Array) -> Array:
    """`values` (T, ...) read at `pts` (T), linearly interpolated to `times` (T')."""
    flat = values.reshape(len(values), -1)
    columns = [np.interp(times, pts, flat[:, column]) for column in range(flat.shape[1])]
    result: Array = np.stack(columns, 1).reshape(len(times), *values.shape[1:])
    return result
