"""Scores of a reading and of a fit against the truth of an exam clip; every formula is in docs/formats.md.

Lengths of results: `_mm`, `_cm`, `_px`, `_deg` in the key, `pct` in per cent of the body length, shares in 0..1.
Unknowable figures (no mirrored pairs, no contacts, …) are None, never NaN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..detections import Detections
from ..errors import BadInputError
from ..kinematics import Skeleton, geodesic_angle, matrix_to_quaternion, nearest_rotation, quaternion_to_matrix
from ..layout import Layout
from ..motion import Motion
from ..rig import RigInfo
from . import contact_rule
from .contact_rule import GroundContacts, find_contacts
from .truth import Truth

Array = NDArray[np.float64]
Scores = dict[str, Any]

SWAP_MIN_PX = 20.0  # mirrored joints nearer than this cannot be told apart, so no swap is claimed
OBSERVABLE_BONE_PX = 10.0  # the rotation of a shorter bone cannot be seen
SHORTEST_PATH = 0.01  # of the body length: a shorter root path has no meaningful relative error
WORST_COUNT = 3


def _figure(values: Array, how: str = "mean", q: float = 0.5) -> float | None:
    """Mean, median or quantile of all values, None when there are none."""
    if values.size == 0:
        return None
    if how == "mean":
        return float(values.mean())
    return float(np.quantile(values, q))


def _reordered(names: tuple[str, ...], wanted: tuple[str, ...], what: str) -> list[int]:
    """Where each wanted name lies in `names`.

    Raises:
        BadInputError: a name is missing.
    """
    place = {name: index for index, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise BadInputError(
            f"The {what} lacks {', '.join(missing[:5])}, which the rig has.",
            hint="The rig changed since: run the stages after rig again.",
        )
    return [place[name] for name in wanted]


def _same_length(frames: int, truth: Truth, what: str) -> None:
    if frames != truth.T:
        raise BadInputError(
            f"The {what} has {frames} frames and the truth {truth.T}.",
            hint="Detect and fit the exam's own clip again.",
        )


def _finite(array: Array, what: str) -> Array:
    if not np.isfinite(array).all():
        first = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
        raise BadInputError(f"The {what} is not finite at index {first}.", hint="Run the stage that wrote it again.")
    return array


# --- reader --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ReaderErrors:
    """Distances (T, J) in px between read and true keypoints, and the true keypoints (T, J, 2), of each view."""

    front: Array
    side: Array
    true_front: Array
    true_side: Array


def true_pixels(truth: Truth, rig: RigInfo, layout: Layout) -> tuple[Array, Array]:
    """True keypoints in layout px, (T, J, 2) for the front and the side view, in the rig's order.

    Where the clip's front view lags behind the side view by `truth.lag_frames`, the front shows the past (linear
    between frames, the first pose held), so the reader is judged by what was to be seen.
    """
    joints = truth.joints[:, _reordered(truth.names, rig.keypoints, "truth")]
    _finite(joints, "truth")
    seen = np.clip(np.arange(truth.T) - truth.lag_frames, 0, truth.T - 1)
    before = np.floor(seen).astype(int)
    after = np.minimum(before + 1, truth.T - 1)
    part = (seen - before)[:, None, None]
    front, _ = layout.project(joints[before] * (1 - part) + joints[after] * part)
    _, side = layout.project(joints)
    return front, side


def reader_errors(detections: Detections, truth: Truth, rig: RigInfo, layout: Layout) -> ReaderErrors:
    """Distances in px between what was read and what is true.

    Raises:
        BadInputError: frames or names disagree, or a reading is not finite.
    """
    _same_length(detections.T, truth, "reading")
    order = _reordered(detections.names, rig.keypoints, "reading")
    true_front, true_side = true_pixels(truth, rig, layout)
    front = np.linalg.norm(_finite(detections.front_uv[:, order], "front view's reading") - true_front, axis=-1)
    side = np.linalg.norm(_finite(detections.side_uv[:, order], "side view's reading") - true_side, axis=-1)
    return ReaderErrors(front, side, true_front, true_side)


def _swapped(read: Array, true: Array, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Flags of every mirrored joint whose pair lies SWAP_MIN_PX apart: read nearer to its partner's true place than
    to its own, and less than half of the pair's distance from it."""
    here, there = np.concatenate([pairs, pairs[:, ::-1]]).T
    apart = np.linalg.norm(true[:, here] - true[:, there], axis=-1)
    own = np.linalg.norm(read[:, here] - true[:, here], axis=-1)
    other = np.linalg.norm(read[:, here] - true[:, there], axis=-1)
    flags: NDArray[np.bool_] = ((other < own) & (other < apart / 2))[apart > SWAP_MIN_PX]
    return flags


