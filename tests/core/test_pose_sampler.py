"""Poses of the dataset: deterministic, inside limits and frame, and of the promised mixture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anymocap_addon.core.dataset.lights import FRONT_AXES, SIDE_AXES
from anymocap_addon.core.dataset.pose_sampler import BLUR_TIMES, EDGE_PX, PoseSample, PoseSampler
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.kinematics import matrix_to_euler
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.rig import RigInfo

COUNT = 200


def _layout(rig: RigInfo) -> Layout:
    joints = rig.rest_joints()
    return Layout.framing(joints.min(0) - 0.05, joints.max(0) + 0.05, 0.15)


@pytest.fixture
def samples(small_rig: RigInfo) -> list[PoseSample]:
    sampler = PoseSampler(small_rig, _layout(small_rig), seed=3)
    return [sampler.sample(index) for index in range(COUNT)]


def test_any_shard_draws_the_same_sample(small_rig: RigInfo, samples: list[PoseSample]) -> None:
    other = PoseSampler(small_rig, _layout(small_rig), seed=3).sample(77)
    np.testing.assert_array_equal(other.euler, samples[77].euler)
    np.testing.assert_array_equal(other.trans, samples[77].trans)
    np.testing.assert_array_equal(other.lights[1].direction, samples[77].lights[1].direction)
    reseeded = PoseSampler(small_rig, _layout(small_rig), seed=4).sample(77)
    assert np.abs(reseeded.euler - other.euler).max() > 0.01


def test_half_of_each_kind_and_half_blurred(samples: list[PoseSample]) -> None:
    assert sum(s.kind == "uniform" for s in samples) == COUNT // 2
    assert sum(s.blur for s in samples) == COUNT // 2
    assert sum(s.blur and s.kind == "uniform" for s in samples) == COUNT // 4
    assert all(len(s.trans) == (len(BLUR_TIMES) if s.blur else 1) for s in samples)


def test_angles_stay_in_limits_and_uniform_ones_fill_them(small_rig: RigInfo, samples: list[PoseSample]) -> None:
    low, high = small_rig.limits_rad[1:, :, 0], small_rig.limits_rad[1:, :, 1]
    for sample in samples:
        assert (sample.euler[:, 1:] >= low).all() and (sample.euler[:, 1:] <= high).all()
        assert not sample.euler[:, 0].any()
    uniform = np.array([s.euler[s.middle, 1:] for s in samples if s.kind == "uniform"])
    share = (uniform - low) / (high - low)
    # Mean and spread of a uniform draw, by angle: 0.5 +- 4 standard errors and 1 / sqrt(12).
    assert np.abs(share.mean(0) - 0.5).max() < 4 / np.sqrt(12 * len(share))
    assert np.abs(share.std(0) - 12**-0.5).max() < 0.06
    near = np.array([s.euler[s.middle, 1:] for s in samples if s.kind == "near"])
    assert np.abs(near).mean() < 0.7 * np.abs(uniform).mean()


def test_every_sub_pose_is_inside_both_views(small_rig: RigInfo, samples: list[PoseSample]) -> None:
    layout = _layout(small_rig)
    sampler = PoseSampler(small_rig, layout, seed=3)
    edge = EDGE_PX - 1e-6
    for sample in samples:
        joints = sampler.skeleton.forward(sample.trans, sample.root_R, sample.euler).joints
        front, side = layout.project(joints)
        assert front[..., 0].min() >= edge and front[..., 0].max() <= layout.w_front - edge
        assert side[..., 0].min() >= layout.w_front + edge and side[..., 0].max() <= layout.width - edge
        assert front[..., 1].min() >= edge and front[..., 1].max() <= layout.height - edge


def test_turns_heights_and_places_vary(small_rig: RigInfo, samples: list[PoseSample]) -> None:
    turns = np.array([s.root_R[s.middle] @ small_rig.rest[0, :3, :3].T for s in samples])
    yaw_deg = np.degrees(matrix_to_euler(turns)[:, 2])
    facing = turns @ np.array([0.0, -1.0, 0.0])
    assert 2 < np.percentile(np.abs(yaw_deg), 50) < 25 and 45 < np.abs(yaw_deg).max() <= 71
    assert (facing[:, 2] > 0.35).any(), "none is reared"
    sampler = PoseSampler(small_rig, _layout(small_rig), seed=3)
    lowest = []
    for s in samples:
        at = s.middle
        joints = sampler.skeleton.forward(s.trans[[at]], s.root_R[[at]], s.euler[[at]]).joints[0]
        lowest.append(joints[list(small_rig.contacts), 2].min())
    assert abs(np.median(lowest)) < 0.05, "most stand on the ground"
    assert np.max(lowest) > 0.1, "none is in the air"
    assert np.std([s.trans[s.middle, 1] for s in samples]) > 0.03


def test_blur_moves_around_the_truth(samples: list[PoseSample]) -> None:
    moved = [np.abs(s.euler[0] - s.euler[-1]).max() for s in samples if s.blur]
    assert np.median(moved) > np.radians(2)
    for s in samples:
        if s.blur:
            np.testing.assert_allclose(s.trans[list(s.drawn)].mean(0), s.trans[s.middle], atol=1e-12)


def test_lights_shine_from_the_front_of_each_view(samples: list[PoseSample]) -> None:
    for axes, view in ((FRONT_AXES, 0), (SIDE_AXES, 1)):
        towards = np.array([s.lights[view].direction @ axes[2] for s in samples])
        assert towards.mean() > 0.15
        np.testing.assert_allclose(np.linalg.norm(samples[0].lights[view].direction, axis=1), 1)
    np.testing.assert_allclose(np.linalg.det([FRONT_AXES, SIDE_AXES]), 1)


def test_a_creature_larger_than_its_layout_is_refused(small_rig: RigInfo) -> None:
    tiny = replace(_layout(small_rig), m_per_px=0.0005)
    with pytest.raises(BadInputError, match=r"does not fit.*ref stage"):
        PoseSampler(small_rig, tiny, seed=0).sample(0)


def test_hull_points_ride_on_their_bones_and_stay_in_the_frame(small_rig: RigInfo) -> None:
    layout = _layout(small_rig)
    nose = small_rig.rest_joints()[6] + [0.0, -0.12, 0.0]  # 12 cm in front of the head's tip
    sampler = PoseSampler(small_rig, layout, seed=5, hull=nose[None])
    bare = PoseSampler(small_rig, layout, seed=5)
    reach = {"with": [], "without": []}
    for index in range(60):
        for key, one in (("with", sampler), ("without", bare)):
            s = one.sample(index)
            pose = sampler.skeleton.forward(s.trans, s.root_R, s.euler)
            place = pose.p[:, 2] + np.einsum(
                "sij,j->si", pose.R[:, 2], small_rig.rest[2, :3, :3].T @ (nose - small_rig.rest[2, :3, 3])
            )
            front, side = layout.project(place)
            reach[key].append([front[:, 0].min(), layout.w_front - front[:, 0].max(), layout.width - side[:, 0].max()])
    assert np.min(reach["with"]) >= EDGE_PX - 1e-6 > np.min(reach["without"])
