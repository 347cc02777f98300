"""Body parts from hierarchy and rest geometry alone, and what follows from them."""

from __future__ import annotations

import numpy as np
import pytest

from anymocap_addon.core.checkup.side_names import side_stem
from anymocap_addon.core.rest_bones import Bones
from anymocap_addon.core.roles import facing_doubt, find_contacts, find_roles
from anymocap_addon.core.side_pairs import find_pairs

from .skeletons import Spec, biped, bones, both_sides, dragon, leg, quadruped, spider


def parts(skeleton: Bones) -> dict[str, int]:
    """Limb -> number of bones."""
    roles = find_roles(skeleton)
    return {part: len(members) for part, members in roles.limb_bones(skeleton.names).items()}


@pytest.mark.parametrize("rename", [False, True])
def test_a_quadruped_has_four_legs_a_tail_and_ears(rename: bool) -> None:
    skeleton = bones(quadruped(), rename)
    roles = find_roles(skeleton)
    four = {f"{end}_{side}_leg": 2 for end in ("front", "back") for side in ("left", "right")}
    assert parts(skeleton) == {**four, "tail": 2}
    by_name = dict(zip(quadruped(), zip(roles.role, roles.part)))
    assert by_name["hips"] == ("root", "spine") and by_name["spine"] == ("spine", "spine")
    assert by_name["neck"] == ("neck", "head") and by_name["skull"] == ("head", "head")
    assert by_name["ear_L"] == ("ear", "left_ear") and by_name["ear_R"] == ("ear", "right_ear")


def test_a_biped_has_arms_even_when_they_are_spread() -> None:
    assert parts(bones(biped(), rename=True)) == {"left_arm": 2, "right_arm": 2, "left_leg": 2, "right_leg": 2}


def test_a_dragon_has_wings_beside_its_legs() -> None:
    found = parts(bones(dragon(), rename=True, flat=("wing",)))
    assert found["left_wing"] == found["right_wing"] == 2
    assert len([part for part in found if part.endswith("leg")]) == 4


def test_eight_legs_are_told_from_front_to_back() -> None:
    skeleton = bones(spider(), rename=True)
    roles = find_roles(skeleton)
    order = [roles.part[list(spider()).index(f"leg{i}a_L")] for i in range(4)]
    assert order == ["front_left_leg", "mid_front_left_leg", "mid_back_left_leg", "back_left_leg"]
    assert roles.part[list(spider()).index("leg3a_R")] == "back_right_leg"
    assert roles.role[list(spider()).index("abdomen")] == "tail"


def test_small_forelimbs_in_the_air_are_arms_whatever_they_are_called() -> None:
    arms: Spec = {"front_leg": ("spine", (0.1, -0.25, 0.8), (0.12, -0.35, 0.6))}
    spec = {k: v for k, v in quadruped().items() if not k.startswith("front")} | both_sides(arms)
    skeleton = bones(spec)
    roles = find_roles(skeleton)
    assert roles.part[skeleton.names.index("front_leg_L")] == "left_arm"


def test_the_hind_legs_of_a_sitting_creature_lie_on_the_ground_and_are_legs() -> None:
    folded: Spec = {
        "hind_thigh": ("hips", (0.1, 0.4, 0.1), (0.2, 0.3, 0.06)),
        "hind_foot": ("hind_thigh", (0.2, 0.3, 0.06), (0.25, 0.2, 0.04)),
    }
    spec = {k: v for k, v in quadruped().items() if not k.startswith("back")} | both_sides(folded)
    spec["hips"] = (None, (0, 0.4, 0.12), (0, 0.1, 0.85))
    skeleton = bones(spec)
    assert find_roles(skeleton).part[skeleton.names.index("hind_foot_L")] == "back_left_leg"


