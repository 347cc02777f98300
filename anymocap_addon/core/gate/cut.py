"""Is the clip one take: no frame that its predecessor cannot have moved into."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from .clip import GateClip
from .finding import Finding
from .limits import GateLimits

Array = NDArray[np.float64]

# Up to this many frames away; the very next ones are left out, into which video models smear a cut.
# In a fast walk that hides it, for each step jumps too: there the whole clip tells.
NEIGHBOURS = 4
LEAST_LEVELS = 0.5  # what compression alone leaves, so that a still clip has no jumps


def check_cut(clip: GateClip, limits: GateLimits) -> Finding:
    """Compare what movement does not explain in each frame with the frames around it."""
    strange = unexplained(clip)
    if len(strange) < 2 * NEIGHBOURS:
        return Finding("cut", {"jump_factor": 1.0, "jump_alone": 1.0, "jump_levels": 0.0})
    factors, alone = beyond(strange, NEIGHBOURS), beyond(strange, len(strange))
    excess = np.maximum(factors / limits.jump_factor, alone / limits.jump_alone)
    candidates = np.where(strange >= limits.jump_levels, excess, 0.0)
    at = int(candidates.argmax()) if candidates.any() else int(excess.argmax())
    figures = {
        "jump_factor": float(factors[at]), "jump_alone": float(alone[at]), "jump_levels": float(strange[at]),
    }  # fmt: skip
    if candidates[at] <= 1:
        return Finding("cut", figures, frame=at + 1)
    return Finding("cut", figures, (f"the clip jumps at {(at + 1) / clip.fps:.1f} seconds: a cut",), at + 1)


def beyond(strange: Array, reach: int) -> Array:
    """(T - 1) each value as a multiple of the largest of those up to `reach` frames away, the very next left out."""
    factors = np.ones(len(strange))
    for t, value in enumerate(strange):
        around = np.r_[strange[max(t - reach, 0) : max(t - 1, 0)], strange[t + 2 : t + 1 + reach]]
        factors[t] = value / max(float(around.max()), LEAST_LEVELS)
    return factors


def unexplained(clip: GateClip) -> Array:
    """(T - 1) what movement does not explain: the mean difference of the creature's pixels, levels, from the frame
    before, after that was moved along the optical flow between the two (dense inverse search, Kroeger et al. 2016).
    """
    flow = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST)
    height, width = clip.frames.shape[1] // 2, clip.frames.shape[2] // 2
    grey = [
        cv2.GaussianBlur(cv2.resize(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), (width, height)), (0, 0), 1.0)
        for frame in clip.frames
    ]
    columns, rows = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    found = np.zeros(max(clip.T - 1, 0))
    for t in range(1, clip.T):
        creature = (clip.masks[t] | clip.masks[t - 1])[::2, ::2][:height, :width]
        if not creature.any():
            continue
        way = flow.calc(grey[t], grey[t - 1], np.zeros((height, width, 2), np.float32))
        moved = cv2.remap(grey[t - 1], columns + way[..., 0], rows + way[..., 1], cv2.INTER_LINEAR)
        found[t - 1] = np.abs(moved.astype(np.float32) - grey[t])[creature].mean()
    return found
