"""A creature of boxes in the two-view studio, drawn without Blender, for tests of the source gate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anymocap_addon.core.creature import PaintGroup
from anymocap_addon.core.layout import Layout

Picture = NDArray[np.uint8]

LAYOUT = Layout()
BODY = (150, 110, 70)
PAINT = (
    PaintGroup("left front leg", "cyan", (0.05, 0.85, 0.92), ("a",)),
    PaintGroup("right front leg", "lime", (0.66, 0.95, 0.15), ("b",)),
    PaintGroup("left hind leg", "blue", (0.12, 0.28, 0.95), ("c",)),
    PaintGroup("right hind leg", "magenta", (0.90, 0.12, 0.80), ("d",)),
)
_LEGS = ((0.12, -0.35), (-0.12, -0.35), (0.2, 0.35), (-0.2, 0.35))  # x, y of each hip, metres


def frame(time: float, paint: tuple[int, ...] = (0, 1, 2, 3), move: float = 1.0, lag: float = 0.0) -> Picture:
    """The creature at `time` seconds of a trot.

    Args:
        paint: which colour each leg has. move: share of the full motion. lag: seconds that the front view is late.
    """
    picture = LAYOUT.studio()
    for view, moment in ((0, time - lag), (1, time)):
        phase = 2 * np.pi * 1.3 * moment
        bob = 0.035 * move * np.sin(2 * phase)
        order = (2, 3, 0, 1) if view == 0 else (0, 2, 1, 3)  # far to near
        _box(picture, view, (0.0, 0.0), (0.32, 1.0), (0.55 + bob, 0.85 + bob), BODY)
        _box(picture, view, (0.0, -0.55), (0.2, 0.3), (0.8 + bob, 1.05 + bob), (210, 190, 160))
        for leg in order:
            swing = np.sin(phase + np.pi * (leg in (1, 2)))
            x, y = _LEGS[leg]
            lift = 0.1 * move * max(np.cos(phase + np.pi * (leg in (1, 2))), 0.0)
            colour = tuple(round(255 * channel * 0.85) for channel in PAINT[paint[leg]].colour)
            _box(picture, view, (x, y + 0.13 * move * swing), (0.1, 0.14), (lift, 0.6 + bob), colour)
    return picture


def clip(count: int = 36, **settings: object) -> list[Picture]:
    """`count` frames at 24 a second; see `frame`."""
    return [frame(t / 24, **settings) for t in range(count)]  # type: ignore[arg-type]


def _box(
    picture: Picture, view: int, middle: tuple[float, float], size: tuple[float, float],
    z: tuple[float, float], colour: tuple[int, ...],
) -> None:  # fmt: skip
    corners = [
        LAYOUT.project(np.array([middle[0] + sx * size[0] / 2, middle[1] + sy * size[1] / 2, height]))[view]
        for sx, sy, height in ((-1, -1, z[0]), (1, 1, z[1]))
    ]
    (u0, v0), (u1, v1) = corners
    left, right = sorted((round(u0), round(u1)))
    low, high = (0, LAYOUT.w_front - 3) if view == 0 else (LAYOUT.w_front + 3, LAYOUT.width)
    left, right = int(np.clip(left, low, high)), int(np.clip(right, low, high))
    picture[max(round(min(v0, v1)), 0) : round(max(v0, v1)), left:right] = colour
