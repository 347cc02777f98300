"""Are both views in step? Paw agreement, height gap and lag, from the rows that both views share.

A point at height z lies on the same row of both views, so the rows of one joint read in the front and in the side
view must move alike. Everything here takes rows v (T, J) in layout px and weights (T, J) >= 0, in numpy.

A reader errs by a constant offset a joint more than by jitter, so every comparison first takes out the joint's own
median offset:  d(t, j) = f(t, j) - s(t, j) - median_t(f(., j) - s(., j)).

height_gap_px
    sum w min(|d|, clip) / sum w  over all joints and frames.
lag_frames
    The L in [-max_lag, max_lag] that minimises the height gap of f(t + L) against s(t), both smoothed by a Gaussian
    of `smooth_frames` (linear interpolation alone would favour half frames, where it averages noise). Positive: the
    front view is late. It is 0 unless it cuts the gap by `min_lag_gain`.
paw_agreement
    The share of the paws' motion that agrees as read. For paw c and frame t let E(t, c) be the mean of
    min(|d|, clip), weighted by w, over +- `window_frames` (Hann window). The alternatives are the front shifted by +-
    each of `shift_frames`, and, for a paw with a mirrored partner, the front's partner in its place. The paw-frame
    agrees when no alternative A has  E_A < margin_share * E - margin_px.  A set's share is weighted by
    w * (motion_floor_px + m), m being the smaller of both views' mean row speeds in the window: a standing paw, which
    agrees with anything, hardly counts, nor does a slip of the reader, which one view has alone. The agreement is
        min(share of all paws, share of the worst mirrored pair + worst_pair_slack),
    so that one swapped pair of many counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float64]

THRESHOLDS_FILE = Path(__file__).with_name("sync_thresholds.json")


@dataclass(frozen=True)
class SyncThresholds:
    """Constants of the formulas in this module's docstring (sync_thresholds.json)."""

    clean_paw_agreement: float
    window_frames: int
    shift_frames: tuple[int, ...]
    margin_share: float
    margin_px: float
    motion_floor_px: float
    worst_pair_slack: float
    gap_clip_px: float
    smooth_frames: float
    max_lag_frames: float
    lag_step_frames: float
    min_lag_gain: float
    warp_min_gain: float


@dataclass(frozen=True)
class SyncFigures:
    """How well both views are in step.

    Attributes:
        paw_agreement: 0..1, NaN for a creature without contacts.
        height_gap_px: as read. lag_frames: positive when the front view is late.
        gap_at_lag_px: the height gap of the smoothed rows at that lag; gap_at_zero_px: the same without lag.
    """

    paw_agreement: float
    height_gap_px: float
    lag_frames: float
    gap_at_lag_px: float
    gap_at_zero_px: float

    def clean(self, thresholds: SyncThresholds) -> bool:
        """True when the paws agree well enough to trust the clip (creatures without contacts always do)."""
        return not self.paw_agreement < thresholds.clean_paw_agreement


@cache
def load_thresholds(path: Path = THRESHOLDS_FILE) -> SyncThresholds:
    """The calibrated constants of the sync check."""
    data = json.loads(path.read_text(encoding="utf-8"))
    data.pop("comment", None)
    data["shift_frames"] = tuple(data["shift_frames"])
    return SyncThresholds(**data)


def smooth(rows: Rows, frames: float) -> Rows:
    """Gaussian of standard deviation `frames` along time; edges repeat the end value."""
    if frames <= 0 or len(rows) < 2:
        return rows
    reach = max(1, int(np.ceil(3 * frames)))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / frames) ** 2)
    return _convolve(rows, kernel / kernel.sum())


