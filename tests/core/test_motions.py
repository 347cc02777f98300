"""Exam motions: inside the limits and the picture, on the ground, smooth, the same for the same seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.exam.motions import random_motion
from anymocap_addon.core.kinematics import Skeleton
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.rig import RigInfo


def framed(rig: RigInfo, reach: float = 0.2) -> Layout:
    rest = rig.rest_joints()
    return Layout.framing(rest.min(0) - 0.05, rest.max(0) + 0.05, reach)


@pytest.mark.parametrize("seed", [0, 7])
def test_motion_keeps_to_limits_picture_and_ground(small_rig: RigInfo, seed: int) -> None:
    limits = small_rig.limits_rad.copy()
    limits[2, 0] = np.radians([10.0, 40.0])  # rest lies outside this one
    limits[3, 2] = np.radians([-2.0, 50.0])
    rig, layout = replace(small_rig, limits_rad=limits), framed(small_rig)
    trans, root, euler = random_motion(rig, layout, 96, 24.0, seed)
    assert (euler[:, 1:] >= limits[1:, :, 0] - 1e-12).all() and (euler[:, 1:] <= limits[1:, :, 1] + 1e-12).all()
    assert not euler[:, 0].any() and np.ptp(euler[:, 1:, [0, 2]], axis=0).min() > np.radians(1.0)
    joints = Skeleton.of(rig).forward(trans, root, euler).joints
    lowest = joints[:, list(rig.contacts), 2].min()
    assert lowest == pytest.approx(0.0, abs=1e-12)
    front, side = layout.project(joints)
    assert front[..., 0].min() > 0 and front[..., 0].max() < layout.w_front
    assert side[..., 0].min() > layout.w_front and side[..., 0].max() < layout.width
    assert front[..., 1].min() > 0 and front[..., 1].max() < layout.height
    step, bend = (np.abs(np.diff(joints, n, axis=0)).max() for n in (1, 3))
    assert 1e-3 < step < 0.05 and bend < 0.1 * step, "smooth: third differences far below the steps"
    yaw = np.degrees(np.arctan2(*(root @ rig.rest[0, :3, :3].T)[:, [1, 0], 0].T))
    assert 3 < np.abs(yaw).max() <= 20.5


def test_same_seed_same_motion_and_longer_is_a_continuation(small_rig: RigInfo) -> None:
    layout = framed(small_rig)
    first, again = (random_motion(small_rig, layout, 40, 24.0, 3) for _ in range(2))
    other, longer = random_motion(small_rig, layout, 40, 24.0, 4), random_motion(small_rig, layout, 60, 24.0, 3)
    for a, b in zip(first, again, strict=True):
        assert (a == b).all()
    assert not np.allclose(first[2], other[2]) and np.allclose(first[2], longer[2][:40])


def test_motion_shrinks_into_a_tight_picture_and_refuses_one_too_small(small_rig: RigInfo) -> None:
    roomy, width = framed(small_rig, 0.3), np.ptp(small_rig.rest_joints()[:, 0])
    narrow = round(width / roomy.m_per_px) + 20  # at rest it just fits into the front view, turned it does not
    tight = replace(roomy, w_front=narrow, w_side=roomy.width - narrow)
    wide, small = (np.ptp(random_motion(small_rig, layout, 48, 24.0, 1)[2]) for layout in (roomy, tight))
    assert small < wide
    with pytest.raises(BadInputError, match="does not fit"):
        random_motion(small_rig, Layout(m_per_px=0.0005), 10, 24.0, 1)


@pytest.mark.parametrize(("frames", "fps"), [(0, 24.0), (10, 0.0), (10, float("nan"))])
def test_no_frames_or_rate_is_refused(small_rig: RigInfo, frames: int, fps: float) -> None:
    with pytest.raises(BadInputError):
        random_motion(small_rig, framed(small_rig), frames, fps, 0)


def test_a_single_frame_is_fine(small_rig: RigInfo) -> None:
    trans, root, euler = random_motion(small_rig, framed(small_rig), 1, 24.0, 0)
    assert trans.shape == (1, 3) and root.shape == (1, 3, 3) and euler.shape == (1, small_rig.B, 3)
