"""Does the split hold: the divider stays where it was and both walls keep their colour."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .clip import FIRST_FRAMES, SCALE, GateClip
from .finding import Finding, Mark
from .limits import GateLimits

Array = NDArray[np.float64]

REACH = 48  # columns either side of the divider's place where it is looked for
BORDER = 6  # columns and rows of the picture's border


def check_split(clip: GateClip, limits: GateLimits) -> Finding:
    """Follow the divider, the walls' colours, and what stands along the picture's border."""
    place, strength = divider(clip)
    usual = float(np.median(strength[:FIRST_FRAMES]))
    drift = np.maximum(np.abs(place - np.median(place[:FIRST_FRAMES])), np.abs(place - clip.studio.split)) / SCALE
    share = strength / max(usual, 1.0)
    wall = np.abs(clip.walls - np.median(clip.walls[:FIRST_FRAMES], 0)).max((1, 2))
    wall = np.maximum(wall, np.abs(clip.walls[:, 0] - clip.walls[:, 1]).max(1))
    border = _border(clip)
    figures = {
        "divider_px": drift.max(), "divider_strength": share.min(),
        "wall_levels": wall.max(), "border_share": border.max(),
    }  # fmt: skip
    reasons, frame = [], int(drift.argmax())
    u = clip.layout.w_front
    marks: tuple[Mark, ...] = ((u - REACH / 2, 0, u + REACH / 2, clip.layout.height),)
    if usual < 8 or share.min() < limits.divider_strength:
        frame = int(share.argmin())
        reasons.append("the line between the two views fades away")
    elif drift.max() > limits.divider_px:
        reasons.append(f"the line between the two views moves by {drift.max():.0f} px")
    if wall.max() > limits.wall_levels:
        frame, marks = int(wall.argmax()), ((0, 0, clip.layout.width, clip.layout.ground_v),)
        reasons.append("the wall behind the creature changes its colour")
    if border.max() > limits.border_share:
        frame, marks = int(border.argmax()), ((0, 0, clip.layout.width, clip.layout.height),)
        reasons.append("wall and floor are no longer plain: something else shows along the edge of the picture")
    return Finding("split", figures, tuple(reasons), frame, marks if reasons else ())


def divider(clip: GateClip) -> tuple[Array, Array]:
    """(T) column of the divider in the half-size picture, and (T) how much darker than the walls it is, levels."""
    middle = round(clip.studio.split)
    low, high = max(middle - REACH, 0), min(middle + REACH, clip.studio.size[0])
    rows = slice(0, round(clip.studio.ground) - 4)
    grey = clip.frames[:, rows, low:high].mean(-1)
    dark = clip.walls.mean((1, 2))[:, None] - np.median(grey, 1)
    dark = np.maximum(dark, 0)
    strength = dark.max(1)
    peak = dark.argmax(1)
    columns = np.arange(dark.shape[1])
    near = np.abs(columns - peak[:, None]) <= 3
    weight = np.where(near, dark, 0)
    place = (weight * (columns + 0.5)).sum(1) / np.maximum(weight.sum(1), 1e-6) + low
    return place, strength


def _border(clip: GateClip) -> Array:
    """(T) share of the border's pixels, where the reference is empty, that are neither wall nor floor."""
    height, width = clip.masks.shape[1:]
    ring = np.ones((height, width), bool)
    ring[BORDER:-BORDER, BORDER:-BORDER] = False
    ring &= clip.studio.empty
    shares: Array = clip.masks[:, ring].mean(1)
    return shares
