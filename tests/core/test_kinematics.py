"""Rotations and forward kinematics, the same for numpy and torch."""

from __future__ import annotations

import numpy as np
import torch

from anymocap_addon.core import kinematics as K
from anymocap_addon.core.rig import RigInfo

RNG = np.random.default_rng(1)


def test_euler_is_rz_ry_rx_and_round_trips() -> None:
    half_pi = np.pi / 2
    turn = K.euler_to_matrix(np.array([half_pi, 0.0, half_pi]))
    assert np.allclose(turn @ [0, 1, 0], [0, 0, 1])  # X first: y -> z, and Z leaves z
    euler = RNG.uniform(-1.5, 1.5, (50, 3))
    assert np.allclose(K.matrix_to_euler(K.euler_to_matrix(euler)), euler)
    assert np.allclose(K.euler_to_matrix(K.alternate_euler(euler)), K.euler_to_matrix(euler))


def test_quaternions_and_rotation_vectors_round_trip() -> None:
    R = K.euler_to_matrix(RNG.uniform(-3.1, 3.1, (200, 3)))
    assert np.allclose(K.quaternion_to_matrix(K.matrix_to_quaternion(R)), R)
    assert np.allclose(K.rotvec_to_matrix(K.matrix_to_rotvec(R)), R)
    assert np.allclose(K.rotvec_to_matrix(np.zeros(3)), np.eye(3))


def test_half_turns_keep_their_axis() -> None:
    R = np.stack([np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])])
    assert np.allclose(K.quaternion_to_matrix(K.matrix_to_quaternion(R)), R)


def test_continuity_over_full_turns() -> None:
    angle = np.linspace(0, 4 * np.pi, 100)
    euler = np.stack([angle, 0 * angle, 0 * angle], -1)
    R = K.euler_to_matrix(euler)
    assert np.abs(np.diff(K.continuous_euler(K.matrix_to_euler(R)), axis=0)).max() < 0.2
    q = K.continuous_quaternion(K.matrix_to_quaternion(R))
    assert (np.abs(np.diff(q, axis=0)).max() < 0.1) and np.allclose(K.quaternion_to_matrix(q), R)


def test_nearest_rotation_is_never_a_reflection() -> None:
    R = K.nearest_rotation(RNG.normal(0, 1, (20, 3, 3)))
    assert np.allclose(np.linalg.det(R), 1) and np.allclose(R @ np.swapaxes(R, 1, 2), np.eye(3))


def random_pose(rig: RigInfo, frames: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    euler = RNG.uniform(-1, 1, (frames, rig.B, 3))
    return RNG.normal(0, 1, (frames, 3)), K.euler_to_matrix(RNG.uniform(-3, 3, (frames, 3))), euler


def test_rest_pose_is_the_rest_matrices(small_rig: RigInfo) -> None:
    skeleton = K.Skeleton.of(small_rig)
    pose = skeleton.forward(small_rig.rest[:1, :3, 3], skeleton.rest_root_R[None], np.zeros((1, small_rig.B, 3)))
    assert np.allclose(pose.R[0], small_rig.rest[:, :3, :3])
    assert np.allclose(pose.joints[0], small_rig.rest_joints())


def test_forward_is_blenders_formula(small_rig: RigInfo) -> None:
    trans, root_R, euler = random_pose(small_rig, 4)
    pose = K.Skeleton.of(small_rig).forward(trans, root_R, euler)
    for t in range(4):
        world: dict[int, np.ndarray] = {}
        for b, parent in enumerate(small_rig.parents):
            basis = np.eye(4)
            basis[:3, :3] = K.euler_to_matrix(euler[t, b])
            if parent < 0:
                world[b] = np.eye(4)
                world[b][:3, :3], world[b][:3, 3] = root_R[t], trans[t]
            else:
                world[b] = world[parent] @ np.linalg.inv(small_rig.rest[parent]) @ small_rig.rest[b] @ basis
            assert np.allclose(pose.R[t, b], world[b][:3, :3]) and np.allclose(pose.p[t, b], world[b][:3, 3])


def test_torch_and_numpy_agree_and_gradients_pass(small_rig: RigInfo) -> None:
    trans, root_R, euler = random_pose(small_rig, 3)
    expected = K.Skeleton.of(small_rig).forward(trans, root_R, euler)
    tensors = [torch.as_tensor(a).requires_grad_() for a in (trans, root_R, euler)]
    pose = K.Skeleton.of(small_rig, like=tensors[0]).forward(*tensors)
    assert np.allclose(pose.joints.detach().numpy(), expected.joints, atol=1e-12)
    pose.joints.sum().backward()
    assert tensors[2].grad is not None and tensors[2].grad.abs().sum() > 0


def test_levels_deeper_than_bone_order(small_rig: RigInfo) -> None:
    """Bones listed depth-first, so that levels mix the order, still land where they belong."""
    skeleton = K.Skeleton.of(small_rig)
    assert [level.tolist() for level in skeleton.levels] == [[1, 3, 4, 5], [2]]
    pose = skeleton.forward(np.zeros((1, 3)), np.eye(3)[None], np.zeros((1, 6, 3)))
    assert np.allclose(pose.R[0, 5], skeleton.rel_R[5])
