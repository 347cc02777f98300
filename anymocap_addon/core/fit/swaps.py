"""Left/right swaps of the reader, undone: a two-state Viterbi over frames, for the whole view, then each limb.

A burst of swapped frames agrees with itself, so a robust loss does not reject it. Two things give it away: the rows
of the other view, and the jump of every track at both ends. State 0 is "as read", state 1 is "left and right changed
places"; the cost of a path is

    sum_t sum_j w min(|v(t, j) - other's v(t, j)|, row_clip) + prior (state 1)
  + sum_t sum_j travel * min(|p(t, j) - p(t-1, j)|, travel_clip)

with the joint's own median row difference taken out (a reader errs by constant offsets).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..rig import RigInfo

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class SwapRules:
    """Constants of the path's cost, px. `prior_px` is the cost of state 1, a frame and swapped joint."""

    row_clip_px: float = 15.0
    travel_clip_px: float = 40.0
    travel_share: float = 0.7
    prior_px: float = 1.0


@dataclass(frozen=True)
class View:
    """One view's reading: uv (T, J, 2) layout px, confidence (T, J)."""

    uv: Array
    confidence: Array


def limb_pairs(rig: RigInfo) -> list[NDArray[np.int64]]:
    """The mirrored pairs (P, 2), one array a limb: pairs whose left joints share a body part."""
    group_of = {joint: name for name, joints in rig.joint_groups.items() for joint in joints}
    limbs: dict[str, list[NDArray[np.int64]]] = {}
    for index, pair in enumerate(rig.pairs):
        limbs.setdefault(group_of.get(int(pair[0]), f"pair {index}"), []).append(pair)
    return [np.array(pairs, np.int64) for pairs in limbs.values()]


def exchanged(view: View, pairs: NDArray[np.int64], frames: Mask) -> View:
    """`view` with left and right of `pairs` changed where `frames` (T,) is True."""
    near = np.concatenate([pairs[:, 0], pairs[:, 1]])
    far = np.concatenate([pairs[:, 1], pairs[:, 0]])
    uv, confidence = view.uv.copy(), view.confidence.copy()
    at = np.flatnonzero(frames)[:, None]
    uv[at, near], confidence[at, near] = view.uv[at, far], view.confidence[at, far]
    return View(uv, confidence)


def cheapest_path(stay: Array, move: Array) -> Mask:
    """(T,) True where the cheapest path is in state 1.

    Args:
        stay: (T, 2) cost of being in a state. move: (T, 2, 2) cost of coming from a state into a state; row 0 unused.
    """
    frames = len(stay)
    origin = np.zeros((frames, 2), np.int64)
    total = stay[0].copy()
    for t in range(1, frames):
        reached = total[:, None] + move[t]
        origin[t] = reached.argmin(0)
        total = reached.min(0) + stay[t]
    path = np.zeros(frames, np.int64)
    path[-1] = total.argmin()
    for t in range(frames - 1, 0, -1):
        path[t - 1] = origin[t, path[t]]
    return path.astype(bool)


def swapped_frames(view: View, other: View, pairs: NDArray[np.int64], rules: SwapRules) -> Mask:
    """(T,) the frames in which left and right of `pairs` changed places in `view`."""
    near = np.concatenate([pairs[:, 0], pairs[:, 1]])
    far = np.concatenate([pairs[:, 1], pairs[:, 0]])
    offset = np.median(view.uv[:, near, 1] - other.uv[:, near, 1], axis=0)
    weight = [np.sqrt(view.confidence[:, joints] * other.confidence[:, near]) for joints in (near, far)]
    places = [view.uv[:, joints] for joints in (near, far)]
    rows = [
        (w * np.minimum(np.abs(p[..., 1] - other.uv[:, near, 1] - offset), rules.row_clip_px)).sum(1)
        for w, p in zip(weight, places, strict=True)
    ]
    rows[1] += rules.prior_px * len(near) / 2
    move = np.zeros((len(view.uv), 2, 2))
    for before in (0, 1):
        for after in (0, 1):
            step = np.linalg.norm(places[after][1:] - places[before][:-1], axis=-1)
            move[1:, before, after] = rules.travel_share * np.minimum(step, rules.travel_clip_px).sum(1)
    return cheapest_path(np.stack(rows, 1), move)


def repaired(view: View, other: View, rig: RigInfo, rules: SwapRules | None = None) -> tuple[View, int]:
    """`view` with its swaps undone, first of the whole view, then limb by limb.

    A path that calls most of the clip swapped is not believed: then both views disagree throughout, and which of them
    is wrong cannot be told from here.

    Returns:
        the view, and how many frames were changed in any way.
    """
    rules = rules or SwapRules()
    if len(rig.pairs) == 0 or len(view.uv) < 2:
        return view, 0
    changed = np.zeros(len(view.uv), bool)
    for pairs in (rig.pairs, *limb_pairs(rig)):
        frames = swapped_frames(view, other, pairs, rules)
        if frames.mean() <= 0.5:
            view = exchanged(view, pairs, frames)
            changed |= frames
    return view, int(changed.sum())
