"""A reading made ready for the fit: checked, in the rig's order, swaps undone, views brought into step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..detections import Detections
from ..errors import BadInputError
from ..rig import RigInfo
from .swaps import View, repaired
from .sync import height_gap, load_thresholds, sync_figures
from .warp import find_warp, warped

Array = NDArray[np.float64]

LEAST_FRAMES = 3


@dataclass(frozen=True)
class Reading:
    """Both views, ready, and the figures of the sync check (of the reading as it came)."""

    front: View
    side: View
    sync: dict[str, Any]


def _checked(detections: Detections, rig: RigInfo) -> None:
    frames, joints = detections.T, len(detections.names)
    where = "det.npz"
    missing = [name for name in rig.keypoints if name not in detections.names]
    if missing:
        raise BadInputError(
            f"The reading lacks the keypoints {', '.join(missing[:5])} of rig {rig.creature!r}.",
            file=where,
            key="names",
            hint="The reader was trained on another rig: train it again and run detect.",
        )
    if frames < LEAST_FRAMES:
        raise BadInputError(
            f"The reading has {frames} frames; a motion needs at least {LEAST_FRAMES}.",
            file=where,
            hint="Use a longer clip.",
        )
    if not (np.isfinite(detections.fps) and detections.fps > 0):
        raise BadInputError(f"The frame rate is {detections.fps}.", file=where, key="fps", hint="Run detect again.")
    shapes = {
        "front_uv": (frames, joints, 2),
        "side_uv": (frames, joints, 2),
        "front_conf": (frames, joints),
        "side_conf": (frames, joints),
    }
    for key, shape in shapes.items():
        array = getattr(detections, key)
        if array.shape != shape:
            raise BadInputError(f"has shape {array.shape}, not {shape}.", file=where, key=key, hint="Run detect again.")
        if not np.isfinite(array).all():
            raise BadInputError("holds NaN or infinity.", file=where, key=key, hint="Run detect again.")
        if key.endswith("conf"):
            _check_confidence(array, where, key)


def _check_confidence(confidence: Array, where: str, key: str) -> None:
    if confidence.min() < 0 or confidence.max() > 1:
        raise BadInputError("holds confidences outside 0..1.", file=where, key=key, hint="Run detect again.")
    if not confidence.any():
        raise BadInputError(
            "is zero throughout: nothing was recognised in this view.",
            file=where,
            key=key,
            hint="Look at overlay.mp4: is the creature in both views?",
        )


def prepare(detections: Detections, rig: RigInfo, fix_front_swaps: bool) -> Reading:
    """Check a reading and repair what both views together reveal.

    Swaps are undone in the side view, and in the front view when the creature asks for it; then the front view is
    warped onto the side view when that cuts the height gap enough.

    Raises:
        BadInputError: wrong names, shapes, NaN, fewer than 3 frames, no confidence in a view.
    """
    _checked(detections, rig)
    order = [detections.names.index(name) for name in rig.keypoints]
    front = View(detections.front_uv[:, order].astype(float), detections.front_conf[:, order].astype(float))
    side = View(detections.side_uv[:, order].astype(float), detections.side_conf[:, order].astype(float))
    thresholds = load_thresholds()
    figures = sync_figures(
        front.uv[..., 1], side.uv[..., 1], front.confidence, side.confidence, rig.contacts, rig.pairs, thresholds
    )
    side, side_swaps = repaired(side, front, rig)
    front_swaps = 0
    if fix_front_swaps:
        front, front_swaps = repaired(front, side, rig)
    weight = np.minimum(front.confidence, side.confidence)
    warp = find_warp(front.uv[..., 1], side.uv[..., 1], weight, thresholds)
    if warp is not None:
        front = View(warped(front.uv, warp.lag), warped(front.confidence, warp.lag))
    agreement = figures.paw_agreement
    sync: dict[str, Any] = {
        "paw_agreement": None if np.isnan(agreement) else agreement,
        "clean": figures.clean(thresholds),
        "height_gap_px": figures.height_gap_px,
        "lag_frames": figures.lag_frames,
        "height_gap_after_px": height_gap(front.uv[..., 1], side.uv[..., 1], weight, thresholds.gap_clip_px),
        "warped": warp is not None,
        "warp_lag_frames": [float(warp.lag.min()), float(warp.lag.max())] if warp is not None else None,
        "swapped_frames_front": front_swaps,
        "swapped_frames_side": side_swaps,
    }
    return Reading(front, side, sync)
