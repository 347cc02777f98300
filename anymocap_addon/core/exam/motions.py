"""Random smooth motion for exams: inside the joint limits, inside the picture, feet on the ground. Deterministic.

Every angle and the root follow sums of a few slow sines of random phase. The height of the root follows the lowest
contact, smoothed over a fifth of a second, so that the creature stays near the ground without a kink where another
foot becomes the lowest; over the clip the lowest contact touches z = 0 exactly and none goes below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInputError
from ..kinematics import Skeleton, euler_to_matrix
from ..layout import Layout
from ..rig import RigInfo

Array = NDArray[np.float64]

# Largest swing of a bone, degrees, by the first word that its body part's name holds. Spines are chains of many bones
# that add up, legs and wings are what an exam is about, and the rest lies between.
AMPLITUDE_DEG = (
    ("spine", 6.0),
    ("wing", 28.0),
    ("leg", 24.0),
    ("arm", 24.0),
    ("tail", 14.0),
    ("neck", 12.0),
    ("head", 16.0),
    ("finger", 12.0),
)
OTHER_AMPLITUDE_DEG = 10.0
TWIST_SHARE = 0.3
LIMIT_SHARE = 0.8
LOWEST_HZ, HIGHEST_HZ, SINES = 0.25, 1.25, 3
TURN_DEG, TILT_DEG = 20.0, 4.0
SWAY_SHARE, BOB_SHARE = 0.03, 0.02
LIFT_SMOOTHING_S = 0.2
FRAME_MARGIN_PX = 6.0
SHRINK, SHRINK_TRIES = 0.8, 20

Motion = tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class _Signals:
    """Smooth signals in [-1, 1]: turn, tilt x and y, sway x and y, bob; and one an axis of every bone."""

    root: Array
    bones: Array


def smooth_signals(count: int, frames: int, fps: float, rng: np.random.Generator) -> Array:
    """(T, count) sums of slow sines in [-1, 1] with random frequency, phase and weight."""
    frequency = rng.uniform(LOWEST_HZ, HIGHEST_HZ, (SINES, count))
    phase = rng.uniform(0, 2 * np.pi, (SINES, count))
    weight = rng.uniform(0.3, 1.0, (SINES, count)) / frequency  # slower is larger, as in living motion
    seconds = np.arange(frames)[:, None, None] / fps
    waves = weight * np.sin(2 * np.pi * frequency * seconds + phase)
    signals: Array = waves.sum(1) / weight.sum(0)
    return signals


def amplitudes_rad(rig: RigInfo) -> Array:
    """(B,) largest swing of every bone by its body part, radians; zero for the root."""
    degrees = np.full(rig.B, OTHER_AMPLITUDE_DEG)
    for part, bones in rig.bone_groups.items():
        known = [amount for word, amount in AMPLITUDE_DEG if word in part.lower()]
        for bone in bones:
            degrees[rig.index(bone)] = known[0] if known else OTHER_AMPLITUDE_DEG
    degrees[0] = 0.0
    radians: Array = np.radians(degrees)
    return radians


def _euler(rig: RigInfo, signals: Array, scale: float) -> Array:
    """(T, B, 3) angles around rest (or the nearest allowed angle), never beyond LIMIT_SHARE of the way to a limit."""
    low, high = rig.limits_rad[..., 0], rig.limits_rad[..., 1]
    centre = np.clip(0.0, low, high)
    amplitude = amplitudes_rad(rig)[:, None] * np.array([1.0, TWIST_SHARE, 1.0]) * scale
    up = np.minimum(amplitude, LIMIT_SHARE * (high - centre))
    down = np.minimum(amplitude, LIMIT_SHARE * (centre - low))
    angles: Array = centre + (up - down) / 2 + (up + down) / 2 * signals.reshape(len(signals), rig.B, 3)
    angles[:, 0] = 0.0
    return angles


def _root_turn(rig: RigInfo, signals: Array, scale: float) -> Array:
    """(T, 3, 3) root orientation: turned about world Z and slightly tilted, from rest."""
    degrees = np.array([TILT_DEG, TILT_DEG, TURN_DEG]) * scale
    turned: Array = euler_to_matrix(np.radians(degrees) * signals[:, [1, 2, 0]]) @ rig.rest[0, :3, :3]
    return turned


def _smoothed(track: Array, sigma: float) -> Array:
    """Gaussian smoothing over frames with mirrored ends."""
    reach = int(np.ceil(3 * sigma))
    if reach < 1 or len(track) < 2:
        return track
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    padded = np.pad(track, reach, mode="reflect" if len(track) > reach else "edge")
    smooth: Array = np.convolve(padded, kernel / kernel.sum(), mode="valid")
    return smooth


def _placed(rig: RigInfo, root_turn: Array, euler: Array, signals: Array, fps: float, scale: float) -> Array:
    """(T, 3) root positions: swaying about rest, and as high as the lowest contact asks."""
    sway = SWAY_SHARE * rig.body_length * scale * signals[:, 3:5]
    trans = np.tile(rig.rest[0, :3, 3], (len(euler), 1))
    trans[:, :2] += sway
    joints = Skeleton.of(rig).forward(trans, root_turn, euler).joints
    touching = list(rig.contacts) or list(range(rig.J))
    lowest = joints[:, touching, 2].min(1)
    lift = _smoothed(-lowest, LIFT_SMOOTHING_S * fps) + BOB_SHARE * rig.body_length * scale * signals[:, 5]
    trans[:, 2] += lift - (lowest + lift).min()
    return trans


def _in_frame(layout: Layout, joints: Array) -> bool:
    """Whether all joints lie in both views with a margin."""
    front, side = layout.project(joints)
    m = FRAME_MARGIN_PX
    low_v = min(front[..., 1].min(), side[..., 1].min())
    high_v = max(front[..., 1].max(), side[..., 1].max())
    across = front[..., 0].min() >= m and front[..., 0].max() <= layout.w_front - m
    along = side[..., 0].min() >= layout.w_front + m and side[..., 0].max() <= layout.width - m
    return bool(across and along and low_v >= m and high_v <= layout.height - m)


def random_motion(rig: RigInfo, layout: Layout, frames: int, fps: float, seed: int) -> Motion:
    """A random smooth motion for an exam clip; the same arguments give the same motion.

    Args:
        rig: the capture skeleton; its limits, contacts and body parts shape the motion.
        layout: the picture that the creature must stay in; motion that leaves it is made smaller until it fits.
        frames: how many, at least 1.
        fps: frames a second.
        seed: which motion.

    Returns:
        trans (T, 3) metres, root_R (T, 3, 3), euler (T, B, 3) radians: the arguments of Skeleton.forward.

    Raises:
        BadInputError: no frames, a frame rate that is not positive, or a creature that does not fit its layout.
    """
    if frames < 1:
        raise BadInputError(f"An exam needs at least one frame, not {frames}.", key="frames")
    if not (np.isfinite(fps) and fps > 0):
        raise BadInputError(f"The frame rate is {fps}; it must be more than 0.", key="fps")
    rng = np.random.default_rng(seed)
    signals = _Signals(smooth_signals(6, frames, fps, rng), smooth_signals(3 * rig.B, frames, fps, rng))
    skeleton = Skeleton.of(rig)
    for attempt in range(SHRINK_TRIES):
        scale = SHRINK**attempt
        euler = _euler(rig, signals.bones, scale)
        root_turn = _root_turn(rig, signals.root, scale)
        trans = _placed(rig, root_turn, euler, signals.root, fps, scale)
        if _in_frame(layout, skeleton.forward(trans, root_turn, euler).joints):
            return trans, root_turn, euler
    raise BadInputError(
        f"The creature {rig.creature!r} does not fit into the two views of its layout even at rest.",
        key="layout",
        hint="Remove layout from creature.json and run prep again, so that it is framed anew.",
    )
