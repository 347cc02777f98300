"""Turning what an artist brought so that it stands upright and faces -Y: the matrix, and a guess with its reason."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .facts import BoneFacts, CreatureFacts
from .side_names import name_pairs

Array = NDArray[np.float64]

UPS = ("z", "-z", "y", "-y", "x", "-x")  # axes of the file that may point up
_CLEAR = 0.75  # cosine to an axis from which a direction counts as along it
_STEP_DEG = 90.0
_SNAP_DEG = 30.0
_FOOT = {"foot", "feet", "paw", "hoof", "toe", "toes", "ankle", "ball", "heel"}
_FRONT = {"head", "skull", "jaw", "snout", "nose", "beak", "mouth", "muzzle"}
_BACK = {"tail", "tails"}
_TIPS = {"toe", "toes", "ball"}
_SYMMETRIC = 0.6  # of the other axis' mismatch: less than this tells which plane mirrors the creature


@dataclass(frozen=True)
class Orientation:
    """A guess.

    Attributes:
        turn_deg: turn about Z, after `up` points up, that makes it face -Y.
        up: axis of the file that points up.
        reason: what speaks for it, a part of a sentence; empty where nothing does.
        sure: bones' names speak for it, and not the shape alone.
    """

    turn_deg: float
    up: str
    reason: str
    sure: bool


def up_matrix(up: str) -> Array:
    """(3, 3) rotation that brings the axis `up` of the file to +Z by the shortest way.

    Raises:
        KeyError: it is not one of UPS.
    """
    quarter = {"z": ("x", 0), "-z": ("x", 2), "y": ("x", 1), "-y": ("x", -1), "x": ("y", -1), "-x": ("y", 1)}
    about, quarters = quarter[up]
    c, s = [(1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)][quarters % 4]
    if about == "x":
        return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def turn_matrix(turn_deg: float, up: str = "z") -> Array:
    """(3, 3) rotation from the file's axes to prep's, before scale: upright, then turned about Z."""
    angle = math.radians(turn_deg)
    c, s = math.cos(angle), math.sin(angle)
    return np.asarray(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ up_matrix(up))


def guess_orientation(facts: CreatureFacts) -> Orientation:
    """Which way the creature stands and faces, from the names of its bones, else from its shape."""
    bones = facts.main.bones if facts.main is not None else ()
    up, up_reason = _up(bones)
    upright = up_matrix(up)
    left = _left(bones)
    for way, reason in ((_from_sides(left, upright), "left and right bones"), *_ends(bones, upright)):
        if way is not None:
            return Orientation(_turn_of(way), up, " and ".join(filter(None, (reason, up_reason))), True)
    return _from_shape(facts, up, up_reason)


def _words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def _named(bones: tuple[BoneFacts, ...], words: set[str]) -> Array:
    """(n, 3) heads of the bones whose names hold one of the words."""
    return np.array([bone.head for bone in bones if _words(bone.name) & words], float).reshape(-1, 3)


def _unit(vector: Array) -> Array | None:
    length = float(np.linalg.norm(vector))
    return vector / length if length > 1e-12 else None


def _up(bones: tuple[BoneFacts, ...]) -> tuple[str, str]:
    """The axis that leads from the feet to the rest of the body, where feet are named."""
    feet = _named(bones, _FOOT)
    body = np.array([b.head for b in bones if b.weight > 0 and not _words(b.name) & _FOOT], float).reshape(-1, 3)
    if not len(feet) or not len(body):
        return "z", ""
    axis = _axis_of(_unit(body.mean(0) - feet.mean(0)))
    return (axis, "the place of the feet") if axis else ("z", "")


def _axis_of(way: Array | None) -> str:
    """The axis that a direction is clearly along, else empty."""
    if way is None:
        return ""
    index = int(np.abs(way).argmax())
    return ("" if way[index] > 0 else "-") + "xyz"[index] if abs(way[index]) > _CLEAR else ""


def _left(bones: tuple[BoneFacts, ...]) -> Array | None:
    """Unit vector from the right to the left bones of pairs, where most pairs agree."""
    pairs = name_pairs(tuple(bone.name for bone in bones))
    ways = np.array([np.subtract(bones[a].head, bones[b].head) for a, b in pairs], float).reshape(-1, 3)
    ways = ways[np.linalg.norm(ways, axis=1) > 1e-9]
    if not len(ways):
        return None
    return _unit((ways / np.linalg.norm(ways, axis=1, keepdims=True)).mean(0))


def _from_sides(left: Array | None, upright: Array) -> Array | None:
    """(2,) forward, level, from the left side."""
    if left is None:
        return None
    level = upright @ left
    return np.array([level[1], -level[0]]) if np.hypot(level[0], level[1]) > _CLEAR else None


def _ends(bones: tuple[BoneFacts, ...], upright: Array) -> list[tuple[Array | None, str]]:
    """Forward from head and tail, and from the toes."""
    front, back, feet = _named(bones, _FRONT), _named(bones, _BACK), _named(bones, _FOOT - _TIPS)
    body = np.array([b.head for b in bones], float).reshape(-1, 3)
    found: list[tuple[Array | None, str]] = []
    if len(front):
        found.append((_level(front.mean(0) - (back if len(back) else body).mean(0), upright), "the bones of the head"))
    elif len(back):
        found.append((_level(body.mean(0) - back.mean(0), upright), "the bones of the tail"))
    tips = _named(bones, _TIPS)
    if len(tips) and len(feet):
        found.append((_level(tips.mean(0) - feet.mean(0), upright), "the toes"))
    return found


def _level(way: Array, upright: Array) -> Array | None:
    """(2,) the level part of a direction, where that is a good part of it."""
    turned = upright @ way
    level = np.asarray(turned[:2])
    return level if np.linalg.norm(level) > 0.35 * np.linalg.norm(turned) else None


def _turn_of(way: Array) -> float:
    """Turn about Z, degrees, that brings the level direction `way` to -Y; near a quarter it is one."""
    turn = math.degrees(-math.pi / 2 - math.atan2(float(way[1]), float(way[0])))
    quarter = round(turn / _STEP_DEG) * _STEP_DEG
    turn = quarter if abs(turn - quarter) < _SNAP_DEG else round(turn)
    turn = (turn + 180.0) % 360.0 - 180.0
    return 180.0 if turn == -180.0 else turn + 0.0


def _from_shape(facts: CreatureFacts, up: str, up_reason: str) -> Orientation:
    """The plane that mirrors the creature tells its axis, but not which end is the head."""
    if len(facts.surface) < 20:
        return Orientation(0.0, up, up_reason, False)
    points = np.array(facts.surface) @ up_matrix(up).T
    points = points - (points.min(0) + points.max(0)) / 2
    over_x, over_y = (_mirror_miss(points, axis) for axis in (0, 1))
    if over_y < _SYMMETRIC * over_x:
        return Orientation(90.0, up, "its shape, which does not tell head from tail", False)
    if over_x < _SYMMETRIC * over_y:
        return Orientation(0.0, up, "its shape, which does not tell head from tail", False)
    return Orientation(0.0, up, up_reason, False)


def _mirror_miss(points: Array, axis: int) -> float:
    """Mean distance from mirrored points to the nearest point."""
    mirrored = points * np.where(np.arange(3) == axis, -1.0, 1.0)
    distances = np.linalg.norm(mirrored[:, None] - points[None], axis=2)
    return float(distances.min(1).mean())
