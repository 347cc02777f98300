"""From a body's path and four feet's paths to bone orientations of the lynx: analytic leg IK. Plain numpy.

Turns are about world axes: pitch about +X, roll about +Y, yaw about +Z, in degrees, as turn @ rest orientation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.errors import AnyMoCapError
from ..core.kinematics import euler_to_matrix
from .builtin_anatomy import bones, mirrored

Array = NDArray[np.float64]

FRONT = ("shoulder_L", "upper_arm_L", "forearm_L", "hand_L")
HIND = ("thigh_L", "shin_L", "hock_L", "foot_L")
FEET = ("hand_L", "hand_R", "foot_L", "foot_R")


@dataclass(frozen=True)
class BodyPath:
    """Turns (T, 3) pitch, roll, yaw in degrees by bone of the trunk, neck, head and tail; the hips' shift (T, 3) from
    rest."""

    turns_deg: dict[str, Array]
    shift: Array


@dataclass(frozen=True)
class FootPath:
    """Toe tip (T, 3) in metres, heel lift (T,) in degrees, lean (T,) degrees of the hock or of the shoulder blade."""

    toe: Array
    heel_deg: Array
    lean_deg: Array


@dataclass(frozen=True)
class Motion:
    """World turns (T, 3, 3) by bone, relative to rest, and the hips' head (T, 3)."""

    turns: dict[str, Array]
    hips: Array


def turn(deg: Array) -> Array:
    """(T, 3) pitch, roll, yaw degrees -> (T, 3, 3)."""
    return np.asarray(euler_to_matrix(np.radians(deg)))


def pitch(deg: Array) -> Array:
    """(T,) degrees about +X -> (T, 3, 3)."""
    return turn(np.stack([deg, 0 * deg, 0 * deg], -1))


def solve(body: BodyPath, feet: dict[str, FootPath]) -> Motion:
    """All bones' turns: the body as given, the legs so that each toe tip lies where its path says.

    Raises:
        AnyMoCapError: a foot lies out of its leg's reach (a fault of the gait's constants).
    """
    rest = {name: (parent, np.array(head), np.array(tail)) for name, (parent, head, tail) in bones().items()}
    turns = {name: turn(deg) for name, deg in body.turns_deg.items()}
    heads = {"hips": rest["hips"][1] + body.shift}
    for name, (parent, head, _) in rest.items():
        if name in turns and parent is not None:
            heads[name] = _carried(turns[parent], heads[parent], rest[parent][1], head)
    for side in ("L", "R"):
        for chain in (FRONT, HIND):
            names = chain if side == "L" else tuple(mirrored(n) for n in chain)
            _leg(names, rest, turns, heads, feet[names[3]])
    return Motion(turns, heads["hips"])


def _carried(parent_turn: Array, parent_head: Array, parent_rest: Array, point: Array) -> Array:
    """Where a rest point goes that rides on its parent, (T, 3)."""
    return np.asarray(parent_head + parent_turn @ (point - parent_rest))


def _leg(names: tuple[str, ...], rest: dict, turns: dict[str, Array], heads: dict[str, Array], foot: FootPath) -> None:
    """Fill in the turns of one leg's four bones."""
    toe_rest, paw_rest = rest[names[3]][2], rest[names[3]][1]
    turns[names[3]] = pitch(foot.heel_deg)
    paw = foot.toe + turns[names[3]] @ (paw_rest - toe_rest)
    parent = rest[names[0]][0]
    top = _carried(turns[parent], heads[parent], rest[parent][1], rest[names[0]][1])
    if "shoulder" in names[0]:
        turns[names[0]] = turns[parent] @ pitch(foot.lean_deg)
        start = top + turns[names[0]] @ (rest[names[0]][2] - rest[names[0]][1])
        _two_bones(names[1], names[2], rest, turns, turns[names[0]], start, paw, np.array([0.0, 1.0, 0.1]))
    else:
        turns[names[2]] = pitch(foot.lean_deg)
        hock = paw + turns[names[2]] @ (rest[names[2]][1] - paw_rest)
        _two_bones(names[0], names[1], rest, turns, turns[parent], top, hock, np.array([0.0, -1.0, 0.0]))


def _two_bones(
    upper: str, lower: str, rest: dict, turns: dict[str, Array], carried: Array, start: Array, end: Array, pole: Array
) -> None:
    """Law of cosines in the plane of start, end and pole; each bone turns by the least from where its parent carries
    it."""
    a = float(np.linalg.norm(rest[upper][2] - rest[upper][1]))
    b = float(np.linalg.norm(rest[lower][2] - rest[lower][1]))
    line = end - start
    distance = np.linalg.norm(line, axis=1)
    if distance.max() > 0.999 * (a + b):
        raise AnyMoCapError(f"{upper} and {lower} reach {a + b:.3f} m, the gait asks for {distance.max():.3f} m.")
    ahead = line / distance[:, None]
    out = pole - ahead * (ahead @ pole)[:, None]
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    along = (a * a + distance**2 - b * b) / (2 * distance)
    middle = start + ahead * along[:, None] + out * np.sqrt(a * a - along**2)[:, None]
    turns[upper] = _least_turn(carried @ (rest[upper][2] - rest[upper][1]), middle - start) @ carried
    turns[lower] = _least_turn(turns[upper] @ (rest[lower][2] - rest[lower][1]), end - middle) @ turns[upper]


def _least_turn(before: Array, after: Array) -> Array:
    """The smallest rotations (T, 3, 3) that bring directions `before` to `after`, (T, 3) each."""
    u = before / np.linalg.norm(before, axis=1, keepdims=True)
    v = after / np.linalg.norm(after, axis=1, keepdims=True)
    cross, cosine = np.cross(u, v), np.sum(u * v, axis=1)
    skew = np.zeros((len(u), 3, 3))
    skew[:, 0, 1], skew[:, 0, 2] = -cross[:, 2], cross[:, 1]
    skew[:, 1, 0], skew[:, 1, 2] = cross[:, 2], -cross[:, 0]
    skew[:, 2, 0], skew[:, 2, 1] = -cross[:, 1], cross[:, 0]
    return np.eye(3) + skew + skew @ skew / (1 + cosine)[:, None, None]
