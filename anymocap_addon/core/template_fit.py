"""Place a template's joints in a mesh: limbs from its extremities, spine from its mid-line.

The mesh stands as prep leaves it: metres, -Y forward, +X its left, ground at z = 0. Mirrored limbs that are nearly
mirror images get mirrored joints.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from .extremities import Extremity, find_extremities
from .midline import Midline, central, find_midline
from .rig import Point, RigBone, RigSpec
from .rig_template import SIDES, LimbPlan, RigTemplate
from .voxel_solid import VoxelSolid, voxel_solid

Array = NDArray[np.float64]

MIRRORED = 0.05  # of the body: joints nearer than this to their partner's mirror image become mirror images
PARTNER = 0.15  # of the body: tips nearer than this to another's mirror image are its partner
DOWN = 0.25  # of its own length: a leg's tip lies at least this much below where it leaves the body, or on the ground
GROUND = 0.12  # of the height: lower than this is on the ground
OUTSIDE = 2.0  # cells: a joint farther than this from the body lies outside
STEEP = 0.9  # of its length: a bone that rises more than this stands upright
SHORTEST = 0.004  # of the body: bones are at least this long
THIN = 0.5  # of the trunk's thickness: where the body gets thinner than this the tail begins
_MIRROR = np.array([-1.0, 1.0, 1.0])


@dataclass(frozen=True)
class TemplateFit:
    """A template placed in a mesh.

    Attributes:
        spec: joints, bones and limits for rig.json.
        notes: sentences for the artist: what the surface did not show and was placed by proportion.
        doubtful: names of joints that were placed by proportion.
    """

    spec: RigSpec
    notes: tuple[str, ...]
    doubtful: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Pair:
    """Left and right limb of one kind; a side that the surface does not show is the mirror image of the other."""

    left: Array  # (K, 3) way from body to tip, metres
    right: Array
    height: float

    @property
    def tip(self) -> Array:
        return np.asarray((self.left[-1] + self.right[-1] * _MIRROR) / 2)

    @property
    def base(self) -> Array:
        return np.asarray((self.left[0] + self.right[0] * _MIRROR) / 2)


def fit_template(template: RigTemplate, points: Array, triangles: NDArray[np.int64]) -> TemplateFit:
    """Joints and bones of `template` for a mesh.

    Args:
        points: (V, 3) metres, -Y forward; triangles: (T, 3) indices of points.

    Raises:
        BadInputError: the mesh has no faces or no extent.
    """
    solid = voxel_solid(points, triangles)
    low, high = points.min(0), points.max(0)
    size = float((high - low).max())
    limbs = find_extremities(solid)
    line = find_midline(solid, limbs, template.upright)
    found = _assigned(template, _pairs(limbs, size), low, high)
    joints: dict[str, Point] = {}
    bones: list[RigBone] = []
    notes: list[str] = []
    doubtful: list[str] = []
    tail = _tail(limbs, line, size)
    marks = _landmarks(template, line, found, tail)
    for joint in template.joints:
        arc = marks[joint.start] + joint.share * (marks[joint.end] - marks[joint.start])
        joints[joint.name] = _point(line.at(arc, template.lift))
    bones += [RigBone(b.name, b.head, b.tail, b.parent or None) for b in template.bones]
    for plan in template.limbs:
        pair = found.get(plan.name)
        if pair is None and plan.optional:
            continue
        if pair is None:
            notes.append(f"No {plan.name.replace('_', ' ')} was found; its joints were placed by proportion.")
            pair = _by_proportion(plan, low, high)
            doubtful += [joint + side for joint in plan.joints for side in SIDES]
        joints.update(_limb_joints(plan, pair, line, template.lift, size))
        bones += _limb_bones(plan, joints)
    outside = _pulled_in(joints, solid)
    doubtful += [name for name in outside if name not in doubtful]
    notes += [f"{', '.join(outside)} lay outside the mesh and was moved to its surface."] if outside else []
    moved = _lengthened(bones, joints, template, SHORTEST * size)
    doubtful += [name for name in moved if name not in doubtful]
    notes += [f"The mesh leaves no room for {', '.join(moved)}: is it a {template.label.lower()}?"] if moved else []
    present = {bone.name for bone in bones}
    limits = {
        name: ranges for name, ranges in template.limits_deg.items() if name in present or name + SIDES[0] in present
    }
    return TemplateFit(RigSpec(joints, tuple(bones), limits), tuple(notes), tuple(doubtful))


def _pulled_in(joints: dict[str, Point], solid: VoxelSolid) -> list[str]:
    """Move joints that lie outside the body to its nearest cell; their names."""
    outside = []
    for name, place in joints.items():
        away = np.linalg.norm(solid.centres - np.array(place), axis=1)
        if away.min() > OUTSIDE * solid.cell:
            joints[name] = _point(solid.centres[int(away.argmin())])
            outside.append(name)
    return outside


def _point(place: Array) -> Point:
    return (round(float(place[0]), 5), round(float(place[1]), 5), round(float(place[2]), 5))


def _pairs(limbs: list[Extremity], size: float) -> list[_Pair]:
    """Limbs off the mid-plane with their mirror images; one without stands for both sides."""
    sides = [limb for limb in limbs if not central(limb, size)]
    left = [limb for limb in sides if limb.way[:, 0].mean() > 0]
    right = [limb for limb in sides if limb.way[:, 0].mean() <= 0]
    pairs = []
    for limb in left:
        miss = [float(np.linalg.norm(limb.tip - other.tip * _MIRROR)) for other in right]
        best = int(np.argmin(miss)) if miss else -1
        if best >= 0 and miss[best] < PARTNER * size:
            other = right.pop(best)
            pairs.append(_Pair(_to_tip(limb), _to_tip(other), (limb.height + other.height) / 2))
        else:
            pairs.append(_Pair(_to_tip(limb), _to_tip(limb) * _MIRROR, limb.height))
    pairs += [_Pair(_to_tip(limb) * _MIRROR, _to_tip(limb), limb.height) for limb in right]
    return pairs


def _to_tip(limb: Extremity) -> Array:
    return np.concatenate([limb.way[:-1], limb.tip[None]])


def _assigned(template: RigTemplate, pairs: list[_Pair], low: Array, high: Array) -> dict[str, _Pair]:
    """Name of a limb of the template -> the pair that is it."""
    assigned: dict[str, _Pair] = {}
    rest = list(pairs)
    for kind in ("leg", "wing", "arm", "fin"):
        plans = [plan for plan in template.limbs if plan.kind == kind]
        suited = sorted((p for p in rest if _suits(p, kind, low, high)), key=lambda p: -_merit(p, kind))[: len(plans)]
        suited.sort(key=lambda pair: float(pair.tip[1] + pair.base[1]))
        if not suited:
            continue
        # Fewer than the template has: the order from front to back holds, proportions say which are missing.
        chosen = min(
            combinations(plans, len(suited)),
            key=lambda some: sum(
                float(np.linalg.norm(_in_box(plan.box[1], low, high) - pair.tip))
                for plan, pair in zip(some, suited, strict=True)
            ),
        )
        for plan, pair in zip(chosen, suited, strict=True):
            assigned[plan.name] = pair
            rest = [other for other in rest if other is not pair]
    return assigned


def _suits(pair: _Pair, kind: str, low: Array, high: Array) -> bool:
    drop = float(pair.base[2] - pair.tip[2])
    if kind == "leg":
        grounded = pair.tip[2] - low[2] < GROUND * (high[2] - low[2])
        return bool(drop > 0 and (grounded or drop > DOWN * pair.height))
    return bool(abs(pair.tip[0]) - abs(pair.base[0]) > 0.3 * pair.height)


def _merit(pair: _Pair, kind: str) -> float:
    drop = float(pair.base[2] - pair.tip[2])
    return pair.height + drop if kind == "leg" else float(abs(pair.tip[0]))


def _in_box(share: Point, low: Array, high: Array) -> Array:
    """(3,) from shares of half the width, the length (front = 0) and the height."""
    middle = (low + high) / 2
    half = (high[0] - low[0]) / 2
    return np.array(
        [middle[0] + share[0] * half, low[1] + share[1] * (high[1] - low[1]), low[2] + share[2] * (high[2] - low[2])]
    )


def _by_proportion(plan: LimbPlan, low: Array, high: Array) -> _Pair:
    ends = np.stack([_in_box(share, low, high) for share in plan.box])
    return _Pair(ends, ends * _MIRROR, float(np.linalg.norm(ends[1] - ends[0])))


def _tail(limbs: list[Extremity], line: Midline, size: float) -> Extremity | None:
    """The extremity that is the tail: on the mid-plane, with its tip at the mid-line's start."""
    ends = [
        limb for limb in limbs if central(limb, size) and np.linalg.norm(limb.tip - line.points[0]) < PARTNER * size
    ]
    return ends[0] if ends else None


