"""Is the camera locked: the floor's edge stays where it was in both views (the divider is split's)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .clip import FIRST_FRAMES, SCALE, GateClip
from .colours import smoothed
from .finding import Finding, Mark
from .limits import GateLimits

Array = NDArray[np.float64]

REACH = 40  # rows above and below the floor's edge where it is looked for
LEAST_STEP = 4.0  # levels between wall and floor


def check_camera(clip: GateClip, limits: GateLimits) -> Finding:
    """Follow the floor's edge in both views."""
    if not clip.studio.has_floor:
        return Finding("camera", {"floor_px": 0.0})
    places = np.stack([floor_edge(clip, view) for view in (0, 1)], 1)
    places = np.stack([smoothed(places[:, view]) for view in (0, 1)], 1)  # a foot on the edge for a frame is no move
    moved = np.abs(places - np.median(places[:FIRST_FRAMES], 0)) / SCALE
    frame, view = np.unravel_index(int(moved.argmax()), moved.shape)
    figures = {"floor_px": moved.max()}
    if moved.max() <= limits.floor_px:
        return Finding("camera", figures, frame=int(frame))
    split, ground = clip.layout.w_front, clip.layout.ground_v
    left, right = ((0, split), (split, clip.layout.width))[view]
    marks: tuple[Mark, ...] = ((left, ground - 30, right, ground + 30),)
    reason = f"the camera moves: the floor's edge shifts by {moved.max():.0f} px"
    return Finding("camera", figures, (reason,), int(frame), marks)


def floor_edge(clip: GateClip, view: int) -> Array:
    """(T) row of the floor's edge in one view of the half-size picture.

    The row where brightness passes the middle between wall and floor, in the median over the columns: feet and body
    that stand in front of less than half of them do not move it.
    """
    ground = round(clip.studio.ground)
    low, high = max(ground - REACH, 0), min(ground + REACH, clip.studio.size[1])
    columns = clip.studio.views[view]
    grey = clip.frames[:, low:high, columns].astype(np.float32).mean(-1)
    covered = clip.masks[:, low:high, columns]
    # Where the creature stands nothing is known of the floor behind it.
    covered &= (np.abs(np.arange(low, high) - ground) > 6)[:, None]
    covered[..., 0] = False  # a row that the creature fills has a middle too
    profile = np.nanmedian(np.where(covered, np.nan, grey), 2)
    wall, floor = clip.walls[:, view].mean(1), clip.floors[:, view].mean(1)
    places = np.full(clip.T, float(ground))
    for t, row in enumerate(profile):
        if floor[t] - wall[t] < LEAST_STEP:
            continue
        # The area under the profile tells where the step is, to a fraction of a row.
        share = np.clip((row - wall[t]) / (floor[t] - wall[t]), 0, 1)
        places[t] = high - share.sum()
    return places
