"""The room that a move needs, and whether a frame holds it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.rig import RigInfo
from anymocap_addon.core.room import ROOMS, default_room, holds, outside, room, room_of_move, with_own_motions


def box(rig: RigInfo) -> tuple[np.ndarray, np.ndarray]:
    joints = rig.rest_joints()
    return np.array([*joints.min(0)[:2] - 0.05, 0.0]), joints.max(0) + 0.05


@pytest.mark.parametrize("kind", ROOMS)
def test_the_frame_made_for_a_room_holds_it_and_the_creature(small_rig: RigInfo, kind: str) -> None:
    low, high = box(small_rig)
    need = room(small_rig, low, high, kind)
    layout = Layout.framing(*need)
    assert holds(layout, *need) and holds(layout, low, high)
    assert (need[0] <= low).all() and (need[1] >= high).all() and need[0][2] == 0.0


def test_a_jump_needs_height_that_a_stand_lacks(small_rig: RigInfo) -> None:
    low, high = box(small_rig)
    tight = Layout.framing(*room(small_rig, low, high, "stand"))
    jump = room(small_rig, low, high, "jump")
    assert jump[1][2] > room(small_rig, low, high, "walk")[1][2]
    layout = replace(tight, ground_v=tight.ground_v - 240)
    assert "top" in outside(layout, *jump) and not holds(layout, *jump)


def test_rearing_lifts_the_front_end(small_rig: RigInfo) -> None:
    low, high = box(small_rig)
    joints = small_rig.rest_joints()
    pivot = joints[list(small_rig.contacts)][:, 1].max()
    front = float(np.linalg.norm(joints - [0, pivot, 0], axis=1).max())
    top = room(small_rig, low, high, "rear")[1][2]
    assert high[2] < top <= max(front, high[2]) * 2


def test_spread_wings_reach_as_far_as_their_limits(small_rig: RigInfo) -> None:
    low, high = box(small_rig)
    leg = small_rig.index("leg_L")
    roles = tuple("wing" if b == leg else "spine" for b in range(small_rig.B))
    limits = small_rig.limits_rad.copy()
    limits[leg] = np.radians([[-170, 170]] * 3)
    winged = replace(small_rig, bone_roles=roles, bone_parts=tuple("left_wing" for _ in roles), limits_rad=limits)
    folded = replace(winged, limits_rad=np.zeros_like(limits))
    wide, narrow = (room(rig, low, high, "spread") for rig in (winged, folded))
    assert (wide[1] - wide[0] > narrow[1] - narrow[0] + 0.05).any()
    assert default_room(winged) == "spread" and default_room(small_rig) == "walk"


def test_metres_outdo_the_kinds_share(small_rig: RigInfo) -> None:
    low, high = box(small_rig)
    need = room(small_rig, low, high, "stand", reach_m=0.5)
    np.testing.assert_allclose(need[1], high + 0.5)


@pytest.mark.parametrize(
    ("move", "kind"),
    [("walk", "walk"), ("High Jump 2", "jump"), ("rear_up", "rear"), ("fly", "spread"), ("rearrange", "walk")],
)
def test_names_of_moves_ask_for_room(move: str, kind: str) -> None:
    assert room_of_move(move) == kind


def test_an_unknown_room_is_told(small_rig: RigInfo) -> None:
    with pytest.raises(BadInputError, match="swim"):
        room(small_rig, *box(small_rig), "swim")


def test_own_motions_grow_the_room_up_to_a_scale(small_rig: RigInfo) -> None:
    low, high = box(small_rig)
    need = room(small_rig, low, high, "stand")
    joints = small_rig.rest_joints()
    ways = {"hop": (0, 0, 0.2), "lean": (0.1, 0, 0), "run off": (0, -9.0, 0)}
    moved = {name: joints + np.array(way) for name, way in ways.items()}
    grown, left_out = with_own_motions(small_rig, low, high, need, moved)
    assert left_out == ("run off",)
    layout = Layout.framing(*grown)
    for name in ("hop", "lean"):
        assert holds(layout, moved[name].min(0), moved[name].max(0))
    assert grown[1][2] == pytest.approx(max(need[1][2], high[2] + 0.2)) and grown[0][2] == need[0][2]
    same, none = with_own_motions(small_rig, low, high, need, {})
    assert none == () and np.array_equal(same, need)
