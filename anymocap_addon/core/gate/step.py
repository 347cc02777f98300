"""Are both views in step: what is highest and lowest is so in both pictures at the same time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .clip import SCALE, GateClip
from .colours import Palette
from .finding import Finding, Mark
from .limits import GateLimits

Array = NDArray[np.float64]

MOST_LAG = 10
REPAIRED_LAG = 1  # frames that the fit takes out
LEAST_PIXELS = 3  # of the creature in a row, to count it
LEAST_SHARE = 0.6  # of the frames in which a limb's colour is seen in both views
LEAST_RANGE_PX = 4.0  # by which a height must change to tell anything about time


def check_step(clip: GateClip, palette: Palette, limits: GateLimits) -> Finding:
    """Compare the heights of both silhouettes, and of the limbs' lowest coloured points, frame by frame."""
    front, side = heights(clip, palette)
    if not front.shape[1]:
        return Finding("step", {"height_gap_px": 0.0, "height_misfit": 0.0, "lag_frames": 0.0, "lag_gain": 0.0})
    tops = np.abs(front[:, 0] - side[:, 0])
    gap = float(np.nanmean(tops))
    frame = int(np.nanargmax(np.where(np.isnan(tops), -1, tops)))
    costs = lag_costs(front, side)
    lags = np.arange(-MOST_LAG, MOST_LAG + 1)
    best = int(np.nanargmin(costs))
    repaired = float(costs[np.abs(lags) <= REPAIRED_LAG].min())
    gain_px = repaired - float(costs[best])
    gain = gain_px / max(repaired, 1e-6)
    late = gain >= limits.lag_gain and gain_px >= limits.lag_gain_px
    lag = float(lags[best]) if late else 0.0
    misfit_px, spread = misfit(front[:, 0], side[:, 0])
    figures = {
        "height_gap_px": gap, "height_misfit": misfit_px / max(spread, 1e-6), "height_misfit_px": misfit_px,
        "lag_frames": lag, "lag_gain": gain, "lag_gain_px": gain_px,
    }  # fmt: skip
    reasons = []
    if abs(lag) >= limits.lag_frames:
        late_view = "front" if lag > 0 else "side"
        reasons.append(f"the {late_view} view is {abs(lag):.0f} frames late")
    otherwise = misfit_px > limits.height_misfit_px and misfit_px > limits.height_misfit * spread
    if gap > limits.height_gap_px or (otherwise and not reasons):
        reasons.append(f"the two views show different poses: their heights differ by {max(gap, misfit_px):.0f} px")
    split = clip.layout.w_front
    marks: tuple[Mark, ...] = ()
    if reasons:
        marks = tuple(
            (left + 6, row - 2, right - 6, row + 2)
            for (left, right), row in zip(
                ((0, split), (split, clip.layout.width)), (front[frame, 0], side[frame, 0]), strict=True
            )
            if np.isfinite(row)
        )
    return Finding("step", figures, tuple(reasons), frame, marks)


def heights(clip: GateClip, palette: Palette) -> tuple[Array, Array]:
    """(T, K) rows in layout px for the front and the side view, NaN where not seen: the top of the creature, then the
    lowest point of each limb colour that both views show.
    """
    front, side = ([_top(clip.masks[:, :, columns])] for columns in clip.studio.views)
    for group in range(len(palette.names)):
        lowest = [_lowest(palette.labels[:, :, columns] == group) for columns in clip.studio.views]
        both = np.isfinite(lowest[0]) & np.isfinite(lowest[1])
        if both.mean() >= LEAST_SHARE:
            front.append(lowest[0])
            side.append(lowest[1])
    return np.stack(front, 1), np.stack(side, 1)


def _top(masks: NDArray[np.bool_]) -> Array:
    rows = masks.sum(2) >= LEAST_PIXELS
    return np.where(rows.any(1), rows.argmax(1) / SCALE, np.nan)


def _lowest(masks: NDArray[np.bool_]) -> Array:
    rows = masks.sum(2) >= LEAST_PIXELS
    return np.where(rows.any(1), (rows.shape[1] - rows[:, ::-1].argmax(1)) / SCALE, np.nan)


def lag_costs(front: Array, side: Array) -> Array:
    """(2 MOST_LAG + 1) mean difference in px of the heights when the front view is taken that many frames later.

    Each height's constant offset between the views is taken out: thin ears and hidden paws differ for good.
    """
    moving = [k for k in range(front.shape[1]) if min(_range(front[:, k]), _range(side[:, k])) >= LEAST_RANGE_PX]
    costs = np.zeros(2 * MOST_LAG + 1)
    count = len(front)
    if not moving or count < 3 * MOST_LAG:
        return costs
    # The same frames of the side view for every lag, so that no lag is judged by easier frames.
    kept = np.arange(MOST_LAG, count - MOST_LAG)
    for at, lag in enumerate(range(-MOST_LAG, MOST_LAG + 1)):
        differences = front[kept + lag][:, moving] - side[kept][:, moving]
        costs[at] = np.nanmean(np.nanmean(np.abs(differences - np.nanmedian(differences, 0)), 0))
    return costs


def misfit(front: Array, side: Array) -> tuple[float, float]:
    """How far two heights differ beyond a constant and a lag that the fit repairs, px, and how far they vary, px.

    Args:
        front, side: (T) rows in layout px, NaN where not seen.
    """
    kept = np.arange(REPAIRED_LAG, len(front) - REPAIRED_LAG)
    lags = range(-REPAIRED_LAG, REPAIRED_LAG + 1)
    left = [_deviation(front[kept + lag] - side[kept]) for lag in lags]
    return min(left, default=0.0), min(_deviation(front), _deviation(side))


def _deviation(values: Array) -> float:
    """Mean distance from the median; 0 of nothing."""
    seen = values[np.isfinite(values)]
    return float(np.abs(seen - np.median(seen)).mean()) if len(seen) else 0.0


def _range(values: Array) -> float:
    if not np.isfinite(values).any():
        return 0.0
    low, high = np.nanpercentile(values, [10, 90])
    return float(high - low)
