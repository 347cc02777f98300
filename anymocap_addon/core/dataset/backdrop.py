"""Backdrops that stand behind the drawn creature in training: half of them the studio, half of them anything."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from ..layout import FLOOR, WALL

STUDIO_SHARE = 0.5
STUDIO_SPREAD = 8.0


def random_backdrop(rng: np.random.Generator, width: int, height: int, ground_row: float) -> NDArray[np.float32]:
    """A backdrop (height, width, 3) float32 RGB in 0..255; `ground_row` is where the studio's floor begins.

    The studio half teaches the look of real clips; the other half keeps the reader from leaning on the grey.
    """
    draw = rng.random()
    if draw < STUDIO_SHARE:
        return _studio(rng, width, height, ground_row)
    if draw < STUDIO_SHARE + 0.15:
        return _plain(rng, width, height)
    if draw < STUDIO_SHARE + 0.4:
        return _clouds(rng, width, height)
    return _boxes(rng, width, height)


def _plain(rng: np.random.Generator, width: int, height: int) -> NDArray[np.float32]:
    picture = np.empty((height, width, 3), np.float32)
    picture[:] = rng.uniform(0, 255, 3)
    return picture


def _studio(rng: np.random.Generator, width: int, height: int, ground_row: float) -> NDArray[np.float32]:
    """Wall and floor with drifting colours, a soft horizon at times and a slow change of light over the wall."""
    picture = np.empty((height, width, 3), np.float32)
    picture[:] = np.asarray(WALL) + rng.normal(0, STUDIO_SPREAD, 3)
    ground = int(np.clip(round(ground_row), 0, height))
    picture[ground:] = np.asarray(FLOOR) + rng.normal(0, STUDIO_SPREAD, 3)
    if rng.random() < 0.3:
        # Only the rows around the horizon change, so only they are blurred.
        top, bottom = max(0, ground - 8), min(height, ground + 8)
        if bottom - top > 2:
            picture[top:bottom] = cv2.GaussianBlur(picture[top:bottom], (0, 0), float(rng.uniform(0.5, 3)))
    if rng.random() < 0.5:
        corners = rng.normal(0, 10, (2, 3, 1)).astype(np.float32)
        picture += cv2.resize(corners, (width, height), interpolation=cv2.INTER_LINEAR)[..., None]
    return picture


def _clouds(rng: np.random.Generator, width: int, height: int) -> NDArray[np.float32]:
    cells = int(rng.integers(2, 24))
    strength, mean = rng.uniform(0.2, 1), rng.uniform(0, 255, 3)
    coarse = rng.uniform(0, 255, (cells, int(cells * 1.7) + 1, 3)) * strength + mean * (1 - strength)
    return np.asarray(cv2.resize(coarse.astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC), np.float32)


def _boxes(rng: np.random.Generator, width: int, height: int) -> NDArray[np.float32]:
    picture = np.empty((height, width, 3), np.float32)
    picture[:] = rng.uniform(60, 200, 3)
    for _ in range(int(rng.integers(3, 15))):
        ends = rng.uniform(0, 1, (2, 2)) * (width, height)
        (left, top), (right, bottom) = ends.min(0).astype(int), ends.max(0).astype(int)
        picture[top : bottom + 1, left : right + 1] = rng.uniform(0, 255, 3)
    return picture
