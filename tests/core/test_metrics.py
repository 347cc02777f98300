"""Scores: known errors give known figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anymocap_addon.core.detections import Detections
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.exam import metrics
from anymocap_addon.core.exam.motions import random_motion
from anymocap_addon.core.exam.truth import Truth
from anymocap_addon.core.kinematics import (
    Skeleton,
    continuous_quaternion,
    euler_to_matrix,
    matrix_to_quaternion,
)
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.motion import Contact, Motion
from anymocap_addon.core.rig import RigInfo

FPS, T = 24.0, 30


@pytest.fixture
def layout(small_rig: RigInfo) -> Layout:
    rest = small_rig.rest_joints()
    return Layout.framing(rest.min(0) - 0.05, rest.max(0) + 0.05, 0.2)


@pytest.fixture
def truth(small_rig: RigInfo, layout: Layout) -> Truth:
    trans, root, euler = random_motion(small_rig, layout, T, FPS, 5)
    return Truth(
        names=small_rig.keypoints,
        joints=Skeleton.of(small_rig).forward(trans, root, euler).joints,
        bones=small_rig.bones,
        trans=trans,
        root_quat=continuous_quaternion(matrix_to_quaternion(root)),
        euler=euler,
        fps=FPS,
        body_length=small_rig.body_length,
    )


def perfect_reading(truth: Truth, layout: Layout) -> Detections:
    front, side = layout.project(truth.joints)
    conf = np.ones(front.shape[:2])
    return Detections(truth.names, front, side, conf, conf, FPS, np.arange(truth.T) / FPS, np.eye(2, 3))


def perfect_fit(truth: Truth) -> Motion:
    zero = np.zeros(truth.joints.shape[:2])
    return Motion(
        "small", "walk", FPS, truth.bones, truth.trans, truth.root_quat, truth.euler, truth.names,
        truth.joints, zero, zero,
    )  # fmt: skip


def test_a_perfect_reading_scores_zero_in_any_joint_order(small_rig: RigInfo, layout: Layout, truth: Truth) -> None:
    scores = metrics.reader_scores(perfect_reading(truth, layout), truth, small_rig, layout)
    assert scores["median_px"] == scores["p95_px"] == scores["swaps"] == 0 and scores["pck5"] == 1
    back = slice(None, None, -1)
    det = perfect_reading(truth, layout)
    turned = replace(det, names=det.names[back], front_uv=det.front_uv[:, back], side_uv=det.side_uv[:, back])
    assert metrics.reader_scores(turned, truth, small_rig, layout)["p95_px"] == 0


def test_known_offsets_give_known_reader_figures(small_rig: RigInfo, layout: Layout, truth: Truth) -> None:
    det = perfect_reading(truth, layout)
    det.front_uv += [3.0, 4.0]  # 5 px: not under 5, under 10
    det.side_uv += [0.0, 2.0]
    tail = list(small_rig.joint_groups["tail"])
    det.side_uv[:, tail] += [0.0, 18.0]
    scores = metrics.reader_scores(det, truth, small_rig, layout)
    assert scores["front_median_px"] == pytest.approx(5) and scores["side_median_px"] == pytest.approx(2)
    assert scores["p95_px"] == pytest.approx(20) and scores["pck10"] == pytest.approx(0.9)
    assert scores["by_group"]["tail"]["side_median_px"] == pytest.approx(20)
    assert scores["by_group"]["spine"]["median_px"] == pytest.approx(3.5)
    assert {name for name, _ in scores["worst_joints"][:2]} == {"tail", "tail_tip"}


def test_a_swapped_pair_is_counted_and_a_plain_error_is_not(small_rig: RigInfo, layout: Layout, truth: Truth) -> None:
    det = perfect_reading(truth, layout)
    det.front_uv[:15, [3, 4]] = det.front_uv[:15, [4, 3]]  # half the frames of one pair of two
    apart = np.linalg.norm(det.front_uv[:, 3] - det.front_uv[:, 4], axis=-1)
    assert (apart > metrics.SWAP_MIN_PX).all(), "the front view tells these two apart"
    errors = metrics.reader_errors(det, truth, small_rig, layout)
    true_pairs = [np.linalg.norm(v[:, 3] - v[:, 4], axis=-1) for v in (errors.true_front, errors.true_side)]
    true_pairs += [np.linalg.norm(v[:, 7] - v[:, 8], axis=-1) for v in (errors.true_front, errors.true_side)]
    told_apart = sum(int((d > metrics.SWAP_MIN_PX).sum()) for d in true_pairs)
    assert metrics.swap_share(det, errors, small_rig) == pytest.approx(15 / told_apart)
    det = perfect_reading(truth, layout)
    det.front_uv[:, 3] += [0.0, 500.0]  # far from both: an error, no swap
    errors = metrics.reader_errors(det, truth, small_rig, layout)
    assert metrics.swap_share(det, errors, small_rig) == 0
    no_pairs = replace(small_rig, pairs=np.zeros((0, 2), np.int64))
    assert metrics.swap_share(det, errors, no_pairs) is None


def test_a_late_front_view_is_judged_by_what_it_showed(small_rig: RigInfo, layout: Layout, truth: Truth) -> None:
    det, late = perfect_reading(truth, layout), replace(truth, lag_frames=2.0)
    shown = np.maximum(np.arange(T) - 2, 0)
    lagged = replace(det, front_uv=det.front_uv[shown])
    assert metrics.reader_scores(lagged, late, small_rig, layout)["p95_px"] == pytest.approx(0, abs=1e-9)
    assert metrics.reader_scores(lagged, truth, small_rig, layout)["front_median_px"] > 1


def test_a_perfect_fit_scores_zero(small_rig: RigInfo, layout: Layout, truth: Truth) -> None:
    scores = metrics.fit_scores(perfect_fit(truth), truth, small_rig, layout)
    for key in ("mean_mm", "p95_mm", "pa_mpjpe_mm", "mpjve_mm_per_frame", "root_path_mm"):
        assert scores[key] == pytest.approx(0, abs=1e-9), key
    for key in ("rotation_deg", "swing_deg", "twist_deg"):
        assert scores[key] == pytest.approx(0, abs=1e-5), key
    assert scores["jitter"] == pytest.approx(scores["jitter_truth"])


def test_a_shifted_fit(small_rig: RigInfo, layout: Layout, truth: Truth) -> None:
    fit = perfect_fit(truth)
    shift = np.array([0.0, 0.006, 0.008])
    fit = replace(fit, joints=fit.joints + shift, trans=fit.trans + shift)
    scores = metrics.fit_scores(fit, truth, small_rig, layout)
    assert scores["mean_mm"] == pytest.approx(10) and scores["mean_cm"] == pytest.approx(1)
    assert scores["mean_pct_body"] == pytest.approx(1), "the small creature is 1 m long"
    assert scores["pa_mpjpe_mm"] == pytest.approx(0, abs=1e-9), "Procrustes takes the shift out"
    assert scores["mpjve_mm_per_frame"] == pytest.approx(0, abs=1e-9)
    assert scores["root_path_mm"] == pytest.approx(0, abs=1e-9)
    assert scores["by_group"]["tail"]["median_mm"] == pytest.approx(10)


def test_procrustes_takes_out_turn_and_size_but_not_shape(truth: Truth) -> None:
    turn = euler_to_matrix(np.array([0.2, -0.4, 1.0]))
    moved = 1.3 * truth.joints @ turn.T + [1.0, 2.0, 3.0]
    assert metrics.procrustes_errors(moved, truth.joints).max() < 1e-9
    mirrored = truth.joints * [-1.0, 1.0, 1.0]
    assert metrics.procrustes_errors(mirrored, truth.joints).mean() > 0.01, "a reflection is no rotation"


def test_rotation_splits_into_swing_and_twist(small_rig: RigInfo, layout: Layout, truth: Truth) -> None:
    rest = np.broadcast_to(euler_to_matrix(np.array([0.3, -0.2, 0.5])), (4, 3, 3))
    for axis, (swing, twist) in enumerate([(20.0, 0.0), (0.0, 20.0), (20.0, 0.0)]):
        turn = euler_to_matrix(np.radians(20.0) * np.eye(3)[axis])
        whole, s, w = metrics.rotation_errors_deg(rest @ turn, rest)
        assert whole == pytest.approx(np.full(4, 20.0)) and s == pytest.approx(np.full(4, swing), abs=1e-5)
        assert w == pytest.approx(np.full(4, twist), abs=1e-5)
    half, _, twist_half = metrics.rotation_errors_deg(rest @ euler_to_matrix(np.radians([0.0, 180.0, 0.0])), rest)
    assert half == pytest.approx(np.full(4, 180.0)) and twist_half == pytest.approx(np.full(4, 180.0))
    fit = perfect_fit(truth)
    euler = fit.euler.copy()
    euler[:, small_rig.index("head"), 1] += np.radians(24.0)
    scores = metrics.fit_scores(replace(fit, euler=euler), truth, small_rig, layout)
    assert scores["rotation_bones"] == 6 and 2.0 < scores["rotation_deg"] <= 4.0 + 1e-6, "one bone of six is off"


def test_short_bones_do_not_count_for_rotation(small_rig: RigInfo, layout: Layout) -> None:
    lengths = small_rig.lengths.copy()
    lengths[2] = 5 * layout.m_per_px
    seen = metrics.observable_bones(replace(small_rig, lengths=lengths), layout)
    assert list(seen) == [0, 1, 3, 4, 5]


def test_jitter_of_a_cubic() -> None:
    t = np.arange(12)[:, None, None] / FPS
    joints = np.concatenate([t**3, 0 * t, 0 * t], -1)  # third derivative 6 m/s^3
    assert metrics.jitter(joints, FPS) == pytest.approx(0.6)
    assert metrics.jitter(joints[:3], FPS) is None


def test_root_path_error_over_path_length() -> None:
    t = np.linspace(0, 1, 50)
    true = np.stack([np.cos(3 * t), np.sin(3 * t), 0 * t], -1)
    turn = euler_to_matrix(np.array([0.0, 0.0, 0.7]))
    assert metrics.root_path_scores(true @ turn.T + 5, true, 1.0)["root_path_pct"] == pytest.approx(0, abs=1e-9)
    off = metrics.root_path_scores(true + np.where(np.arange(50) % 2, 0.01, -0.01)[:, None] * [0, 0, 1], true, 1.0)
    assert off["root_path_mm"] == pytest.approx(10, rel=0.05) and off["root_path_pct"] == pytest.approx(0.33, rel=0.1)
    still = metrics.root_path_scores(true * 0, true * 0, 1.0)
    assert still == {"root_path_mm": 0.0, "root_path_pct": None}


def planted(truth: Truth, small_rig: RigInfo) -> Truth:
    """The truth with feet that ride 20 mm a frame backwards, the left one only in the first 16 frames."""
    joints = truth.joints.copy()
    time = np.arange(T)
    for joint in small_rig.contacts:
        joints[:, joint] = np.stack([0 * time + 0.1 * joint, 0.02 * time, 0 * time], -1)
    left = small_rig.contacts[0]
    joints[16:, left, 2] = 0.2 + 0.03 * np.arange(T - 16)
    return replace(truth, joints=joints)


def test_sliding_feet_give_their_slide(small_rig: RigInfo, layout: Layout, truth: Truth) -> None:
    truth = planted(truth, small_rig)
    fit = perfect_fit(truth)
    exact = metrics.fit_scores(fit, truth, small_rig, layout)
    assert exact["slide_mm_per_frame"] == pytest.approx(0, abs=1e-6) and exact["slide_steps"] > 30
    assert exact["contacts"]["true_ground_velocity_mm_per_frame"] == pytest.approx([0, 20], abs=1e-6)
    joints = fit.joints.copy()
    joints[:, list(small_rig.contacts), 0] += 0.004 * np.arange(T)[:, None]
    slid = metrics.fit_scores(replace(fit, joints=joints), truth, small_rig, layout)
    assert slid["slide_mm_per_frame"] == pytest.approx(4) and slid["slide_truth_mm_per_frame"] == pytest.approx(0)
    assert slid["drift_mm"] == pytest.approx(4 * (slid["slide_steps"] / 2), rel=0.01)


def test_contact_precision_and_recall(small_rig: RigInfo, layout: Layout, truth: Truth) -> None:
    truth = planted(truth, small_rig)
    left, right = (small_rig.keypoints[j] for j in small_rig.contacts)
    true = metrics.find_contacts(truth.joints, small_rig.contacts, 1.0, FPS)
    spans = [Contact(small_rig.keypoints[s.joint], s.start, s.end) for s in true.spans]
    perfect = metrics.fit_scores(replace(perfect_fit(truth), contacts=spans), truth, small_rig, layout)["contacts"]
    assert perfect["precision"] == perfect["recall"] == perfect["f1"] == 1
    assert perfect["by_rule"]["f1"] == 1
    claimed = [Contact(left, 0, T), Contact("tail", 0, T)]  # the left foot always, the right never
    part = metrics.fit_scores(replace(perfect_fit(truth), contacts=claimed), truth, small_rig, layout)["contacts"]
    counts = true.mask.sum(0)
    assert part["precision"] == pytest.approx(counts[0] / T)
    assert part["recall"] == pytest.approx(counts[0] / counts.sum()) and right != left
    none = metrics.fit_scores(perfect_fit(truth), truth, small_rig, layout)["contacts"]
    assert none["precision"] is None and none["recall"] == 0


def test_what_does_not_belong_together_is_refused(small_rig: RigInfo, layout: Layout, truth: Truth) -> None:
    det = perfect_reading(truth, layout)
    with pytest.raises(BadInputError, match="29 frames and the truth 30"):
        metrics.reader_scores(replace(det, front_uv=det.front_uv[1:]), truth, small_rig, layout)
    with pytest.raises(BadInputError, match="lacks tail"):
        metrics.reader_scores(
            replace(det, names=tuple(n.replace("tail", "fin") for n in det.names)), truth, small_rig, layout
        )
    det.side_uv[4, 2, 1] = np.nan
    with pytest.raises(BadInputError, match=r"side view's reading is not finite at index \[4, 2, 1\]"):
        metrics.reader_scores(det, truth, small_rig, layout)
    fit = perfect_fit(truth)
    joints = fit.joints.copy()
    joints[3, 1, 0] = np.inf
    with pytest.raises(BadInputError, match="motion is not finite"):
        metrics.fit_scores(replace(fit, joints=joints), truth, small_rig, layout)
