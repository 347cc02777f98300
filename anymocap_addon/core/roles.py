"""Body parts of a skeleton, found from its hierarchy and rest geometry: no names are needed, they only help.

Space: prep space, metres, the creature faces -Y, its left is +X, the ground is z = 0. An axial bone lies on the
mid-plane (spine, neck, head, tail); a limb is a largest subtree that lies on one side of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .axial_roles import axial_roles
from .limb_kinds import limb_kinds, limb_names
from .rest_bones import LEG_REACH, LONG, MIDDLE, PAIR_MISS, Array, Bones
from .role_words import named
from .side_pairs import find_pairs

SOLE = 0.035  # of the height: how far above its leg's lowest point a keypoint may still touch the ground
LIMBS = ("leg", "arm", "wing", "tail")
INSECT_LEGS = 6  # with at least so many legs what hangs behind is an abdomen


@dataclass(frozen=True)
class Roles:
    """What each bone is.

    Attributes:
        role: B of root, spine, neck, head, jaw, tail, leg, arm, wing, ear, detail.
        part: B names of body parts: front_left_leg, tail, abdomen, spine, head, ...; neck and jaw belong to the head.
        rank: (B,) place within the limb or tail, 0 at the body.
        side: (B,) 1 left, -1 right, 0 on the mid-plane.
    """

    role: tuple[str, ...]
    part: tuple[str, ...]
    rank: NDArray[np.int64]
    side: NDArray[np.int64]

    def limb_bones(self, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
        """Limb (legs, arms, wings, tail) -> its bones."""
        groups: dict[str, list[str]] = {}
        for name, role, part in zip(names, self.role, self.part):
            if role in LIMBS:
                groups.setdefault(part, []).append(name)
        return {part: tuple(members) for part, members in sorted(groups.items())}


def find_roles(bones: Bones) -> Roles:
    """Roles, body parts, ranks and sides of all bones."""
    side = _sides(bones)
    count = len(bones.names)
    limbs = [b for b in range(1, count) if side[b] and not side[bones.parents[b]]]
    axial = [b for b in range(count) if not side[b]]
    (role_of, part_of), path, last = axial_roles(bones, axial, limbs)
    upright = _is_upright(bones, path, last)
    kinds = limb_kinds(bones, limbs, role_of, upright, side)
    called = limb_names(bones, kinds, side)
    tail = _tail_word(bones, list(kinds.values()), role_of)
    part_of = {b: tail if role_of[b] == "tail" else part for b, part in part_of.items()}
    for top in limbs:
        owner = part_of[int(bones.parents[top])]
        for b in bones.subtree(top):
            role_of[b], part_of[b] = kinds[top], called.get(top, owner)
    role, part = tuple(role_of[b] for b in range(count)), tuple(part_of[b] for b in range(count))
    return Roles(role, part, part_ranks(bones.parents, role, part), side)


def part_ranks(parents: NDArray[np.int64], role: tuple[str, ...], part: tuple[str, ...]) -> NDArray[np.int64]:
    """(B,) place of each bone within its limb or tail, 0 at the body."""
    rank = np.zeros(len(role), np.int64)
    for b in range(1, len(role)):
        parent = int(parents[b])
        rank[b] = rank[parent] + 1 if part[b] == part[parent] and role[b] == role[parent] else 0
    return rank


def _sides(bones: Bones) -> NDArray[np.int64]:
    """1 for bones whose whole subtree lies left of the mid-plane, -1 right, 0 else."""
    tolerance = MIDDLE * bones.size
    count = len(bones.names)
    side = np.zeros(count, np.int64)
    for b in range(1, count):
        x = bones.points(b)[:, 0]
        if np.abs(x).max() > 2 * tolerance:
            side[b] = 1 if x.min() > -tolerance else -1 if x.max() < tolerance else 0
    tops = [b for b in range(1, count) if side[b] and not side[bones.parents[b]]]
    for top in tops:
        if abs(bones.heads[top, 0]) < tolerance and _leans(bones, top, tops):
            side[bones.subtree(top)] = 0
    return side


def _leans(bones: Bones, top: int, tops: list[int]) -> bool:
    """True for a subtree that begins in the middle and leans to one side with none like it on the other: a head whose
    skin ends in one of two antennae, a curled tail. It is no limb.
    """
    points = bones.points(top)
    if np.abs(points[:, 0]).max() > LONG * bones.size:
        return False
    mirrored = points.mean(0) * [-1.0, 1.0, 1.0]
    return all(np.linalg.norm(bones.points(o).mean(0) - mirrored) > PAIR_MISS * bones.size for o in tops if o != top)


def _tail_word(bones: Bones, kinds: list[str], role: dict[int, str]) -> str:
    """abdomen for what hangs behind an insect or a spider, else tail."""
    members = [bones.names[b] for b, found in role.items() if found == "tail"]
    many = kinds.count("leg") >= INSECT_LEGS and not named(members, "tail")
    return "abdomen" if many or named(members, "abdomen") else "tail"


def _is_upright(bones: Bones, path: list[int], last: int) -> bool:
    """True for a body that stands (a biped): from the root the spine leads up rather than forward."""
    end = path[last] if last != 0 else path[-1]
    way = (bones.heads[end] if end != 0 else bones.tips[0]) - bones.heads[0]
    return bool(way[2] > abs(way[1]))


def find_contacts(joints: Array, joint_role: list[str], joint_part: list[str], height: float) -> tuple[int, ...]:
    """Keypoints that touch the ground: of each leg its lowest, and others nearly as low (heel and toe).

    Legs that hang in the air at rest (a flying creature's) have none.

    Args:
        joints: (J, 3) keypoints at rest, metres. joint_role, joint_part: of the bone that each rides on.
        height: of the rest mesh, metres.
    """
    contacts: list[int] = []
    for part in sorted({p for p, role in zip(joint_part, joint_role) if role == "leg"}):
        members = [j for j in range(len(joints)) if joint_part[j] == part]
        lowest = min(joints[j, 2] for j in members)
        if lowest > LEG_REACH * height:
            continue
        contacts += [j for j in members if joints[j, 2] < lowest + SOLE * height]
    return tuple(sorted(contacts))


def facing_doubt(bones: Bones) -> str:
    """A sentence when the creature seems not to face -Y, else an empty string.

    Sideways: more bones have a mirror image across the plane y = middle than across x = 0. Backwards: what is
    called head lies behind those called tail.
    """
    middles = (bones.heads + bones.tips) / 2
    turned = (middles - (bones.low + bones.high) / 2)[:, [1, 0, 2]]
    if len(find_pairs(turned, bones.size)) > len(find_pairs(middles, bones.size)) + 1:
        return "The creature seems to face sideways: run prep again with rotz_deg turned by 90 or -90."
    ends = {word: [b for b, name in enumerate(bones.names) if named([name], word)] for word in ("head", "tail")}
    if all(ends.values()) and bones.heads[ends["head"], 1].mean() > bones.heads[ends["tail"], 1].mean():
        return "The creature seems to face backwards: run prep again with rotz_deg turned by 180."
    return ""
