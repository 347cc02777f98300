"""Two frames of the clip for the report: a usual one and the worst, in layout pixels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from ..errors import BadInputError
from ..layout import WALL, Layout
from ..video.decode import frames_at
from .canvas import Picture
from .figures import Capture


@dataclass(frozen=True, eq=False)
class Still:
    """A frame of the clip: its title, number and picture (720, 1280, 3) RGB in layout pixels."""

    title: str
    frame: int
    picture: Picture


def frame_errors(capture: Capture) -> NDArray[np.float64]:
    """(T,) mean distance in px between reading and reprojection over joints and views."""
    motion = capture.motion
    errors: NDArray[np.float64] = (motion.reproj_front.mean(1) + motion.reproj_side.mean(1)) / 2
    return errors


def usual_and_worst(errors: NDArray[np.float64]) -> tuple[int, int]:
    """The frame nearest to the median error and the frame of the largest."""
    return int(np.abs(errors - np.median(errors)).argmin()), int(errors.argmax())


def on_layout(picture: Picture, calib: NDArray[np.float64], layout: Layout) -> Picture:
    """A frame of the clip warped by the affine from clip to layout pixels (continuous coordinates)."""
    # cv2 counts from pixel centres, the affine from the canvas' corner: half a pixel on both sides.
    shift = calib[:, 2] + calib[:, :2] @ np.array([0.5, 0.5]) - 0.5
    affine = np.concatenate([calib[:, :2], shift[:, None]], 1)
    size = (layout.width, layout.height)
    return np.asarray(cv2.warpAffine(picture, affine, size, flags=cv2.INTER_LINEAR, borderValue=WALL), np.uint8)


def _decoded(video: Path, times: list[float]) -> list[Picture]:
    """The frames nearest to `times` in any order."""
    order = np.argsort(times)
    pictures = list(frames_at(video, np.array(times)[order], threads=1))
    return [pictures[int(np.flatnonzero(order == i)[0])] for i in range(len(times))]


def two_stills(capture: Capture, video: Path | None) -> list[Still]:
    """A usual and the worst frame; the empty studio stands in where the clip is no longer there or not readable."""
    usual, worst = usual_and_worst(frame_errors(capture))
    frames = [usual, worst]
    note = ""
    studio = capture.layout.studio()
    pictures = [studio, studio]
    if video is None or not video.is_file():
        note = " (the clip is not at hand)"
    else:
        try:
            decoded = _decoded(video, [float(capture.detections.pts[t]) for t in frames])
            pictures = [on_layout(p, capture.detections.calib, capture.layout) for p in decoded]
        except BadInputError as error:
            note = f" (the clip cannot be read: {error.message})"
    titles = (f"A usual frame, {usual}{note}", f"The worst frame, {worst}{note}")
    return [Still(title, t, p) for title, t, p in zip(titles, frames, pictures, strict=True)]