def swap_share(detections: Detections, errors: ReaderErrors, rig: RigInfo) -> float | None:
    """Share of mirrored keypoints, over both views, that were read at their partner's place."""
    if len(rig.pairs) == 0:
        return None
    order = _reordered(detections.names, rig.keypoints, "reading")
    flags = [
        _swapped(detections.front_uv[:, order], errors.true_front, rig.pairs),
        _swapped(detections.side_uv[:, order], errors.true_side, rig.pairs),
    ]
    return _figure(np.concatenate(flags).astype(float))


def _reader_figures(front: Array, side: Array) -> Scores:
    both = np.concatenate([front.ravel(), side.ravel()])
    return {
        "median_px": _figure(both, "quantile"),
        "p95_px": _figure(both, "quantile", 0.95),
        "pck5": _figure((both < 5).astype(float)),
        "pck10": _figure((both < 10).astype(float)),
        "front_median_px": _figure(front, "quantile"),
        "side_median_px": _figure(side, "quantile"),
    }


def reader_scores(detections: Detections, truth: Truth, rig: RigInfo, layout: Layout) -> Scores:
    """Scores of a reading: figures over all, by body part, by joint (median_px) and the worst joints.

    Raises:
        BadInputError: frames or names disagree, or a reading is not finite.
    """
    errors = reader_errors(detections, truth, rig, layout)
    by_joint = np.median(np.concatenate([errors.front, errors.side]), axis=0)
    return {
        **_reader_figures(errors.front, errors.side),
        "swaps": swap_share(detections, errors, rig),
        "by_group": {
            part: _reader_figures(errors.front[:, list(j)], errors.side[:, list(j)])
            for part, j in rig.joint_groups.items()
            if j
        },
        "by_joint_median_px": dict(zip(rig.keypoints, map(float, by_joint), strict=True)),
        "worst_joints": worst(rig.keypoints, by_joint),
    }


def worst(names: tuple[str, ...], values: Array, count: int = WORST_COUNT) -> list[list[Any]]:
    """The `count` largest values with their names, largest first."""
    return [[names[i], float(values[i])] for i in np.argsort(-values)[:count]]


# --- fit -----------------------------------------------------------------------------------------------------------


def procrustes_errors(fitted: Array, true: Array) -> Array:
    """(T, J) distances after the best similarity (rotation, scale, shift) of every frame: PA-MPJPE's terms, metres."""
    f, t = fitted - fitted.mean(1, keepdims=True), true - true.mean(1, keepdims=True)
    covariance = np.swapaxes(t, -1, -2) @ f
    turn = nearest_rotation(covariance)
    size = (f**2).sum((1, 2))
    scale = np.einsum("tij,tij->t", turn, covariance) / np.where(size > 0, size, 1.0)
    moved = scale[:, None, None] * (f @ np.swapaxes(turn, -1, -2))
    distances: Array = np.linalg.norm(moved - t, axis=-1)
    return distances


def jitter(joints: Array, fps: float) -> float | None:
    """Mean |third difference| x fps^3 / 10, in units of 10 m/s^3; None under four frames."""
    return _figure(np.linalg.norm(np.diff(joints, 3, axis=0), axis=-1) * fps**3 / 10) if len(joints) > 3 else None


