"""Degraded drawings: truth moves with the picture, and a seed is a sample."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from anymocap_addon.core.dataset.degradation import FULL, HELD_OUT, Frame, Strength, degrade, visible_keypoints
from anymocap_addon.core.layout import Layout

LAYOUT = Layout()
FRAME = Frame(640, 368, 0.5)
ONLY_GEOMETRY = Strength(*([False] * 8))


def _drawing(uv: np.ndarray, rows: int = 360) -> np.ndarray:
    """White discs at `uv` on transparent ground, premultiplied."""
    picture = np.zeros((rows, LAYOUT.width * rows // LAYOUT.height, 4), np.uint8)
    for u, v in uv * rows / LAYOUT.height:
        cv2.circle(picture, (round((u - 0.5) * 16), round((v - 0.5) * 16)), 48, (255,) * 4, -1, cv2.LINE_AA, 4)
    return picture


UV = np.array([[100.0, 200.0], [300.0, 500.0], [700.0, 150.0], [1100.0, 600.0]])


def test_truth_follows_the_warp_to_a_third_of_a_network_pixel() -> None:
    strength = replace(ONLY_GEOMETRY, geometry=True)
    for seed in range(8):
        out = degrade(_drawing(UV), UV, LAYOUT, FRAME, np.random.default_rng(seed), strength)
        assert np.abs(out.uv - UV).max() > 0.5
        bright = (out.image.min(-1) > 200).astype(np.uint8)
        _, _, _, centres = cv2.connectedComponentsWithStats(bright)
        for point in out.uv * FRAME.scale:
            assert np.linalg.norm(centres[1:] + 0.5 - point, axis=1).min() < 0.34


def test_a_seed_gives_the_same_sample_and_another_seed_another() -> None:
    def image(seed: int) -> np.ndarray:
        return degrade(_drawing(UV), UV, LAYOUT, FRAME, np.random.default_rng(seed), FULL).image

    assert np.array_equal(image(3), image(3))
    assert not np.array_equal(image(3), image(4))


def test_no_dark_rims_where_alpha_is_soft() -> None:
    """A white creature on white ground must vanish: straight-alpha warping would draw a dark line around it."""
    drawing = _drawing(UV)
    drawing = cv2.GaussianBlur(drawing, (0, 0), 2)  # soft premultiplied edge
    white = Layout(w_front=420, w_side=860)
    out = degrade(drawing, UV, white, FRAME, np.random.default_rng(0), ONLY_GEOMETRY)
    wall = out.image[5, 5].astype(int)
    around = out.image[60:140, 20:90].reshape(-1, 3).astype(int)  # disc at (100, 200) and wall only
    assert (around >= wall - 2).all()


@pytest.mark.parametrize("strength", [FULL, HELD_OUT])
def test_every_strength_gives_a_picture_of_the_asked_size(strength: Strength) -> None:
    frame = Frame(384, 224, 0.3)
    for seed in range(25):
        out = degrade(_drawing(UV), UV, LAYOUT, frame, np.random.default_rng(seed), strength)
        assert out.image.shape == (224, 384, 3) and out.image.dtype == np.uint8
        assert out.image.std() > 1


def test_joints_beyond_the_divider_or_the_canvas_are_not_visible() -> None:
    uv = np.array([[100.0, 300.0], [450.0, 300.0], [-5.0, 300.0], [800.0, 300.0], [390.0, 300.0], [800.0, 730.0]])
    assert visible_keypoints(uv, LAYOUT).tolist() == [True, False, False, True, False, False]
