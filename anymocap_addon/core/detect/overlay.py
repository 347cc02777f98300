"""The joints drawn on the clip, coloured by the reader's confidence."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from ..confidence_colour import DOUBT, Colour, confidence_colour
from ..detections import Detections

Picture = NDArray[np.uint8]
OUTLINE: Colour = (22, 24, 28)
BONE: Colour = (240, 242, 246)
BONE_STRENGTH = 0.75
RADIUS_PX, DOUBTFUL_RADIUS_PX, OUTLINE_PX = 4.0, 3.0, 1.5
SHIFT = 4  # OpenCV draws with this many fractional bits
LEGEND_WIDTH, LEGEND_HEIGHT, MARGIN = 120, 8, 14


def draw_joints(picture: Picture, detections: Detections, frame: int, links: list[tuple[int, int]]) -> Picture:
    """A copy of `picture` (720, 1280, 3), whose pixels are the layout's, with the joints of both views on it."""
    drawn = np.array(picture, copy=True)
    views = (
        (detections.front_uv[frame], detections.front_conf[frame]),
        (detections.side_uv[frame], detections.side_conf[frame]),
    )
    lines = drawn.copy()
    for uv, _ in views:
        for a, b in links:
            cv2.line(lines, _point(uv[a]), _point(uv[b]), OUTLINE, 3, cv2.LINE_AA, SHIFT)
        for a, b in links:
            cv2.line(lines, _point(uv[a]), _point(uv[b]), BONE, 1, cv2.LINE_AA, SHIFT)
    drawn = np.asarray(cv2.addWeighted(lines, BONE_STRENGTH, drawn, 1 - BONE_STRENGTH, 0), np.uint8)
    for uv, confidence in views:
        for joint in np.argsort(confidence):  # confident ones on top
            _dot(drawn, uv[joint], float(confidence[joint]))
    _legend(drawn)
    _caption(drawn, f"frame {frame + 1} of {detections.T}   {detections.pts[frame]:.2f} s")
    return drawn


def _point(uv: NDArray[np.float64]) -> tuple[int, int]:
    """A layout point in OpenCV's fixed-point pixel-centre coordinates, kept far inside what it can draw."""
    u, v = np.clip((uv - 0.5) * (1 << SHIFT), -30000, 30000)
    return round(float(u)), round(float(v))


def _dot(drawn: Picture, uv: NDArray[np.float64], confidence: float) -> None:
    radius = RADIUS_PX if confidence >= DOUBT else DOUBTFUL_RADIUS_PX
    for size, colour in ((radius + OUTLINE_PX, OUTLINE), (radius, confidence_colour(confidence))):
        cv2.circle(drawn, _point(uv), round(size * (1 << SHIFT)), colour, cv2.FILLED, cv2.LINE_AA, SHIFT)


def _text(drawn: Picture, text: str, at: tuple[int, int]) -> None:
    for colour, thickness in ((OUTLINE, 3), (BONE, 1)):
        cv2.putText(drawn, text, at, cv2.FONT_HERSHEY_SIMPLEX, 0.42, colour, thickness, cv2.LINE_AA)


def _legend(drawn: Picture) -> None:
    """A bar from doubtful to confident in the lower right corner."""
    height, width = drawn.shape[:2]
    top, left = height - MARGIN - LEGEND_HEIGHT, width - MARGIN - LEGEND_WIDTH - 68
    cv2.rectangle(drawn, (left - 1, top - 1), (left + LEGEND_WIDTH, top + LEGEND_HEIGHT), OUTLINE, 1)
    for column in range(LEGEND_WIDTH):
        drawn[top : top + LEGEND_HEIGHT, left + column] = confidence_colour(column / (LEGEND_WIDTH - 1))
    _text(drawn, "doubtful", (left - 66, top + LEGEND_HEIGHT))
    _text(drawn, "confident", (left + LEGEND_WIDTH + 6, top + LEGEND_HEIGHT))


def _caption(drawn: Picture, text: str) -> None:
    _text(drawn, text, (MARGIN, drawn.shape[0] - MARGIN))
