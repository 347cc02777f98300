"""Both views brought into step: the front view's time is bent onto the side view's, by fractions of a frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .sync import SyncThresholds, best_lag, height_gap, shifted, smooth

Array = NDArray[np.float64]

PATH_STEP_FRAMES = 0.25
PATH_STIFFNESS = 4.0
PATH_SMOOTH_FRAMES = 6.0


@dataclass(frozen=True, eq=False)
class Warp:
    """Lag of the front view a frame (T,), and the height gaps (px, smoothed rows) without and with it."""

    lag: Array
    gap_before_px: float
    gap_after_px: float


def lag_path(front: Array, side: Array, weight: Array, centre: float, thresholds: SyncThresholds) -> Array:
    """(T,) lag that drifts slowly around `centre`: the Viterbi path over lags, its jumps penalised, then smoothed.

    Args:
        front, side, weight: (T, J) smoothed rows in px.
    """
    reach = min(2.0, thresholds.max_lag_frames)
    lags = centre + np.arange(-reach, reach + 1e-9, PATH_STEP_FRAMES)
    offset = np.median(shifted(front, centre) - side, axis=0)
    share = weight / np.maximum(weight.sum(1, keepdims=True), 1e-12)
    gaps = [np.minimum(np.abs(shifted(front, lag) - side - offset), thresholds.gap_clip_px) for lag in lags]
    cost = np.stack([(share * gap).sum(1) for gap in gaps], 1)
    jump = PATH_STIFFNESS * np.abs(lags[:, None] - lags)
    total, origin = cost[0], np.zeros(cost.shape, np.int64)
    for t in range(1, len(cost)):
        reached = total[:, None] + jump
        origin[t] = reached.argmin(0)
        total = reached.min(0) + cost[t]
    path = np.zeros(len(cost), np.int64)
    path[-1] = total.argmin()
    for t in range(len(cost) - 1, 0, -1):
        path[t - 1] = origin[t, path[t]]
    return smooth(lags[path], PATH_SMOOTH_FRAMES)


def find_warp(front: Array, side: Array, weight: Array, thresholds: SyncThresholds) -> Warp | None:
    """The warp of the front view, or None when none cuts the height gap by `warp_min_gain`.

    One lag for the whole clip is tried first; a drifting one replaces it only when it cuts the gap that is left by
    `warp_min_gain` once more.

    Args:
        front, side, weight: (T, J) rows in layout px and weights.
    """
    if len(front) < 8:
        return None
    lag, at_lag, at_zero = best_lag(front, side, weight, thresholds)
    keep = 1 - thresholds.warp_min_gain
    rows = smooth(front, thresholds.smooth_frames), smooth(side, thresholds.smooth_frames)
    path = lag_path(*rows, weight, lag, thresholds)
    at_path = height_gap(shifted(rows[0], path), rows[1], weight, thresholds.gap_clip_px)
    whole = height_gap(shifted(rows[0], lag), rows[1], weight, thresholds.gap_clip_px)
    if at_path <= keep * whole:
        before = height_gap(*rows, weight, thresholds.gap_clip_px)
        if at_path <= keep * before:
            return Warp(path, before, at_path)
    if lag != 0 and at_lag <= keep * at_zero:
        return Warp(np.full(len(front), lag), at_zero, at_lag)
    return None


def warped(track: Array, lag: Array) -> Array:
    """`track` (T, ...) read at t + lag(t)."""
    return shifted(track, lag)