def test_ears_on_the_neck_do_not_make_it_spine() -> None:
    spec = quadruped()
    for side, x in (("L", 1.0), ("R", -1.0)):
        spec[f"ear_{side}"] = ("neck", (0.08 * x, -0.5, 1.2), (0.12 * x, -0.5, 1.35))
    skeleton = bones(spec)
    roles = find_roles(skeleton)
    assert roles.role[skeleton.names.index("neck")] == "neck" and roles.part[-1] == "right_ear"


def test_contacts_are_soles_and_only_of_limbs_that_stand() -> None:
    joints = np.array([[0.1, 0, 0.02], [0.1, -0.1, 0.0], [0.1, 0, 0.4], [0.3, 0, 0.6], [0, 0.8, 0.0]])
    roles = ["leg", "leg", "leg", "leg", "tail"]
    part = ["left_leg", "left_leg", "left_leg", "hanging_leg", "tail"]
    assert find_contacts(joints, roles, part, height=1.0) == (0, 1)


def test_pairs_follow_place_and_names_decide_between_neighbours() -> None:
    # Shoulders and upper arms lie so near that by place alone UpperArm.L would pair with Shoulder.R.
    names = ("Shoulder.L", "UpperArm.L", "Shoulder.R", "UpperArm.R", "Head")
    points = np.array([[0.22, 0, 1], [0.255, 0, 1], [-0.24, 0, 1], [-0.28, 0, 1], [0, 0, 1.5]])
    assert find_pairs(points, 1.8, names).tolist() == [[0, 2], [1, 3]]
    assert find_pairs(points[:4] * [1, 1, 1] + [[0, 0, 0], [0, 0, 0], [0, 0.5, 0], [0, 0.5, 0]], 1.8).tolist() == []


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("thigh_L", "thigh"),
        ("thigh.R", "thigh"),
        ("Left_thigh", "thigh"),
        ("mixamorig:LeftThigh", "mixamorig:Thigh"),
        ("b_LeftLeg01_015", "b_Leg01_015"),
        ("leg-left", "leg"),
        ("FrontFoot2.R", "FrontFoot2"),
        ("arm_left_upper", "arm_upper"),
        ("Bip01 L Arm", "Bip01 Arm"),
        ("DEF-thigh.L.001", "DEF-thigh.001"),
        ("FootL", "Foot"),
        ("upright", "upright"),
        ("LowerArm", "LowerArm"),
        ("Rib", "Rib"),
    ],
)
def test_stems(name: str, stem: str) -> None:
    assert side_stem(name) == stem


def test_doubts_about_the_facing() -> None:
    spec = {**quadruped()}
    spec["head"] = spec.pop("skull")
    spec = {n: ("head" if p == "skull" else p, h, t) for n, (p, h, t) in spec.items() if not n.startswith("ear")}
    assert facing_doubt(bones(spec)) == ""
    sideways = {n: (p, (h[1], h[0], h[2]), (t[1], t[0], t[2])) for n, (p, h, t) in spec.items()}
    assert "sideways" in facing_doubt(bones(sideways))
    backwards = {n: (p, (-h[0], -h[1], h[2]), (-t[0], -t[1], t[2])) for n, (p, h, t) in spec.items()}
    assert "backwards" in facing_doubt(bones(backwards))


def test_one_bone_is_a_root() -> None:
    roles = find_roles(bones({"only": (None, (0, 0, 0.5), (0, -0.5, 0.5))}))
    assert roles.role == ("root",) and roles.limb_bones(("only",)) == {}


def test_a_leg_that_forks_stays_one_leg() -> None:
    toes: Spec = {"toe": ("front_lower_L", (0.15, -0.25, 0.02), (0.2, -0.35, 0.0))}
    spec = {**quadruped(), **toes, **leg("prop", "tail2", 0.0, 0.9)}
    skeleton = bones(spec)
    roles = find_roles(skeleton)
    assert roles.part[skeleton.names.index("toe")] == "front_left_leg"
    assert roles.rank[skeleton.names.index("toe")] == 2
