"""Whether the frame that a clip starts from has room for the creature and its move: asked before anything is paid."""

from __future__ import annotations

import numpy as np

from ..creature import load_creature
from ..errors import BadInputError
from ..kinematics import Skeleton
from ..project import CreaturePaths
from ..rig import RigInfo, load_rig_info
from ..room import Array, outside, room, room_of_move

_HARDLY = 1e-6  # metres: the move's own reach, without room to spare


def check_frame(paths: CreaturePaths, move: str) -> None:
    """Hold the layout to the creature in its start pose and to the room that the move's name asks for.

    A creature without a rig or a layout is not known well enough to be refused: its picture came from elsewhere.

    Raises:
        BadInputError: a limb would leave the picture; says at which edge, and how it is framed anew.
    """
    if not paths.rig_info.exists() or not paths.creature_json.exists():
        return
    creature = load_creature(paths.creature_json)
    if creature.layout is None:
        return
    rig = load_rig_info(paths.rig_info)
    joints = np.concatenate([rig.rest_joints(), _start_joints(rig, creature.start_pose)])
    low, high = joints.min(0), joints.max(0)
    kind = room_of_move(move)
    need = (low, high) if kind == "walk" else room(rig, low, high, kind, _HARDLY)
    edges = outside(creature.layout, *need)
    if not edges:
        return
    where = max(edges, key=lambda edge: edges[edge])
    what = "The creature" if kind == "walk" else f"The move {move!r} needs room to {kind}: it"
    raise BadInputError(
        f"{what} would leave the picture at the {where} ({max(edges[where], 1.0):.0f} px). Nothing was paid.",
        file=paths.creature_json,
        key="layout",
        hint=f"Frame it anew with room for it (ref --room {kind}), then draw and train again; or, if the move does not "
        "go so far, give it another name.",
    )


def _start_joints(rig: RigInfo, start_pose: dict[str, tuple[float, float, float]]) -> Array:
    """(J, 3) keypoints in the start pose, metres; bones that the rig lacks were refused when the frame was drawn."""
    euler = np.zeros((1, rig.B, 3))
    for bone, angles in start_pose.items():
        euler[0, rig.index(bone)] = np.radians(angles)
    place = rig.rest[:1]
    joints: Array = Skeleton.of(rig).forward(place[:, :3, 3], place[:, :3, :3], euler).joints[0]
    return joints