def rotation_errors_deg(fitted: Array, true: Array) -> tuple[Array, Array, Array]:
    """Degrees between world rotations (..., 3, 3): geodesic, swing (angle between the bones' own axes Y) and twist
    (the part of the difference about Y, from the swing-twist decomposition of the quaternion)."""
    whole = np.degrees(geodesic_angle(fitted, true))
    axes = np.einsum("...i,...i->...", fitted[..., :, 1], true[..., :, 1])
    swing = np.degrees(np.arccos(np.clip(axes, -1, 1)))
    q = matrix_to_quaternion(np.swapaxes(true, -1, -2) @ fitted)
    twist = np.degrees(np.abs(2 * np.arctan2(q[..., 2], q[..., 0])))
    return whole, swing, np.minimum(twist, 360 - twist)


def observable_bones(rig: RigInfo, layout: Layout) -> NDArray[np.int64]:
    """Indices of the bones long enough to show their rotation; all bones when none is."""
    seen = np.flatnonzero(rig.lengths > OBSERVABLE_BONE_PX * layout.m_per_px)
    return seen if len(seen) else np.arange(rig.B)


def _rotation_scores(motion: Motion, truth: Truth, rig: RigInfo, layout: Layout) -> Scores:
    fit_order = _reordered(motion.bones, rig.bones, "motion")
    true_order = _reordered(truth.bones, rig.bones, "truth")
    skeleton = Skeleton.of(rig)
    fitted = skeleton.forward(motion.trans, motion.root_R, motion.euler[:, fit_order]).R
    true = skeleton.forward(truth.trans, quaternion_to_matrix(truth.root_quat), truth.euler[:, true_order]).R
    seen = observable_bones(rig, layout)
    whole, swing, twist = rotation_errors_deg(fitted[:, seen], true[:, seen])
    columns = {rig.bones[b]: i for i, b in enumerate(seen)}
    groups = {part: [columns[b] for b in bones if b in columns] for part, bones in rig.bone_groups.items()}
    return {
        "rotation_deg": _figure(whole),
        "swing_deg": _figure(swing),
        "twist_deg": _figure(twist),
        "rotation_bones": len(seen),
        "rotation_by_group_deg": {part: _figure(whole[:, group]) for part, group in groups.items() if group},
    }


def root_path_scores(fitted: Array, true: Array, body_length: float) -> Scores:
    """Error of the root's path (T, 3) after the best rigid alignment: mean mm, and per cent of the path's length
    (None for a root that hardly moves)."""
    f, t = fitted - fitted.mean(0), true - true.mean(0)
    moved = f @ nearest_rotation(t.T @ f).T
    mean = float(np.linalg.norm(moved - t, axis=-1).mean())
    length = float(np.linalg.norm(np.diff(true, axis=0), axis=-1).sum())
    relative = 100 * mean / length if length > SHORTEST_PATH * body_length else None
    return {"root_path_mm": 1000 * mean, "root_path_pct": relative}


def _precision_recall(found: NDArray[np.bool_], true: NDArray[np.bool_]) -> Scores:
    right = int((found & true).sum())
    precision = right / int(found.sum()) if found.any() else None
    recall = right / int(true.sum()) if true.any() else None
    f1 = 2 * right / (int(found.sum()) + int(true.sum())) if found.any() or true.any() else None
    return {"precision": precision, "recall": recall, "f1": f1}


def contact_mask(spans: list[tuple[str, int, int]], rig: RigInfo, frames: int) -> NDArray[np.bool_]:
    """(T, C) mask of spans (joint's name, start, end) over the rig's contacts; other joints are left out."""
    column = {rig.keypoints[joint]: i for i, joint in enumerate(rig.contacts)}
    mask = np.zeros((frames, len(rig.contacts)), bool)
    for joint, start, end in spans:
        if joint in column:
            mask[max(start, 0) : end, column[joint]] = True
    return mask


