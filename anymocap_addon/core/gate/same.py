"""Is it the creature of the reference frame: its colours and its size in both views."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..palette import oklab
from .clip import GateClip
from .colours import boxes_of, smoothed
from .finding import Finding
from .limits import GateLimits

Array = NDArray[np.float64]

LEAST_AREA = 60
BINS = (6, 16, 16)
LOW, HIGH = np.array([0.0, -0.32, -0.32]), np.array([1.0, 0.32, 0.32])


def check_same(clip: GateClip, limits: GateLimits) -> Finding:
    """Compare every frame's colours and silhouettes with the reference frame's."""
    distance, factor = np.zeros((clip.T, 2)), np.ones((clip.T, 2))
    for view, columns in enumerate(clip.studio.views):
        mask = clip.reference_mask[:, columns]
        wanted, area = _histogram(clip.reference[:, columns], mask), mask.sum()
        for t in range(clip.T):
            own = clip.masks[t, :, columns]
            distance[t, view] = 1 - np.minimum(wanted, _histogram(clip.frames[t, :, columns], own)).sum()
            ratio = max(own.sum(), 1) / max(area, 1)
            factor[t, view] = max(ratio, 1 / ratio)
        distance[:, view], factor[:, view] = smoothed(distance[:, view]), smoothed(factor[:, view])
    figures = {"colour_distance": distance.max(), "area_factor": factor.max()}
    reasons, frame = [], int(distance.max(1).argmax())
    if distance.max() > limits.colour_distance:
        reasons.append("the creature's colours are not those of the reference frame")
    if factor.max() > limits.area_factor:
        frame = int(factor.max(1).argmax())
        reasons.append(f"the creature is {factor.max():.1f} times larger or smaller than in the reference frame")
    marks = boxes_of(clip.masks[frame], clip) if reasons else ()
    return Finding("same", figures, tuple(reasons), frame, marks)


def _histogram(picture: NDArray[np.uint8], mask: NDArray[np.bool_]) -> Array:
    """Shares of the creature's pixels by colour, blurred: a shade's shift does not move a pixel out of its bin."""
    pixels = picture[mask]
    if len(pixels) < LEAST_AREA:
        return np.zeros(BINS)
    places = (oklab(pixels[::2] / 255.0) - LOW) / (HIGH - LOW) * BINS
    cells = np.clip(places.astype(int), 0, np.array(BINS) - 1)
    counts = np.zeros(BINS)
    np.add.at(counts, tuple(cells.T), 1.0)
    for axis in range(3):
        counts = (np.roll(counts, 1, axis) + 2 * counts + np.roll(counts, -1, axis)) / 4
    shares: Array = counts / counts.sum()
    return shares
