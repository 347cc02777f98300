"""Readings as a real reader gives them, made from true joints: for calibrating the sync check and for its tests.

Measured on the default reader: errors are a constant offset a joint and view more than jitter (5.9 px median, 3.1 px
with each joint's offset taken out), drift slowly, are larger for some joints, and now and then a joint is read on
another limb for a few frames, with less confidence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..layout import Layout

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ReaderNoise:
    """Sizes in layout px, one axis.

    Attributes:
        offset: standard deviation of a joint's constant offset in a view.
        drift, memory: standard deviation and frame-to-frame correlation of what comes on top (AR(1)).
        uneven: spread (log) of a joint's own factor on both.
        slips: share of frames in bursts of `slip_frames` that lie `slip_px` off.
    """

    offset: float = 4.3
    drift: float = 2.6
    memory: float = 0.8
    uneven: float = 0.4
    slips: float = 0.03
    slip_frames: int = 4
    slip_px: tuple[float, float] = (20.0, 60.0)


@dataclass(frozen=True, eq=False)
class SimulatedReading:
    """front_uv, side_uv (T, J, 2) layout px; front_conf, side_conf (T, J)."""

    front_uv: Array
    side_uv: Array
    front_conf: Array
    side_conf: Array


def simulate_reading(
    joints: Array,
    layout: Layout,
    rng: np.random.Generator,
    noise: ReaderNoise = ReaderNoise(),
    lag_frames: float = 0.0,
) -> SimulatedReading:
    """Read true joints (T, J, 3), metres, with a reader's errors and the front view `lag_frames` late."""
    frames = np.arange(len(joints))
    late = np.clip(frames - lag_frames, 0, len(joints) - 1)
    before = np.minimum(late.astype(int), len(joints) - 2) if len(joints) > 1 else np.zeros(1, int)
    part = (late - before)[:, None, None]
    front, _ = layout.project(joints[before] * (1 - part) + joints[np.minimum(before + 1, len(joints) - 1)] * part)
    _, side = layout.project(joints)
    front_uv, front_conf = _read(front, rng, noise)
    side_uv, side_conf = _read(side, rng, noise)
    return SimulatedReading(front_uv, side_uv, front_conf, side_conf)


def _read(uv: Array, rng: np.random.Generator, noise: ReaderNoise) -> tuple[Array, Array]:
    frames, joints = uv.shape[:2]
    factor = np.exp(rng.normal(0, noise.uneven, (joints, 1)))
    error = np.empty_like(uv)
    error[0] = rng.normal(0, noise.drift, (joints, 2))
    fresh = noise.drift * np.sqrt(1 - noise.memory**2)
    for t in range(1, frames):
        error[t] = noise.memory * error[t - 1] + rng.normal(0, fresh, (joints, 2))
    error += rng.normal(0, noise.offset, (joints, 2))
    error *= factor
    slipped = np.zeros((frames, joints), bool)
    for joint in range(joints):
        for start in np.flatnonzero(rng.random(frames) < noise.slips / noise.slip_frames):
            stop = start + noise.slip_frames
            angle, far = rng.uniform(0, 2 * np.pi), rng.uniform(*noise.slip_px)
            error[start:stop, joint] += far * np.array([np.cos(angle), np.sin(angle)])
            slipped[start:stop, joint] = True
    confidence = np.where(slipped, rng.uniform(0.1, 0.7, slipped.shape), rng.uniform(0.5, 1.0, slipped.shape))
    return uv + error, confidence


def swap(uv: Array, pairs: NDArray[np.int64], frames: slice = slice(None)) -> Array:
    """(T, J, 2) with the joints of `pairs` (P, 2) taken for each other during `frames`."""
    swapped = uv.copy()
    left, right = pairs[:, 0], pairs[:, 1]
    swapped[frames, left], swapped[frames, right] = uv[frames, right], uv[frames, left]
    return swapped
