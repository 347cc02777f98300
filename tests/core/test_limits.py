"""Limits: mirrored by the rest matrices, default ranges on the right axes, ranges from Actions."""

from __future__ import annotations

import numpy as np
import pytest

from anymocap_addon.core.kinematics import euler_to_matrix, matrix_to_euler, rotvec_to_matrix
from anymocap_addon.core.limits import default_limits, mirror_limits, seen_limits, share_between_sides
from anymocap_addon.core.roles import find_roles

from .skeletons import bones, quadruped

M = np.diag([-1.0, 1.0, 1.0])
LEFT = rotvec_to_matrix(np.array([1.9, 0.2, -0.1]))  # a leg that points down and a little outward


def mirrored_roll(axis: str) -> np.ndarray:
    """The right bone's rest: the mirror image of LEFT, made a rotation by turning one of its axes round."""
    flip = {"x": [-1.0, 1, 1], "z": [1.0, 1, -1]}[axis]
    return M @ LEFT @ np.diag(flip)


@pytest.mark.parametrize("axis", ["x", "z"])
def test_a_mirrored_pose_is_inside_the_mirrored_limits_at_their_very_edge(axis: str) -> None:
    right = mirrored_roll(axis)
    limits = np.radians([[-40.0, 60.0], [-5.0, 10.0], [-8.0, 25.0]])
    found = mirror_limits(limits, LEFT, right)
    for i in range(3):
        for edge in limits[i]:
            euler = np.zeros(3)
            euler[i] = edge
            world = LEFT @ euler_to_matrix(euler) @ LEFT.T
            basis = matrix_to_euler(right.T @ (M @ world @ M) @ right)
            assert (basis >= found[:, 0] - 1e-9).all() and (basis <= found[:, 1] + 1e-9).all()
            on_edge = np.isclose(basis[:, None], found, atol=1e-9).any(1)
            assert (on_edge & ~np.isclose(basis, 0)).any()


def test_bones_that_share_their_axes_flip_the_sideways_sign() -> None:
    # What the followed pipeline got wrong: both bones have the same rest matrix, so outward is +z left, -z right.
    rest = rotvec_to_matrix(np.array([-np.pi / 2, 0.0, 0.0]))
    limits = np.radians([[-45.0, 30.0], [-5.0, 5.0], [-8.0, 20.0]])
    assert np.degrees(mirror_limits(limits, rest, rest)) == pytest.approx(
        np.array([[-45.0, 30.0], [-5.0, 5.0], [-20.0, 8.0]])
    )


def test_both_sides_can_do_what_one_side_was_seen_to_do() -> None:
    rest = np.tile(np.eye(4), (2, 1, 1))
    rest[0, :3, :3], rest[1, :3, :3] = LEFT, mirrored_roll("x")
    limits = np.zeros((2, 3, 2))
    limits[0, 2] = (-0.1, 0.5)
    limits[1, 2] = (-0.9, 0.2)
    shared = share_between_sides(limits, rest, [(0, 1)])
    assert np.allclose(shared[0], mirror_limits(shared[1], rest[1, :3, :3], rest[0, :3, :3]))
    assert np.allclose(shared[0, 2], (-0.2, 0.9))


def test_defaults_bend_about_the_lateral_axis_whatever_the_bone_calls_it() -> None:
    skeleton = bones(quadruped())
    roles = find_roles(skeleton)
    along = skeleton.tips - skeleton.heads
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    leg = skeleton.names.index("front_upper_L")
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):  # local axes of the same bone under three conventions
        rest = np.tile(np.eye(4), (len(skeleton.names), 1, 1))
        y = along[leg]
        x = np.array([1.0, 0, 0]) - y * y[0]
        x /= np.linalg.norm(x)
        rest[leg, :3, :3] = np.stack([x, y, np.cross(x, y)], 1)[:, order]
        widest = np.ptp(default_limits(roles, rest, along)[leg], axis=-1)
        assert int(widest.argmax()) == order.index(0), "the widest range bends the leg forth and back"
        assert int(widest.argmin()) == order.index(1), "the narrowest twists it"


def test_seen_ranges_get_a_margin_and_never_freeze_a_bone() -> None:
    defaults = np.radians(np.tile([[-30.0, 30.0]], (2, 3, 1)))
    low, high = np.radians([[20.0, 0, -179], [0.0, 0, 0]]), np.radians([[60.0, 0, 179], [0.0, 0, 0]])
    limits = np.degrees(seen_limits(low, high, defaults))
    assert limits[0, 0] == pytest.approx([-10.0, 69.0])  # 60 + 5 + a tenth of 40; rest and a third of the default kept
    assert limits[0, 2] == pytest.approx([-170.0, 170.0])
    assert limits[1] == pytest.approx(np.tile([[-10.0, 10.0]], (3, 1)))