def contact_scores(motion: Motion, fitted: Array, true: Array, found: GroundContacts, rig: RigInfo) -> Scores:
    """Slide and drift of the fitted and of the true feet in the truth's contacts, and how well contacts were found.

    Args:
        motion: the fit, whose own contacts are judged.
        fitted, true: (T, J, 3) joints in the rig's order.
        found: the truth's contacts and ground velocity by contact_rule.
    """
    spans, ground = found.spans, found.ground_velocity
    own = contact_mask([(c.joint, c.start, c.end) for c in motion.contacts], rig, motion.T)
    ruled = find_contacts(fitted, rig.contacts, rig.body_length, motion.fps)
    steps = contact_rule.slide_steps(fitted, spans, ground)
    return {
        "slide_mm_per_frame": _mm(_figure(steps)),
        "slide_truth_mm_per_frame": _mm(_figure(contact_rule.slide_steps(true, spans, ground))),
        "slide_steps": len(steps),
        "drift_mm": _mm(_figure(contact_rule.drifts(fitted, spans, ground))),
        "drift_truth_mm": _mm(_figure(contact_rule.drifts(true, spans, ground))),
        "contacts": {
            "true": len(spans),
            "found": len(motion.contacts),
            **_precision_recall(own, found.mask),
            "by_rule": _precision_recall(ruled.mask, found.mask),
            "ground_velocity_mm_per_frame": [float(v) for v in 1000 * np.asarray(motion.ground_velocity)],
            "true_ground_velocity_mm_per_frame": [float(v) for v in 1000 * ground],
        },
    }


def _mm(metres: float | None) -> float | None:
    return None if metres is None else 1000 * metres


def _position_figures(distance: Array, body_length: float) -> Scores:
    """Figures of distances in metres."""
    mean = float(distance.mean())
    return {
        "mean_mm": 1000 * mean,
        "mean_cm": 100 * mean,
        "median_mm": 1000 * float(np.median(distance)),
        "p95_mm": 1000 * float(np.quantile(distance, 0.95)),
        "mean_pct_body": 100 * mean / body_length,
    }


def fit_distances(motion: Motion, truth: Truth, rig: RigInfo) -> tuple[Array, Array, Array]:
    """(T, J) distances in metres, fitted and true joints (T, J, 3) in the rig's order.

    Raises:
        BadInputError: frames or names disagree, or something is not finite.
    """
    _same_length(motion.T, truth, "motion")
    fitted = _finite(motion.joints[:, _reordered(motion.joint_names, rig.keypoints, "motion")], "motion")
    true = _finite(truth.joints[:, _reordered(truth.names, rig.keypoints, "truth")], "truth")
    return np.linalg.norm(fitted - true, axis=-1), fitted, true


def fit_scores(motion: Motion, truth: Truth, rig: RigInfo, layout: Layout) -> Scores:
    """Scores of a fit: positions, rotations, smoothness, feet, root path; by body part and joint.

    Raises:
        BadInputError: frames or names disagree, or something is not finite.
    """
    distance, fitted, true = fit_distances(motion, truth, rig)
    found = find_contacts(true, rig.contacts, truth.body_length, truth.fps)
    by_joint, by_frame = 1000 * distance.mean(0), 1000 * distance.mean(1)
    velocity = np.linalg.norm(np.diff(fitted, axis=0) - np.diff(true, axis=0), axis=-1)
    return {
        **_position_figures(distance, truth.body_length),
        "pa_mpjpe_mm": 1000 * float(procrustes_errors(fitted, true).mean()),
        "mpjve_mm_per_frame": _mm(_figure(velocity)),
        **_rotation_scores(motion, truth, rig, layout),
        "jitter": jitter(fitted, truth.fps),
        "jitter_truth": jitter(true, truth.fps),
        **root_path_scores(motion.trans, truth.trans, truth.body_length),
        **contact_scores(motion, fitted, true, found, rig),
        "by_group": by_group(distance, rig, truth.body_length),
        "by_joint_mean_mm": dict(zip(rig.keypoints, map(float, by_joint), strict=True)),
        "worst_joints": worst(rig.keypoints, by_joint),
        "worst_frames": [[int(t), float(by_frame[t])] for t in np.argsort(-by_frame)[:WORST_COUNT]],
    }


def by_group(distance: Array, rig: RigInfo, body_length: float) -> Mapping[str, Scores]:
    """Position figures of every body part, from distances (T, J) in metres."""
    return {
        part: {"joints": len(joints), **_position_figures(distance[:, list(joints)], body_length)}
        for part, joints in rig.joint_groups.items()
        if joints
    }