def _landmarks(
    template: RigTemplate, line: Midline, found: dict[str, _Pair], tail: Extremity | None
) -> dict[str, float]:
    """Name -> length along the mid-line, metres: both ends, where head and tail begin, where each limb leaves it."""
    marks = {"tail_tip": 0.0, "head_tip": line.length}
    for plan in template.limbs:
        shares = [plan.box[0][2] if template.upright else 1.0 - plan.box[0][1]]
        marks[plan.name] = line.nearest(found[plan.name].base) if plan.name in found else shares[0] * line.length
    carried = [marks[plan.name] for plan in template.limbs if plan.kind != "fin"]
    front, back = (max(carried), min(carried)) if carried else (0.0, 0.0)
    marks["head_base"] = line.length - template.head * (line.length - front)
    marks["tail_base"] = _tail_base(line, back, tail) if carried else 0.0
    return marks


def _tail_base(line: Midline, back: float, tail: Extremity | None) -> float:
    """Length along the mid-line where the tail begins: where it leaves the body, else where, going back from the
    hindmost limb, the body has thinned; half way to the end where it does not.
    """
    if tail is not None:
        return min(line.nearest(tail.base), back)
    trunk = float(np.interp(back, line.arc, line.depth))
    behind = np.linspace(back, 0.0, 100)
    thin = np.interp(behind, line.arc, line.depth) < THIN * trunk
    return float(behind[thin.argmax()]) if thin[: len(thin) // 2].any() else back / 2


def _limb_joints(plan: LimbPlan, pair: _Pair, line: Midline, lift: float, size: float) -> dict[str, Point]:
    """Joints of both sides."""
    sides = [_along(plan, way, line, lift) for way in (pair.left, pair.right)]
    joints: dict[str, Point] = {}
    for k, name in enumerate(plan.joints):
        left, right = sides[0][k], sides[1][k]
        if np.linalg.norm(left - right * _MIRROR) < MIRRORED * size:
            left = (left + right * _MIRROR) / 2
            right = left * _MIRROR
        joints[name + SIDES[0]], joints[name + SIDES[1]] = _point(left), _point(right)
    return joints


def _along(plan: LimbPlan, way: Array, line: Midline, lift: float) -> Array:
    """(K, 3) the plan's joints on one side: shares of the way from the first joint to the tip."""
    middle = line.at(line.nearest(way[0]), lift)
    root = way[0] + (middle - way[0]) * [plan.root[0], plan.root[1], plan.root[1]]
    path = np.concatenate([root[None], way])
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    wanted = np.array(plan.at) * arc[-1]
    return np.stack([np.interp(wanted, arc, path[:, axis]) for axis in range(3)], 1)


def _limb_bones(plan: LimbPlan, joints: dict[str, Point]) -> list[RigBone]:
    """Bones of both sides. Wings and fins have Z up, however they are swept: they fold about Z and beat about X."""
    bones = []
    for side in SIDES:
        for k, name in enumerate(plan.bones):
            parent = plan.parent if k == 0 else plan.bones[k - 1] + side
            head, tail = plan.joints[k] + side, plan.joints[k + 1] + side
            way = np.subtract(joints[tail], joints[head])
            level = abs(way[2]) < STEEP * np.linalg.norm(way)
            up = (0.0, 0.0, 1.0) if plan.kind in ("wing", "fin") and level else None
            bones.append(RigBone(name + side, head, tail, parent, up))
    return bones


def _lengthened(bones: list[RigBone], joints: dict[str, Point], template: RigTemplate, least: float) -> list[str]:
    """Give bones whose joints fell together at least `least` metres, towards the head; names of the moved joints.

    Where two landmarks meet, the mesh has no room for what the template puts between them.
    """
    way = np.array([0.0, 0.0, 1.0] if template.upright else [0.0, -1.0, 0.0])
    moved = []
    for bone in bones:
        head = np.array(joints[bone.head])
        if np.linalg.norm(np.subtract(joints[bone.tail], head)) < least:
            joints[bone.tail] = _point(head + least * way)
            moved.append(bone.tail)
    return moved
