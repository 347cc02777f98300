"""Left and right by all naming conventions."""

from __future__ import annotations

import numpy as np
import pytest

from anymocap_addon.core.checkup.orientation import UPS, turn_matrix, up_matrix
from anymocap_addon.core.checkup.side_names import name_pairs, side_name

LEFT = (
    "Arm.L Arm_L Arm-L Arm.l Arm_l L_Arm l_arm LeftArm ArmLeft left_arm mixamorig1:LeftArm Bip01 L Arm|Arm.L.001|"
    "mixamorig:LeftToe_End|DEF-thigh.L.001|FootL|b_LeftLeg01_015|Rig:l_foot|HandLeft2"
)
NAMES = [*LEFT.split("|")[0].split(" ")[:11], "Bip01 L Arm", *LEFT.split("|")[1:]]


@pytest.mark.parametrize("name", NAMES)
def test_left_and_its_partner(name: str) -> None:
    assert side_name(name).side == 1
    for left, right in (("Left", "Right"), ("left", "right"), ("L", "R"), ("l", "r")):
        partner = name.replace(f"{left}", f"{right}", 1) if left in ("Left", "left") else ""
        if partner and partner != name:
            assert side_name(partner).side == -1
            assert name_pairs((partner, name)) == ((1, 0),)
            return


@pytest.mark.parametrize(
    "name", "Bone.001 joint17 Spine Upright bright_eye Tail Jaw_upper Bone.003_end Ball_lower LLama Root".split()
)
def test_names_without_a_side(name: str) -> None:
    assert side_name(name).side == 0


def test_pairs() -> None:
    names = (
        "Leg.L.001",
        "Leg.R.001",
        "Leg.L.002",
        "Spine",
        "l_ear",
        "r_ear",
        "mixamorig1:RightArm",
        "mixamorig1:LeftArm",
    )
    assert set(name_pairs(names)) == {(0, 1), (4, 5), (7, 6)}


@pytest.mark.parametrize("up", UPS)
def test_the_named_axis_comes_up_by_a_rotation(up: str) -> None:
    axis = np.zeros(3)
    axis["xyz".index(up[-1])] = -1 if up.startswith("-") else 1
    assert up_matrix(up) @ axis == pytest.approx([0, 0, 1])
    assert np.linalg.det(turn_matrix(33.0, up)) == pytest.approx(1.0)
