"""The start of a fit: root by weighted Kabsch, then every bone in closed form, aimed at the triangulated joints."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kinematics import Skeleton, alternate_euler, euler_to_matrix, matrix_to_euler, nearest_rotation
from ..rig import RigInfo

Array = NDArray[np.float64]

MEDIAN_FRAMES = 5
PLANAR_RATIO = 0.25
SHORTEST_SHARE = 1e-4


def median_filtered(points: Array, frames: int = MEDIAN_FRAMES) -> Array:
    """Running median along time, edges repeated: a start must not follow single misread frames."""
    reach = frames // 2
    padded = np.concatenate([points[:1].repeat(reach, 0), points, points[-1:].repeat(reach, 0)])
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, frames, axis=0), axis=-1))


def spans_plane(points: Array) -> bool:
    """Whether (K, 3) vectors fix a rotation: second singular value above a quarter of the first."""
    if len(points) < 2:
        return False
    values = np.linalg.svd(points, compute_uv=False)
    return bool(values[1] > PLANAR_RATIO * values[0])


def keypoint_depth(rig: RigInfo, skeleton: Skeleton) -> NDArray[np.int64]:
    """(J,) how many joints lie between a keypoint and the root; 0 is the root's head."""
    return np.asarray(skeleton.depth[rig.keypoint_bone] + rig.keypoint_end, np.int64)


def rigid_set(rig: RigInfo, skeleton: Skeleton) -> list[int]:
    """Keypoints that ride on the root bone, widened by depth until they span a plane.

    A root with one child carries only points on a line: Kabsch would return any turn about it.
    """
    depth = keypoint_depth(rig, skeleton)
    rest = rig.rest_joints() - rig.rest[0, :3, 3]
    for widest in range(1, int(depth.max(initial=1)) + 1):
        chosen = np.flatnonzero(depth <= widest)
        if spans_plane(rest[chosen]):
            return [int(j) for j in chosen]
    return [int(j) for j in np.argsort(depth, kind="stable")]


def kabsch(source: Array, target: Array, weight: Array) -> Array:
    """(T, 3, 3) rotations R that minimise sum_k w |R source_k - target_k|^2.

    Args:
        source: (K, 3). target: (T, K, 3). weight: (T, K).
    """
    correlation = np.einsum("tk,tki,kj->tij", weight, target, source)
    return nearest_rotation(correlation)


def swing(source: Array, target: Array) -> Array:
    """(T, 3, 3) smallest rotations that take the unit vector source (3,) to unit vectors target (T, 3)."""
    axis = np.cross(source, target)
    cross = np.zeros((len(target), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -axis[:, 2], axis[:, 1], -axis[:, 0]
    cross -= cross.transpose(0, 2, 1)
    share = 1 / np.maximum(1 + target @ source, 1e-3)
    return nearest_rotation(np.eye(3) + cross + cross @ cross * share[:, None, None])


def root_motion(rig: RigInfo, skeleton: Skeleton, points: Array, weight: Array) -> tuple[Array, Array]:
    """Root position (T, 3) and world rotation (T, 3, 3) from the rigid set of the triangulated joints."""
    chosen = rigid_set(rig, skeleton)
    source = (rig.rest_joints()[chosen] - rig.rest[0, :3, 3]) @ rig.rest[0, :3, :3]
    share = weight[:, chosen] + 1e-9
    share = share / share.sum(1, keepdims=True)
    target = points[:, chosen]
    centre = np.einsum("tk,tki->ti", share, target)
    source_centre = share @ source
    # the weighted centre of the source differs by frame, so the correlation is built from centred targets only:
    # sum w (target - centre) (source - c)^T = sum w (target - centre) source^T
    rotation = kabsch(source, target - centre[:, None], share)
    return centre - np.einsum("tij,tj->ti", rotation, source_centre), rotation


def inside_limits(rig: RigInfo, bone: int, rotation: Array) -> Array:
    """(T, 3) Euler triple of (T, 3, 3): of both triples and their full turns the one nearest its limits, clipped."""
    low, high = rig.limits_rad[bone, :, 0], rig.limits_rad[bone, :, 1]
    middle, half = (low + high) / 2, (high - low) / 2
    best, best_beyond = None, None
    first = matrix_to_euler(rotation)
    for triple in (first, alternate_euler(first)):
        turned = triple - 2 * np.pi * np.round((triple - middle) / (2 * np.pi))
        beyond = np.maximum(np.abs(turned - middle) - half, 0).sum(-1)
        if best is None or best_beyond is None:
            best, best_beyond = turned, beyond
        else:
            best = np.where((beyond < best_beyond)[:, None], turned, best)
    return np.clip(np.asarray(best), low, high)


def _targets(rig: RigInfo, skeleton: Skeleton, bone: int) -> tuple[list[int], Array]:
    """Keypoints that ride on `bone` away from its head, and where (K, 3) in its frame."""
    joints, places = [], []
    for joint in range(rig.J):
        carrier = int(rig.keypoint_bone[joint])
        if rig.keypoint_end[joint] == 1 and carrier == bone:
            place = skeleton.keypoint_offset[joint]
        elif rig.keypoint_end[joint] == 0 and rig.parents[carrier] == bone:
            place = skeleton.offset[carrier]
        else:
            continue
        if np.linalg.norm(place) > SHORTEST_SHARE * rig.body_length:
            joints.append(joint)
            places.append(place)
    return joints, np.array(places).reshape(-1, 3)


def _aim(places: Array, seen: Array, weight: Array) -> Array:
    """(T, 3, 3) rotation that brings places (K, 3) onto seen (T, K, 3): Kabsch where they span a plane, else swing."""
    if len(places) == 0:
        return np.tile(np.eye(3), (len(seen), 1, 1))
    if spans_plane(places):
        return kabsch(places, seen, weight)
    size = np.linalg.norm(places, axis=1)
    longest = int(size.argmax())
    reach = np.linalg.norm(seen[:, longest], axis=1, keepdims=True)
    return swing(places[longest] / size[longest], seen[:, longest] / np.maximum(reach, 1e-9))


def start_pose(rig: RigInfo, points: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Root and Euler angles aimed at the triangulated joints, inside the limits.

    Args:
        points: (T, J, 3) metres. weight: (T, J).

    Returns:
        trans (T, 3), root_R (T, 3, 3), euler (T, B, 3).
    """
    skeleton = Skeleton.of(rig)
    points = median_filtered(points)
    trans, root = root_motion(rig, skeleton, points, weight)
    frames = len(points)
    world = np.empty((frames, rig.B, 3, 3))
    head = np.empty((frames, rig.B, 3))
    euler = np.zeros((frames, rig.B, 3))
    world[:, 0], head[:, 0] = root, trans
    for bone in range(1, rig.B):
        parent = int(rig.parents[bone])
        base = world[:, parent] @ skeleton.rel_R[bone]
        head[:, bone] = head[:, parent] + world[:, parent] @ skeleton.offset[bone]
        joints, places = _targets(rig, skeleton, bone)
        own = np.flatnonzero((rig.keypoint_bone == bone) & (rig.keypoint_end == 0))
        origin = points[:, own[0]] if len(own) else head[:, bone]
        seen = np.einsum("tji,tkj->tki", base, points[:, joints] - origin[:, None])
        euler[:, bone] = inside_limits(rig, bone, _aim(places, seen, weight[:, joints]))
        world[:, bone] = base @ euler_to_matrix(euler[:, bone])
    return trans, root, euler
