"""Blender's forward kinematics and the rotations it needs, once, for numpy arrays and torch tensors alike.

pose(b) = pose(parent) @ inverse(rest(parent)) @ rest(b) @ basis(b); Euler 'XYZ' of Blender is Rz @ Ry @ Rx.
Every function takes numpy float64 arrays or torch tensors and returns the same kind; torch is only touched when a
torch tensor comes in, so Blender's process can use this module without loading it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import concatenate, identity3, is_numpy, sin_cos, stack
from .rig import RigInfo


def _matrix(rows: list[list[Any]]) -> Any:
    return stack([stack(row, -1) for row in rows], -2)


def euler_to_matrix(euler: Any) -> Any:
    """(..., 3) XYZ radians to (..., 3, 3): Rz @ Ry @ Rx, Blender's 'XYZ'."""
    sine, cosine = sin_cos(euler)
    sx, sy, sz = sine[..., 0], sine[..., 1], sine[..., 2]
    cx, cy, cz = cosine[..., 0], cosine[..., 1], cosine[..., 2]
    return _matrix(
        [
            [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx],
        ]
    )


def matrix_to_euler(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 3, 3) to (..., 3) XYZ radians with the middle angle within +-90 degrees; numpy only."""
    y = np.arcsin(np.clip(-matrix[..., 2, 0], -1, 1))
    x = np.arctan2(matrix[..., 2, 1], matrix[..., 2, 2])
    z = np.arctan2(matrix[..., 1, 0], matrix[..., 0, 0])
    return np.stack([x, y, z], -1)


def alternate_euler(euler: NDArray[np.float64]) -> NDArray[np.float64]:
    """The other XYZ triple (..., 3) of the same rotation, with the middle angle beyond +-90 degrees."""
    return np.stack([euler[..., 0] + np.pi, np.pi - euler[..., 1], euler[..., 2] + np.pi], -1)


def continuous_euler(euler: NDArray[np.float64]) -> NDArray[np.float64]:
    """(T, ..., 3) triples of the same rotations, each nearest to the frame before; the first nearest to zero."""
    result = np.array(euler, float)
    reference = np.zeros_like(result[0])
    for t in range(len(result)):
        choices = []
        for choice in (result[t], alternate_euler(result[t])):
            turned = choice - 2 * np.pi * np.round((choice - reference) / (2 * np.pi))
            choices.append((np.abs(turned - reference).sum(-1, keepdims=True), turned))
        (near_cost, near), (far_cost, far) = choices
        reference = result[t] = np.where(far_cost < near_cost, far, near)
    return result


def quaternion_to_matrix(quaternion: Any) -> Any:
    """(..., 4) wxyz, normalised here, to (..., 3, 3)."""
    norm = (quaternion * quaternion).sum(-1) ** 0.5
    q = quaternion / norm[..., None]
    w, x, y, z = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    return _matrix(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def matrix_to_quaternion(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 3, 3) to (..., 4) wxyz of length 1, w >= 0; numpy only. Shepperd's method (largest divisor)."""
    m = matrix
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    squares = np.stack([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz], -1)
    wx, wy, wz = m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]
    xy, xz, yz = m[..., 1, 0] + m[..., 0, 1], m[..., 0, 2] + m[..., 2, 0], m[..., 2, 1] + m[..., 1, 2]
    candidates = np.stack(
        [
            np.stack([squares[..., 0], wx, wy, wz], -1),
            np.stack([wx, squares[..., 1], xy, xz], -1),
            np.stack([wy, xy, squares[..., 2], yz], -1),
            np.stack([wz, xz, yz, squares[..., 3]], -1),
        ],
        -2,
    )
    best = squares.argmax(-1)[..., None, None]
    q = np.take_along_axis(candidates, best, -2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    positive: NDArray[np.float64] = np.where(q[..., :1] < 0, -q, q)
    return positive


def continuous_quaternion(quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """(T, ..., 4) with signs chosen so that neighbouring frames lie in the same half of the sphere."""
    dot = (quaternion[1:] * quaternion[:-1]).sum(-1)
    flips = np.cumprod(np.where(dot < 0, -1.0, 1.0), axis=0)
    result = np.array(quaternion, float)
    result[1:] *= flips[..., None]
    return result


def rotvec_to_matrix(rotvec: Any) -> Any:
    """(..., 3) axis times angle to (..., 3, 3), by Rodrigues' formula; smooth at zero."""
    x, y, z = rotvec[..., 0], rotvec[..., 1], rotvec[..., 2]
    zero = x * 0
    cross = _matrix([[zero, -z, y], [z, zero, -x], [-y, x, zero]])
    angle2 = x * x + y * y + z * z + 1e-24
    angle = angle2**0.5
    sine, cosine = sin_cos(angle)
    a = (sine / angle)[..., None, None]
    b = ((1 - cosine) / angle2)[..., None, None]
    eye = identity3(rotvec)
    return eye + a * cross + b * (cross @ cross)


def matrix_to_rotvec(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 3, 3) to (..., 3) axis times angle, angle within [0, pi]; numpy only."""
    q = matrix_to_quaternion(matrix)
    size = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    scale = np.where(size > 1e-9, 2 * np.arctan2(size, q[..., :1]) / np.maximum(size, 1e-12), 2.0)
    rotvec: NDArray[np.float64] = q[..., 1:] * scale
    return rotvec


def nearest_rotation(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 3, 3) the rotation nearest in the least-squares sense, never a reflection; numpy only."""
    u, _, vt = np.linalg.svd(matrix)
    sign = np.sign(np.linalg.det(u @ vt))
    u = u.copy()
    u[..., :, 2] *= sign[..., None]
    rotation: NDArray[np.float64] = u @ vt
    return rotation


def geodesic_angle(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """(...) angle in radians between rotations (..., 3, 3)."""
    trace = np.einsum("...ij,...ij->...", a, b)
    angle: NDArray[np.float64] = np.arccos(np.clip((trace - 1) / 2, -1, 1))
    return angle


@dataclass(frozen=True)
class Pose:
    """Forward kinematics of T frames: R (T, B, 3, 3) world rotations, p (T, B, 3) heads, joints (T, J, 3), metres."""

    R: Any
    p: Any
    joints: Any


class Skeleton:
    """The constant arrays of a capture skeleton, and its forward kinematics.

    Attributes:
        rel_R: (B, 3, 3) rest rotation relative to the parent's rest rotation (identity for the root).
        offset: (B, 3) head in the parent's rest frame, metres (zero for the root).
        rest_root_R: (3, 3) rest rotation of the root.
        keypoint_offset: (J, 3) keypoint in the frame of its bone, metres.
        levels: bone indices by depth, the root's level left out.
        order, level_parents: bookkeeping that keeps `forward` free of in-place writes, so autograd can pass.
    """

    def __init__(self, rig: RigInfo) -> None:
        self.B, self.J = rig.B, rig.J
        self.parents = rig.parents
        self.keypoint_bone = rig.keypoint_bone
        rest_R = rig.rest[:, :3, :3]
        rel_R = np.tile(np.eye(3), (rig.B, 1, 1))
        offset = np.zeros((rig.B, 3))
        depth = np.zeros(rig.B, int)
        for b in range(1, rig.B):
            parent = rig.parents[b]
            rel_R[b] = rest_R[parent].T @ rest_R[b]
            offset[b] = rest_R[parent].T @ (rig.rest[b, :3, 3] - rig.rest[parent, :3, 3])
            depth[b] = depth[parent] + 1
        self.depth = depth
        self.levels = [np.flatnonzero(depth == level) for level in range(1, depth.max() + 1)]
        self._index()
        self.rel_R: Any = rel_R
        self.offset: Any = offset
        self.rest_root_R: Any = rest_R[0].copy()
        self.keypoint_offset: Any = rig.keypoint_offset.copy()

    def _index(self) -> None:
        """Where each bone lands when levels are concatenated root first, and each level's parents in that order."""
        sequence = np.concatenate([np.array([0]), *self.levels])
        self.order = np.argsort(sequence)
        starts = np.cumsum([1, *map(len, self.levels)])
        previous_start = [0, *starts[:-1]]
        self.level_parents = [
            self.order[self.parents[level]] - previous_start[i] for i, level in enumerate(self.levels)
        ]

    @classmethod
    def of(cls, rig: RigInfo, like: Any = None) -> Skeleton:
        """The skeleton of `rig`, as numpy arrays or, with a tensor `like`, as tensors of its dtype and device."""
        skeleton = cls(rig)
        if like is not None and not is_numpy(like):
            for name in ("rel_R", "offset", "rest_root_R", "keypoint_offset"):
                array = getattr(skeleton, name)
                setattr(skeleton, name, like.new_tensor(array))
        return skeleton

    def forward(self, trans: Any, root_R: Any, euler: Any) -> Pose:
        """Pose of T frames.

        Args:
            trans: (T, 3) world position of the root bone's head, metres.
            root_R: (T, 3, 3) world rotation of the root bone.
            euler: (T, B, 3) basis rotations, XYZ radians; the root's row is not used.
        """
        basis = euler_to_matrix(euler)
        R, p = [root_R[:, None]], [trans[:, None]]
        for level, parents in zip(self.levels, self.level_parents, strict=True):
            parent_R = R[-1][:, parents]
            p.append(p[-1][:, parents] + (parent_R @ self.offset[level][:, :, None])[..., 0])
            R.append(parent_R @ (self.rel_R[level] @ basis[:, level]))
        world_R = concatenate(R, 1)[:, self.order]
        head = concatenate(p, 1)[:, self.order]
        arm = (world_R[:, self.keypoint_bone] @ self.keypoint_offset[:, :, None])[..., 0]
        return Pose(world_R, head, head[:, self.keypoint_bone] + arm)
