"""Limits: mirrored by the rest matrices, default ranges on the right axes, ranges from Actions."""

from __future__ import annotations

import numpy as np
import pytest

from anymocap_addon.core.kinematics import euler_to_matrix, matrix_to_euler, rotvec_to_matrix
from anymocap_addon.core.limits import default_limits, mirror_limits, seen_limits, share_between_sides
from anymocap_addon.core.rest_bones import Bones
from anymocap_addon.core.roles import Roles, find_roles

from .skeletons import Spec, biped, bones, both_sides, dragon, quadruped

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


def directions(skeleton: Bones) -> np.ndarray:
    along = skeleton.tips - skeleton.heads
    return along / np.linalg.norm(along, axis=1, keepdims=True)


def rest_by(convention: str, along: np.ndarray, heads: np.ndarray) -> np.ndarray:
    """(B, 4, 4) rest matrices of bones .L and .R as files have them: `mirror` (Blender's own), `share` (both sides turn
    the same way: Y along the left bone, against the right), `twist` (each rolled about itself by another angle)."""
    rest = np.tile(np.eye(4), (len(along), 1, 1))
    rest[:, :3, 3] = heads
    for b, y in enumerate(along):
        right = heads[b, 0] < -1e-6
        if convention == "share" and right:
            y = -y  # glTF from some tools: the right side is the left one turned about
        x = np.cross(y, [0.0, 0.0, 1.0] if abs(y[2]) < 0.9 else [0.0, 1.0, 0.0])
        x /= np.linalg.norm(x)
        basis = np.stack([x, y, np.cross(x, y)], 1)
        if convention == "twist":
            basis = basis @ rotvec_to_matrix(np.array([0.0, np.pi / 2 * (1 + b % 3), 0.0]))
        rest[b, :3, :3] = basis
    return rest


@pytest.mark.parametrize("convention", ["mirror", "share", "twist"])
@pytest.mark.parametrize("spec", [quadruped, biped, dragon])
def test_default_limits_of_both_sides_hold_mirrored_poses(convention: str, spec: object) -> None:
    skeleton = bones(spec(), flat=("wing",))
    along, roles = directions(skeleton), find_roles(skeleton)
    rest = rest_by(convention, along, skeleton.heads)
    limits = default_limits(roles, rest, along)
    pairs = [(skeleton.names.index(n), skeleton.names.index(f"{n[:-2]}_R")) for n in skeleton.names if n.endswith("_L")]
    assert len(pairs) >= 4
    for left, right in pairs:
        mirrored = mirror_limits(limits[left], rest[left, :3, :3], rest[right, :3, :3])
        np.testing.assert_allclose(limits[right], mirrored, atol=1e-9, err_msg=skeleton.names[left])


JAW: Spec = {**quadruped(), "jaw": ("skull", (0, -0.55, 1.0), (0, -0.75, 0.95))}


@pytest.mark.parametrize("convention", ["mirror", "twist"])
def test_a_jaw_opens_down_and_hardly_shuts_further(convention: str) -> None:
    skeleton = bones(JAW)
    along, roles = directions(skeleton), find_roles(skeleton)
    jaw = skeleton.names.index("jaw")
    assert roles.role[jaw] == "jaw"
    rest = rest_by(convention, along, skeleton.heads)
    drops = tip_drops(default_limits(roles, rest, along)[jaw], rest[jaw, :3, :3], along[jaw])
    assert max(drops) > 0.5 and min(drops) > -0.1


def tip_drops(limits: np.ndarray, rest: np.ndarray, along: np.ndarray) -> list[float]:
    """How far the tip of a bone of length 1 goes down at either end of its widest range."""
    axis = int(np.ptp(limits, axis=-1).argmax())
    drops = []
    for end in limits[axis]:
        euler = np.zeros(3)
        euler[axis] = end
        drops.append(float(along[2] - (rest @ euler_to_matrix(euler) @ rest.T @ along)[2]))
    return drops


def folded_wing(bend_deg: float) -> Spec:
    """A wing whose elbow is bent in its plane, its wrist the other way."""
    spec: Spec = {}
    at, turn, parent = np.array([0.1, -0.1, 0.95]), -bend_deg / 2, "spine"
    for i, more in enumerate((0.0, bend_deg, -bend_deg)):
        turn += more
        way = np.array([np.cos(np.radians(turn)), -np.sin(np.radians(turn)), 0.05]) * 0.5
        spec[f"wing{i}"] = (parent, tuple(at), tuple(at + way))
        at, parent = at + way, f"wing{i}"
    return {**quadruped(), **both_sides(spec)}


@pytest.mark.parametrize("convention", ["mirror", "share", "twist"])
@pytest.mark.parametrize("side", ["L", "R"])
def test_a_wing_folds_at_elbow_and_wrist_about_the_axis_that_stands_on_it(convention: str, side: str) -> None:
    skeleton = bones(folded_wing(40.0), flat=("wing",))
    along, roles = directions(skeleton), find_roles(skeleton)
    rest = rest_by(convention, along, skeleton.heads)
    limits = default_limits(roles, rest, along)
    for joint in ("wing1", "wing2"):
        b = skeleton.names.index(f"{joint}_{side}")
        assert roles.part[b] == ("left_wing" if side == "L" else "right_wing")
        axis = int(np.ptp(limits[b], axis=-1).argmax())
        assert abs(rest[b, 2, axis]) > 0.9, "the fold is about the wing's normal"
        before = along[skeleton.names.index(f"wing{int(joint[-1]) - 1}_{side}")]
        angles = []
        for end in limits[b, axis]:
            euler = np.zeros(3)
            euler[axis] = end
            turned = rest[b, :3, :3] @ euler_to_matrix(euler) @ rest[b, :3, :3].T @ along[b]
            angles.append(np.degrees(np.arccos(turned @ before)))
        assert max(angles) > 140, "closed, the bone lies along the one before it"
        assert min(angles) < 20, "and it opens to straight"


def test_a_straight_wing_folds_either_way_and_fins_do_not() -> None:
    skeleton = bones(dragon(), flat=("wing",))
    along, roles = directions(skeleton), find_roles(skeleton)
    rest = rest_by("mirror", along, skeleton.heads)
    elbow = skeleton.names.index("wing2_L")
    assert np.ptp(np.degrees(default_limits(roles, rest, along)[elbow]), axis=-1).max() == pytest.approx(200.0)
    fins = tuple(part.replace("wing", "fin") for part in roles.part)
    stiff = default_limits(Roles(roles.role, fins, roles.rank, roles.side), rest, along)[elbow]
    assert np.ptp(np.degrees(stiff), axis=-1).max() < 90.0
