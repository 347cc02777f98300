"""How much room a move needs around the creature: what the frame must hold so that no limb leaves the picture."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from .errors import BadInputError
from .kinematics import Skeleton, rotvec_to_matrix
from .layout import Layout
from .rig import RigInfo

Array = NDArray[np.float64]

STAND_SHARE = 0.05  # of the largest extent: room all round for a creature that stays
WALK_SHARE = 0.12  # ... and for steps on the spot
JUMP_SHARE = 0.6  # of the hips' height: how far a creature leaps up
REAR_DEG = 60.0  # how far a creature rears about its hind feet
GROWTH = 1.35  # times the scale: an own Action that asks for more would show the creature small in every other clip
SAMPLES = 256  # random poses within the limits; what they reach is what the limbs may reach
EDGE_PX = 3.0
ROOMS = ("stand", "walk", "jump", "rear", "spread")
_MOVE_WORDS = {
    "jump": ("jump", "leap", "hop", "pounce"),
    "rear": ("rear", "rearing"),
    "spread": ("spread", "fly", "flying", "flap", "flight", "glide", "soar"),
}


def room_of_move(move: str) -> str:
    """The room that the name of a move asks for: jump, rear, spread, else walk."""
    words = set(re.findall(r"[a-z]+", move.lower()))
    return next((room for room, known in _MOVE_WORDS.items() if words & set(known)), "walk")


def default_room(rig: RigInfo) -> str:
    """spread for creatures with wings, which fold and open in most of what they do, else walk."""
    return "spread" if any(part.endswith("wing") or "_wing_" in part for part in rig.bone_parts) else "walk"


def room(rig: RigInfo, low: Array, high: Array, kind: str, reach_m: float = 0.0) -> tuple[Array, Array]:
    """Corners (3,) of what the frame must hold, metres; the ground stays where it is.

    Args:
        low, high: corners of the creature's mesh at rest and in its start pose.
        kind: one of ROOMS.
        reach_m: room all round in metres, in place of the kind's own share; 0 = that share.

    Raises:
        BadInputError: an unknown kind.
    """
    if kind not in ROOMS:
        raise BadInputError(f"{kind!r} is no room.", key="room", hint=f"Choose one of {', '.join(ROOMS)}.")
    joints = rig.rest_joints()
    skin = _skin(joints, low, high)
    points = {"jump": _jumped, "rear": _reared, "spread": _spread}.get(kind, lambda _: joints)(rig)
    ground = min(float(low[2]), 0.0)
    low = np.minimum(low, points.min(0) - skin)
    high = np.maximum(high, points.max(0) + skin)
    share = STAND_SHARE if kind == "stand" else WALK_SHARE
    around = reach_m or share * float((high - low).max())
    low, high = low - around, high + around
    low[2] = ground
    return low, high


def with_own_motions(
    rig: RigInfo, low: Array, high: Array, need: tuple[Array, Array], moved: Mapping[str, Array]
) -> tuple[tuple[Array, Array], tuple[str, ...]]:
    """`need` grown by the creature's own motions, and the names of those that go too far for one frame.

    Args:
        low, high: corners of the creature's mesh at rest and in its start pose.
        need: corners of the room found so far.
        moved: name -> (N, 3) where its joints come in that motion, metres.
    """
    skin = _skin(rig.rest_joints(), low, high)
    largest = GROWTH * Layout.framing(*need).m_per_px
    left_out = []
    for name, joints in sorted(moved.items()):
        grown = np.minimum(need[0], joints.min(0) - skin), np.maximum(need[1], joints.max(0) + skin)
        grown[0][2] = need[0][2]
        if Layout.framing(*grown).m_per_px > largest:
            left_out.append(name)
        else:
            need = grown
    return need, tuple(left_out)


def _skin(joints: Array, low: Array, high: Array) -> Array:
    """(3,) what lies beyond the joints (a snout, a coat, a foot's sole) and moves with them, metres."""
    beyond: Array = np.maximum(np.maximum(joints.min(0) - low, high - joints.max(0)), 0.0)
    return beyond


def holds(layout: Layout, low: Array, high: Array) -> bool:
    """Whether both views hold the box (3,) to (3,), metres, without touching an edge."""
    return not outside(layout, low, high)


def outside(layout: Layout, low: Array, high: Array) -> dict[str, float]:
    """Edge of the picture -> px by which the box goes beyond it or too near to it; empty where the frame holds it."""
    front, side = layout.project(np.array([low, high]))
    beyond = {
        "left of the front view": -front[:, 0].min(),
        "right of the front view": front[:, 0].max() - layout.w_front,
        "left of the side view": layout.w_front - side[:, 0].min(),
        "right of the side view": side[:, 0].max() - layout.width,
        "top": -front[:, 1].min(),
        "bottom": front[:, 1].max() - layout.height,
    }
    return {edge: float(px) for edge, px in beyond.items() if px > -EDGE_PX}


def _jumped(rig: RigInfo) -> Array:
    """(2 J, 3) joints at rest and in the air."""
    joints = rig.rest_joints()
    hips = float(rig.rest[0, 2, 3] - joints[:, 2].min())
    return np.concatenate([joints, joints + np.array([0.0, 0.0, JUMP_SHARE * hips])])


def _reared(rig: RigInfo) -> Array:
    """(2 J, 3) joints at rest and turned up about the hindmost foot."""
    joints = rig.rest_joints()
    feet = joints[list(rig.contacts)] if rig.contacts else joints[joints[:, 2].argmin()][None]
    pivot = feet[feet[:, 1].argmax()]
    turn = rotvec_to_matrix(np.array([-np.radians(REAR_DEG), 0.0, 0.0]))
    return np.concatenate([joints, pivot + (joints - pivot) @ turn.T])


def _spread(rig: RigInfo) -> Array:
    """((1 + SAMPLES) J, 3) joints at rest and with wings, arms and tail anywhere within their limits."""
    moving = np.array([role in ("wing", "arm", "tail") for role in rig.bone_roles] or [False] * rig.B)
    random = np.random.default_rng(0)
    share = random.uniform(0.0, 1.0, (SAMPLES, rig.B, 3)) * moving[:, None]
    low, high = rig.limits_rad[..., 0], rig.limits_rad[..., 1]
    euler = np.where(moving[:, None], low + share * (high - low), 0.0)
    place = np.repeat(rig.rest[:1], SAMPLES, 0)
    posed = Skeleton.of(rig).forward(place[:, :3, 3], place[:, :3, :3], euler).joints
    return np.concatenate([rig.rest_joints(), posed.reshape(-1, 3)])
