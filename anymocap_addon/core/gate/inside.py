"""Is the whole creature in the picture: its outline touches neither the edge nor the divider."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .clip import SCALE, GateClip
from .finding import Finding, Mark
from .limits import GateLimits

STRIP = 2  # columns or rows at an edge


def check_inside(clip: GateClip, limits: GateLimits) -> Finding:
    """Measure the outline along the edges of both views."""
    lengths, edges = [], []
    height = clip.layout.height
    for columns in clip.studio.views:
        masks = clip.masks[:, :, columns]
        left, right = columns.start / SCALE, columns.stop / SCALE
        lengths += [
            masks[:, :, :STRIP].any(2).sum(1), masks[:, :, -STRIP:].any(2).sum(1),
            masks[:, :STRIP].any(1).sum(1), masks[:, -STRIP:].any(1).sum(1),
        ]  # fmt: skip
        edges += [
            (left, 0, left + 30, height), (right - 30, 0, right, height),
            (left, 0, right, 30), (left, height - 30, right, height),
        ]  # fmt: skip
    touching: NDArray[np.float64] = np.stack(lengths, 1) / SCALE
    frame, edge = np.unravel_index(int(touching.argmax()), touching.shape)
    figures = {"cut_off_px": touching.max()}
    if touching.max() <= limits.cut_off_px:
        return Finding("inside", figures, frame=int(frame))
    view = ("front", "side")[edge // 4]
    where = ("left edge", "right edge", "top", "bottom")[edge % 4]
    marks: tuple[Mark, ...] = (edges[edge],)
    return Finding(
        "inside", figures, (f"the creature is cut off at the {where} of the {view} view",), int(frame), marks
    )
