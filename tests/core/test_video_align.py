"""Alignment to ref.png: exact where the clip starts from it, honest where it does not."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from anymocap_addon.core.layout import Layout
from anymocap_addon.core.video.align import (
    align,
    apply_affine,
    compose,
    invert,
    size_starts,
    warp,
)

LAYOUT = Layout()
CLIP = (1344, 768)


def creature(turn: float = 0.0) -> np.ndarray:
    """A ref.png: a body, a head and two legs in both views; `turn` swings legs and head."""
    picture = LAYOUT.studio().copy()
    rng = np.random.default_rng(4)
    for middle in (LAYOUT.w_front // 2, LAYOUT.w_front + LAYOUT.w_side // 2):
        half = 60 if middle < LAYOUT.w_front else 220
        cv2.ellipse(picture, (middle, 420), (half, 70), 0, 0, 360, (90, 120, 60), cv2.FILLED, cv2.LINE_AA)
        for sign in (-1, 1):
            top = np.array([middle + sign * half * 0.7, 440.0])
            foot = top + 200 * np.array([np.sin(sign * turn), np.cos(turn)])
            cv2.line(picture, top.astype(int).tolist(), foot.astype(int).tolist(), (200, 60, 90), 34, cv2.LINE_AA)
        head = (round(middle + half * 0.9), round(330 - 120 * turn))
        cv2.circle(picture, head, 48, (60, 90, 190), cv2.FILLED, cv2.LINE_AA)
        for _ in range(12):
            spot = rng.uniform([middle - half * 0.7, 370], [middle + half * 0.7, 470]).astype(int).tolist()
            cv2.circle(picture, spot, 9, rng.integers(40, 220, 3).tolist(), cv2.FILLED, cv2.LINE_AA)
    return picture


def filmed(picture: np.ndarray, calib: np.ndarray) -> np.ndarray:
    """As a video model returns it: moved, blurred, recoloured, noisy."""
    moved = warp(picture, invert(calib), CLIP).astype(np.float32)
    noise = np.random.default_rng(0).normal(0, 4, moved.shape)
    spoilt = cv2.GaussianBlur(moved, (0, 0), 1.2) * [1.1, 1.0, 0.88] - 8 + noise
    return np.clip(spoilt, 0, 255).astype(np.uint8)


def crop(zoom_x: float, zoom_y: float, right: float, down: float) -> np.ndarray:
    return np.array([[zoom_x, 0, 640 * (1 - zoom_x) + right], [0, zoom_y, 360 * (1 - zoom_y) + down]])


def error_px(found: np.ndarray, true: np.ndarray) -> float:
    """Largest error of the map over the creature's part of the canvas, layout px."""
    points = np.array([[60.0, 250.0], [360.0, 640.0], [500.0, 250.0], [1200.0, 640.0]])
    return float(np.abs(apply_affine(found, apply_affine(invert(true), points)) - points).max())


@pytest.mark.parametrize(("start", "zoom"), [(0, (1.0, 1.0)), (0, (1.02, 1.01)), (1, (0.985, 0.99))])
def test_a_clip_that_starts_from_the_reference_fits_to_a_tenth_of_a_pixel(
    start: int, zoom: tuple[float, float]
) -> None:
    base = size_starts(CLIP, (1280, 720))[start]
    true = compose(invert(crop(*zoom, 6.0, -5.0)), base)
    found = align(creature(), [filmed(creature(), true)], LAYOUT)
    assert found.method == "ecc" and found.correlation > 0.97 and not found.warnings
    assert error_px(found.calib, true) < 0.15


def test_another_pose_does_not_drag_the_clip_along() -> None:
    true = compose(invert(crop(1.0, 1.0, 5.0, -7.0)), size_starts(CLIP, (1280, 720))[0])
    frames = [filmed(creature(turn), true) for turn in (0.5, 0.6)]
    found = align(creature(), frames, LAYOUT)
    assert found.method == "studio"
    assert error_px(found.calib, true) < 0.6
    assert "does not start in the reference pose" in found.warnings[0]


def test_what_cannot_be_matched_is_said() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (270, 480, 3), np.uint8)
    found = align(creature(), [noise], LAYOUT)
    assert found.method == "size" and "only scaled" in found.warnings[0]
    np.testing.assert_allclose(found.calib, [[1280 / 480, 0, 0], [0, 720 / 270, 0]])


def test_aspect_is_warned_about() -> None:
    square = warp(creature(), np.array([[0.5, 0, 0], [0, 0.8, 0]]), (640, 576))
    warnings = align(creature(), [square], LAYOUT).warnings
    assert any("640 x 576: 37% narrower" in warning for warning in warnings)


def test_continuous_coordinates() -> None:
    """A dot drawn at a continuous point lands where the affine says, also when the size changes."""
    picture = np.zeros((72, 128, 3), np.uint8)
    picture[40:42, 60:62] = 255  # its middle is (61, 41)
    drawn = warp(picture, np.array([[2.0, 0, 3.0], [0, 2.0, -1.0]]), (256, 144)).astype(float)[..., 0]
    rows, columns = np.mgrid[:144, :256] + 0.5
    centre = (columns * drawn).sum() / drawn.sum(), (rows * drawn).sum() / drawn.sum()
    np.testing.assert_allclose(centre, [2 * 61 + 3, 2 * 41 - 1], atol=0.02)
