"""What a clip's frame is in space: joints as read, skeleton as fitted, planted joints and trails, all in prep space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .capture_view import CaptureView
from .triangulation import triangulated

Array = NDArray[np.float64]

RING_SIDES = 24
RING_SHARE = 0.03  # radius of a contact's ring, in body lengths
FAINTEST = 0.05  # share of its strength that a trail has at its ends


@dataclass(frozen=True)
class Trail:
    """The way of some joints around a frame.

    Attributes:
        ends: (n, 2, 3) pieces, metres. share: (n, 2) strength of their ends, 1 at the frame itself.
        later: (n,) whether a piece lies after the frame.
    """

    ends: Array
    share: Array
    later: NDArray[np.bool_]


def read_joints(view: CaptureView, frame: int) -> tuple[Array, Array]:
    """(J, 3) joints of the reading in metres, without any skeleton, and (J,) the lower confidence of both views."""
    det = view.det
    return triangulated(
        view.layout, det.front_uv[frame], det.side_uv[frame], det.front_conf[frame], det.side_conf[frame]
    )


def bones(view: CaptureView, frame: int) -> Array:
    """(n, 2, 3) lines of the fitted skeleton, metres; none without a motion."""
    if view.motion is None or not view.links:
        return np.zeros((0, 2, 3))
    return np.asarray(view.motion.joints[frame][np.array(view.links)])


def contact_rings(view: CaptureView, frame: int) -> Array:
    """(n, 2, 3) pieces of a ring around each joint that is planted in this frame, level with the ground."""
    planted = np.flatnonzero(view.contacts[frame])
    if view.motion is None or not len(planted):
        return np.zeros((0, 2, 3))
    turn = np.linspace(0, 2 * np.pi, RING_SIDES + 1)
    ring = RING_SHARE * view.rig.body_length * np.stack([np.cos(turn), np.sin(turn), 0 * turn], 1)
    points = view.motion.joints[frame, planted][:, None] + ring
    return np.asarray(np.stack([points[:, :-1], points[:, 1:]], 2).reshape(-1, 2, 3))


def trails(view: CaptureView, frame: int, joints: tuple[int, ...], reach: int) -> Trail:
    """The way of `joints` over `reach` frames before and after `frame`, fainter the farther in time."""
    first, last = max(0, frame - reach), min(view.T - 1, frame + reach)
    if view.motion is None or not joints or first == last:
        return Trail(np.zeros((0, 2, 3)), np.zeros((0, 2)), np.zeros(0, bool))
    times = np.arange(first, last + 1)
    points = view.motion.joints[first : last + 1, list(joints)].swapaxes(0, 1)  # (joints, times, 3)
    share = 1 - (1 - FAINTEST) * np.abs(times - frame) / reach
    ends = np.stack([points[:, :-1], points[:, 1:]], 2).reshape(-1, 2, 3)
    shares = np.tile(np.stack([share[:-1], share[1:]], 1), (len(joints), 1))
    return Trail(ends, shares, np.tile(times[:-1] >= frame, len(joints)))