def _convolve(rows: Rows, kernel: Rows) -> Rows:
    """Convolve along time with an odd symmetric kernel, edges repeated."""
    reach = len(kernel) // 2
    padded = np.concatenate([rows[:1].repeat(reach, 0), rows, rows[-1:].repeat(reach, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, len(kernel), axis=0)
    return np.asarray(windows @ kernel)


def shifted(rows: Rows, lag: float | Rows) -> Rows:
    """rows(t + lag), linear between frames, the end value repeated; `lag` is one number or one a frame (T,)."""
    last = len(rows) - 1
    time = np.clip(np.arange(len(rows)) + lag, 0, last)
    before = np.minimum(time.astype(int), max(last - 1, 0))
    part = (time - before).reshape(-1, *[1] * (rows.ndim - 1))
    return np.asarray(rows[before] * (1 - part) + rows[np.minimum(before + 1, last)] * part)


def offset_free_difference(front: Rows, side: Rows) -> Rows:
    """(T, J) front minus side, each joint's median over time taken out."""
    difference = front - side
    return np.asarray(difference - np.median(difference, axis=0, keepdims=True))


def height_gap(front: Rows, side: Rows, weight: Rows, clip_px: float) -> float:
    """Weighted mean of |offset-free row difference|, clipped at `clip_px`; px."""
    gap = np.minimum(np.abs(offset_free_difference(front, side)), clip_px)
    return float((weight * gap).sum() / max(float(weight.sum()), 1e-12))


def best_lag(front: Rows, side: Rows, weight: Rows, thresholds: SyncThresholds) -> tuple[float, float, float]:
    """The lag of the front view by the formula above.

    Returns:
        lag in frames, the gap at that lag, the gap at lag 0 (both px, of smoothed rows).
    """
    reach = min(thresholds.max_lag_frames, (len(front) - 1) / 3)
    count = int(reach / thresholds.lag_step_frames)
    lags = np.arange(-count, count + 1) * thresholds.lag_step_frames
    front, side = smooth(front, thresholds.smooth_frames), smooth(side, thresholds.smooth_frames)
    # frames whose partner may lie outside the clip are left out for all lags alike
    edge = min(int(np.ceil(reach)), (len(front) - 1) // 3)
    inner = slice(edge, len(front) - edge)
    gaps = np.array(
        [height_gap(shifted(front, lag)[inner], side[inner], weight[inner], thresholds.gap_clip_px) for lag in lags]
    )
    best, zero = int(gaps.argmin()), count
    if gaps[best] > (1 - thresholds.min_lag_gain) * gaps[zero]:
        best = zero
    return float(lags[best]), float(gaps[best]), float(gaps[zero])


def _window_gap(front: Rows, side: Rows, weight: Rows, kernel: Rows, clip_px: float) -> Rows:
    """E(t, c): weighted local mean of the clipped offset-free row difference."""
    gap = np.minimum(np.abs(offset_free_difference(front, side)), clip_px)
    return np.asarray(_convolve(weight * gap, kernel) / np.maximum(_convolve(weight, kernel), 1e-12))


def paw_agreement(
    front: Rows,
    side: Rows,
    weight: Rows,
    partner: NDArray[np.int64],
    thresholds: SyncThresholds,
) -> float:
    """Share of the paws' motion that agrees as read, by the formula in this module's docstring.

    Args:
        front, side, weight: (T, C) rows and weights of the contact keypoints alone.
        partner: (C,) index, among these C, of the mirrored contact; its own index where there is none.

    Returns:
        0..1, or NaN when there are no contacts.
    """
    if front.shape[1] == 0 or len(front) < 2:
        return float("nan")
    front, side = smooth(front, thresholds.smooth_frames), smooth(side, thresholds.smooth_frames)
    reach = min(thresholds.window_frames, (len(front) - 1) // 2)
    kernel = np.hanning(2 * reach + 3)[1:-1]
    kernel = kernel / kernel.sum()

    def gap(moved: Rows) -> Rows:
        return _window_gap(moved, side, weight, kernel, thresholds.gap_clip_px)

    as_read, alone = gap(front), partner == np.arange(len(partner))
    rivals = [gap(shifted(front, sign * s)) for s in thresholds.shift_frames if s < len(front) for sign in (-1, 1)]
    rivals.append(np.where(alone, np.inf, gap(front[:, partner])))
    agrees = np.min(rivals, axis=0) >= thresholds.margin_share * as_read - thresholds.margin_px
    speeds = [_convolve(np.abs(np.gradient(rows, axis=0)), kernel) for rows in (front, side)]
    share = weight * (thresholds.motion_floor_px + np.minimum(*speeds))
    agreeing, total = (share * agrees).sum(0), share.sum(0)
    pairs = (agreeing + agreeing[partner]) / np.maximum(total + total[partner], 1e-12)
    overall = float(agreeing.sum() / max(float(total.sum()), 1e-12))
    return min(overall, float(pairs.min()) + thresholds.worst_pair_slack)


def partners(contacts: tuple[int, ...], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    """(C,) position among `contacts` of each contact's mirrored keypoint, or its own position."""
    mirror = {int(a): int(b) for left, right in pairs for a, b in ((left, right), (right, left))}
    place = {joint: index for index, joint in enumerate(contacts)}
    found = [place.get(mirror.get(joint, joint), index) for index, joint in enumerate(contacts)]
    return np.array(found, np.int64)


def sync_figures(
    front_v: Rows,
    side_v: Rows,
    front_conf: Rows,
    side_conf: Rows,
    contacts: tuple[int, ...],
    pairs: NDArray[np.int64],
    thresholds: SyncThresholds | None = None,
) -> SyncFigures:
    """All figures of the sync check of one reading.

    Args:
        front_v, side_v, front_conf, side_conf: (T, J) rows in layout px and confidences.
        contacts: keypoint indices that touch the ground. pairs: (P, 2) mirrored keypoints.
    """
    constants = thresholds or load_thresholds()
    weight = np.minimum(front_conf, side_conf)
    lag, at_lag, at_zero = best_lag(front_v, side_v, weight, constants)
    paws = list(contacts)
    agreement = paw_agreement(front_v[:, paws], side_v[:, paws], weight[:, paws], partners(contacts, pairs), constants)
    gap = height_gap(front_v, side_v, weight, constants.gap_clip_px)
    return SyncFigures(agreement, gap, lag, at_lag, at_zero)
