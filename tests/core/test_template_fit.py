"""Templates are whole, and find their limbs in a mesh that is made of tubes."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.extremities import find_extremities
from anymocap_addon.core.rig import load_rig_spec, save_rig_spec
from anymocap_addon.core.rig_template import SIDES, load_template, sided, template_names
from anymocap_addon.core.template_fit import fit_template
from anymocap_addon.core.voxel_solid import voxel_solid

PLANS = "quadruped biped bird winged_quadruped hexapod octopod snake fish tailed_biped".split()


def tube(start: tuple[float, ...], end: tuple[float, ...], radius: float) -> tuple[np.ndarray, np.ndarray]:
    """A closed prism of eight sides: points, triangles."""
    a, b = np.array(start, float), np.array(end, float)
    way = (b - a) / np.linalg.norm(b - a)
    u = np.cross(way, [1.0, 0.0, 0.0] if abs(way[0]) < 0.9 else [0.0, 1.0, 0.0])
    u /= np.linalg.norm(u)
    turn = np.arange(8) * np.pi / 4
    ring = radius * (np.cos(turn)[:, None] * u + np.sin(turn)[:, None] * np.cross(way, u))
    points = np.concatenate([a + ring, b + ring, [a, b]])
    k, n = np.arange(8), (np.arange(8) + 1) % 8
    sides = [np.stack([k, n, k + 8], 1), np.stack([n, n + 8, k + 8], 1)]
    caps = [np.stack([k, n, np.full(8, 16)], 1), np.stack([k + 8, n + 8, np.full(8, 17)], 1)]
    return points, np.concatenate(sides + caps)


def joined(tubes: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0, *(len(points) for points, _ in tubes)])
    return (
        np.concatenate([points for points, _ in tubes]),
        np.concatenate([triangles + start for (_, triangles), start in zip(tubes, starts)]),
    )


def mirrored(start: tuple[float, ...], end: tuple[float, ...], radius: float) -> list[tuple[np.ndarray, np.ndarray]]:
    flip = np.array([-1.0, 1.0, 1.0])
    return [tube(start, end, radius), tube(tuple(flip * start), tuple(flip * end), radius)]


TRUNK = [
    tube((0, 0.5, 0.6), (0, -0.45, 0.6), 0.13),
    tube((0, -0.4, 0.62), (0, -0.6, 0.9), 0.07),
    tube((0, -0.56, 0.9), (0, -0.8, 0.86), 0.07),
    tube((0, 0.45, 0.62), (0, 0.95, 0.5), 0.035),
]
LEGS = [
    *mirrored((0.12, -0.35, 0.6), (0.12, -0.35, 0.0), 0.05),
    *mirrored((0.12, 0.4, 0.6), (0.12, 0.4, 0.0), 0.05),
]
WINGS = mirrored((0.08, -0.2, 0.66), (0.9, -0.1, 0.8), 0.03)


def test_every_body_plan_of_the_design_has_a_template() -> None:
    assert set(PLANS) <= set(template_names())
    assert template_names()[0] == "quadruped", "the commonest is offered first"
    with pytest.raises(BadInputError, match="no template 'unicorn'"):
        load_template("unicorn")


@pytest.mark.parametrize("name", template_names())
def test_a_template_names_only_what_it_has(name: str, tmp_path: Path) -> None:
    template = load_template(name)
    landmarks = {"tail_tip", "tail_base", "head_base", "head_tip"} | {plan.name for plan in template.limbs}
    joints = {joint.name for joint in template.joints}
    assert {mark for joint in template.joints for mark in (joint.start, joint.end)} <= landmarks
    assert {end for bone in template.bones for end in (bone.head, bone.tail)} <= joints
    stems = {bone.name for bone in template.bones} | {bone for plan in template.limbs for bone in plan.bones}
    assert set(template.limits_deg) <= stems and set(template.testpose) <= stems
    for plan in template.limbs:
        assert len(plan.joints) == len(plan.bones) + 1 == len(plan.at)
        assert plan.parent in {bone.name for bone in template.bones}
        assert plan.at[0] == 0.0 and plan.at[-1] == 1.0 and list(plan.at) == sorted(plan.at)
    points, triangles = joined([*TRUNK, *LEGS, *WINGS])
    save_rig_spec(tmp_path / "rig.json", fit_template(template, points, triangles).spec)
    spec = load_rig_spec(tmp_path / "rig.json")  # refuses unknown parents, two roots, bones without length
    assert spec.bones[0].parent is None


def test_a_quadruped_of_tubes_gets_its_joints_where_its_tubes_are() -> None:
    points, triangles = joined([*TRUNK, *LEGS])
    fit = fit_template(load_template("quadruped"), points, triangles)
    joints = {name: np.array(place) for name, place in fit.spec.joints.items()}
    assert fit.notes == () and fit.doubtful == ()
    for name, foot in (("front_toe", (0.12, -0.35, 0.0)), ("back_toe", (0.12, 0.4, 0.0))):
        assert joints[name + "_L"] == pytest.approx(foot, abs=0.06), name
        assert joints[name + "_R"] == pytest.approx(joints[name + "_L"] * [-1, 1, 1], abs=1e-4)
    for name in ("elbow", "knee"):
        assert abs(joints[name + "_L"][0] - 0.12) < 0.03 and 0.2 < joints[name + "_L"][2] < 0.5
    assert joints["nose"] == pytest.approx((0, -0.8, 0.86), abs=0.08)
    assert joints["tail_end"] == pytest.approx((0, 0.95, 0.5), abs=0.05)
    assert joints["tail_1"][1] == pytest.approx(0.5, abs=0.12), "the tail begins where it leaves the trunk"
    assert abs(joints["hips"][1] - 0.4) < 0.1 and abs(joints["hips"][2] - 0.62) < 0.1


def test_the_limbs_of_a_body_are_its_extremities() -> None:
    points, triangles = joined([*TRUNK, *LEGS, *WINGS])
    tips = [limb.tip for limb in find_extremities(voxel_solid(points, triangles))]
    wanted = [(0.12, -0.35, 0.0), (0.12, 0.4, 0.0), (0.9, -0.1, 0.8)]
    for place in [*wanted, *([-x, y, z] for x, y, z in wanted), (0, 0.95, 0.5)]:
        assert min(np.linalg.norm(tip - np.array(place)) for tip in tips) < 0.08, place


def test_wings_go_to_the_winged_template_and_a_missing_pair_is_placed_and_said() -> None:
    winged = load_template("winged_quadruped")
    fit = fit_template(winged, *joined([*TRUNK, *LEGS, *WINGS]))
    assert fit.spec.joints["wing_tip_L"] == pytest.approx((0.9, -0.1, 0.8), abs=0.06)
    wing = [np.array(fit.spec.joints[f"wing_{part}_L"]) for part in ("root", "elbow", "wrist", "tip")]
    assert all(a[0] < b[0] for a, b in itertools.pairwise(wing)), "from the shoulder outwards"
    without = fit_template(winged, *joined([*TRUNK, *LEGS]))
    assert "No wing was found" in without.notes[0]
    assert {"wing_tip_L", "wing_tip_R"} <= set(without.doubtful)


def test_an_optional_pair_is_left_out_and_nothing_names_it() -> None:
    body = joined([tube((0, 0.7, 0.3), (0, -0.7, 0.3), 0.12)])
    spec = fit_template(load_template("fish"), *body).spec
    assert not any("fin" in bone.name for bone in spec.bones)
    assert all(name in {b.name for b in spec.bones} for name in spec.limits_deg)


def test_gaps_between_loose_pieces_are_bridged() -> None:
    """A robot's shell is of pieces that do not touch; its legs are limbs all the same."""
    apart = [*TRUNK, *mirrored((0.12, 0.4, 0.44), (0.12, 0.4, 0.0), 0.05), *LEGS[:2]]
    spec = fit_template(load_template("quadruped"), *joined(apart)).spec
    assert spec.joints["back_toe_L"] == pytest.approx((0.12, 0.4, 0.0), abs=0.06)


@pytest.mark.parametrize(
    "points, triangles", [(np.zeros((0, 3)), np.zeros((0, 3), int)), (np.zeros((3, 3)), [[0, 1, 2]])]
)
def test_a_mesh_without_surface_is_refused(points: np.ndarray, triangles: np.ndarray) -> None:
    with pytest.raises(BadInputError, match=r"no faces|no extent"):
        voxel_solid(points, np.array(triangles, int))


def test_a_test_pose_by_stem_is_mirrored() -> None:
    pose = sided({"thigh": (10, 20, 30), "head": (1, 2, 3), "lost": (9, 9, 9)}, ["thigh_L", "thigh_R", "head"])
    assert pose == {"thigh_L": (10, 20, 30), "thigh_R": (10, -20, -30), "head": (1, 2, 3)}
    assert SIDES == ("_L", "_R")
