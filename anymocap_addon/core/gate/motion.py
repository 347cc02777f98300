"""Does the creature move, and go on moving."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from .clip import GateClip
from .finding import Finding
from .limits import GateLimits

Array = NDArray[np.float64]


def check_motion(clip: GateClip, limits: GateLimits) -> Finding:
    """Find the longest standstill."""
    changed = changes(clip)
    still = changed < limits.still_levels
    longest, start, run = 0, 0, 0
    for t, stands in enumerate(still):
        run = run + 1 if stands else 0
        if run > longest:
            longest, start = run, t - run + 1
    share = longest / max(len(changed), 1)
    figures = {"still_share": share, "still_levels": float(np.median(changed)) if len(changed) else 0.0}
    if share <= limits.still_share:
        return Finding("motion", figures, frame=start)
    seconds = longest / clip.fps
    reason = (
        "nothing moves in the whole clip" if share > 0.9 else f"the creature stands still for {seconds:.1f} seconds"
    )
    return Finding("motion", figures, (reason,), min(start + longest // 2, clip.T - 1))


def changes(clip: GateClip) -> Array:
    """(T - 1) mean difference of the creature's pixels from the frame before, levels, less that of the empty studio
    (noise and compression).
    """
    grey = [cv2.GaussianBlur(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), (0, 0), 1.5).astype(np.float32)
            for frame in clip.frames]  # fmt: skip
    found = np.zeros(max(clip.T - 1, 0))
    for t in range(1, clip.T):
        difference = np.abs(grey[t] - grey[t - 1])
        creature = clip.masks[t] | clip.masks[t - 1]
        empty = clip.studio.empty & ~creature
        if creature.any():
            found[t - 1] = difference[creature].mean() - (difference[empty].mean() if empty.any() else 0.0)
    return found
