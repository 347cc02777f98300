"""Body parts of a skeleton, found from its hierarchy and rest geometry: no names are needed, they only help.

Space: prep space, metres, the creature faces -Y, its left is +X, the ground is z = 0. An axial bone lies on the
mid-plane (spine, neck, head, tail); a limb is a largest subtree that lies on one side of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MIDDLE = 0.02  # of the body's largest extent: nearer to the mid-plane than this is on it
LEG_REACH = 0.15  # of the height: a leg's lowest point lies below this ...
LEG_DROP = 0.25  # ... and at least this much below its top
LONG = 0.2  # of the largest extent: limbs longer than this are no ears
SMALL = 0.06  # of the largest extent: limbs shorter than this are details (fingers of a face, fangs)
FLAT = 0.3  # thickness over breadth of the skin of a wing
SOLE = 0.035  # of the height: how far above its leg's lowest point a keypoint may still touch the ground
PAIR_MISS = 0.04  # of the largest extent: how far a mirrored partner may be off
LIMBS = ("leg", "arm", "wing", "tail")
_WORDS = {
    "wing": ("wing", "fin"),
    "arm": ("arm", "hand", "clavicle", "shoulder", "claw", "pincer"),
    "ear": ("ear", "horn", "antler", "antenna", "antennae"),
    "leg": ("leg", "foot", "paw", "hoof", "thigh", "shin"),
}


@dataclass(frozen=True)
class Bones:
    """A skeleton at rest.

    Attributes:
        names: B names; parents: (B,) parent index, -1 for the root, parents before children.
        heads: (B, 3) metres; tips: (B, 3) far ends (of a leaf: the end of its skin), metres.
        low, high: (3,) corners of the rest mesh.
        flatness: (B,) smallest over middle spread of the skin that a bone moves; 1 where unknown.
    """

    names: tuple[str, ...]
    parents: NDArray[np.int64]
    heads: Array
    tips: Array
    low: Array
    high: Array
    flatness: Array

    @property
    def size(self) -> float:
        """Largest extent of the mesh, metres."""
        return float((self.high - self.low).max())

    def children(self, bone: int) -> list[int]:
        return [int(c) for c in np.flatnonzero(self.parents == bone)]

    def subtree(self, bone: int) -> list[int]:
        """`bone` and all below it, parents before children."""
        found = [bone]
        for other in range(bone + 1, len(self.names)):
            if int(self.parents[other]) in found:
                found.append(other)
        return found

    def path(self, bone: int) -> list[int]:
        """From the root to `bone`, both included."""
        chain = [bone]
        while self.parents[chain[-1]] >= 0:
            chain.append(int(self.parents[chain[-1]]))
        return chain[::-1]

    def points(self, bone: int) -> Array:
        """Heads of the subtree of `bone` and tips of its leaves."""
        members = self.subtree(bone)
        leaves = [b for b in members if not self.children(b)]
        return np.concatenate([self.heads[members], self.tips[leaves]])


@dataclass(frozen=True)
class Roles:
    """What each bone is.

    Attributes:
        role: B of root, spine, neck, head, tail, leg, arm, wing, ear, detail.
        part: B names of body parts: front_left_leg, tail, spine, head, ...; the neck belongs to the head.
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
    role, part = ["" for _ in range(count)], ["" for _ in range(count)]
    limbs = [b for b in range(1, count) if side[b] and not side[bones.parents[b]]]
    axial = [b for b in range(count) if not side[b]]
    spine_end, head_path = _axial_roles(bones, axial, limbs, role, part)
    upright = _is_upright(bones, spine_end, head_path)
    grounded = any(_reaches_ground(bones, top) for top in limbs)
    kinds = {top: _limb_kind(bones, top, role, upright, grounded) for top in limbs}
    _match_mirror_images(bones, kinds, side)
    names = _limb_names(bones, kinds, side)
    for top in limbs:
        owner = int(bones.parents[top])
        for b in bones.subtree(top):
            role[b] = kinds[top]
            part[b] = names.get(top, part[owner])
    rank = np.zeros(count, np.int64)
    for b in range(1, count):
        parent = int(bones.parents[b])
        rank[b] = rank[parent] + 1 if part[b] == part[parent] and role[b] == role[parent] else 0
    return Roles(tuple(role), tuple(part), rank, side)


def _sides(bones: Bones) -> NDArray[np.int64]:
    """1 for bones whose whole subtree lies left of the mid-plane, -1 right, 0 else."""
    tolerance = MIDDLE * bones.size
    side = np.zeros(len(bones.names), np.int64)
    for b in range(1, len(bones.names)):
        x = bones.points(b)[:, 0]
        if np.abs(x).max() > 2 * tolerance:
            side[b] = 1 if x.min() > -tolerance else -1 if x.max() < tolerance else 0
    return side


def _words(name: str) -> set[str]:
    """Lower-case words of a bone's name: split at case changes, digits and punctuation."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def _named(bones: Bones, members: list[int], kind: str) -> bool:
    words = set().union(*(_words(bones.names[b]) for b in members))
    return bool(words & {plural for word in _WORDS[kind] for plural in (word, word + "s")})


def _axial_roles(
    bones: Bones, axial: list[int], limbs: list[int], role: list[str], part: list[str]
) -> tuple[int, list[int]]:
    """Fill in the roles of the bones on the mid-plane; return the last spine bone and the path to the head."""
    leaves = [b for b in axial if not any(c in axial for c in bones.children(b))]
    forward = [_headness(bones, b) for b in leaves]
    head_path = bones.path(leaves[int(np.argmax(forward))])
    carriers = [top for top in limbs if _carries(bones, top)]
    behind = max((_place_on(bones, top, head_path) for top in carriers), default=-1)
    carriers += [top for top in limbs if top not in carriers and not _is_ear_like(bones, top, head_path, behind)]
    carrying = [_place_on(bones, top, head_path) for top in carriers]
    last = max(carrying, default=max(0, len(head_path) - 3) if not limbs else 0)
    last = _past_shoulders(bones, head_path, last, carriers)
    for i, b in enumerate(head_path):
        role[b] = "root" if i == 0 else "spine" if i <= last else "neck" if i < len(head_path) - 1 else "head"
        part[b] = "spine" if i <= last else "head"
    for b in axial:
        if role[b]:
            continue
        parent = int(bones.parents[b])
        if role[parent] in ("neck", "head", "tail"):
            role[b], part[b] = role[parent], part[parent]
        else:
            back = bones.points(b)[:, 1].max() - bones.heads[0, 1] > SMALL * bones.size
            role[b], part[b] = ("tail", "tail") if back else ("spine", "spine")
    return head_path[last], head_path


def _headness(bones: Bones, leaf: int) -> float:
    """How much the way from the root to this leaf's tip leads forward and up; names decide where they speak."""
    way = bones.tips[leaf] - bones.heads[0]
    names = set().union(*(_words(bones.names[b]) for b in bones.path(leaf)))
    bonus = 2.0 * bones.size * (("head" in names) - ("tail" in names))
    return float(-way[1] + way[2] + bonus)


def _past_shoulders(bones: Bones, head_path: list[int], last: int, carriers: list[int]) -> int:
    """The spine goes on past its last limb while it has not come as far towards the head as that limb has; the path's
    last bone is the head.
    """
    way = bones.tips[head_path[-1]] - bones.heads[0]
    reached = max((float(bones.heads[top] @ way) for top in carriers), default=-np.inf)
    while last + 1 < len(head_path) - 1 and float(bones.heads[head_path[last + 1]] @ way) < reached:
        last += 1
    return max(0, min(last, len(head_path) - 2))


def _carries(bones: Bones, top: int) -> bool:
    """True for legs and for other limbs too long to be ears."""
    return _reaches_ground(bones, top) or _length(bones, top) > LONG * bones.size


def _place_on(bones: Bones, top: int, path: list[int]) -> int:
    """Index of the last bone of `path` from which the limb hangs, directly or through other bones."""
    return max(i for i, b in enumerate(path) if b in bones.path(top))


def _is_ear_like(bones: Bones, top: int, head_path: list[int], behind: int) -> bool:
    """True for ears, horns, fangs: small, and pointing up beyond all carrying limbs or at the head's last bone."""
    if _length(bones, top) < SMALL * bones.size:
        return True
    place = _place_on(bones, top, head_path)
    up = bones.points(top)[:, 2].mean() > bones.heads[top, 2]
    return place > behind and (bool(up) or place == len(head_path) - 1)


def _length(bones: Bones, top: int) -> float:
    """From the head of a limb to its farthest point, metres."""
    return float(np.linalg.norm(bones.points(top) - bones.heads[top], axis=1).max())


def _reaches_ground(bones: Bones, top: int) -> bool:
    z = bones.points(top)[:, 2]
    height = bones.high[2] - bones.low[2]
    low_enough = z.min() - bones.low[2] < LEG_REACH * height
    return bool(low_enough and z.max() - z.min() > LEG_DROP * height)


def _is_upright(bones: Bones, spine_end: int, head_path: list[int]) -> bool:
    """True for a body that stands (a biped): from the root the spine leads up rather than forward."""
    end = spine_end if spine_end != 0 else head_path[-1]
    way = (bones.heads[end] if end != 0 else bones.tips[0]) - bones.heads[0]
    return bool(way[2] > abs(way[1]))


def _limb_kind(bones: Bones, top: int, role: list[str], upright: bool, grounded: bool) -> str:
    """leg, arm, wing, ear or detail. Where no limb stands on the ground (`grounded`), names tell the legs."""
    members = bones.subtree(top)
    owner = role[int(bones.parents[top])]
    if _length(bones, top) < SMALL * bones.size and not _reaches_ground(bones, top):
        return "ear" if owner == "head" and _named(bones, members, "ear") else "detail"
    if _named(bones, members, "wing"):
        return "wing"
    if _reaches_ground(bones, top):
        return "leg"
    if owner in ("head", "neck") and _length(bones, top) < LONG * bones.size:
        return "ear"
    if _named(bones, members, "arm"):
        return "arm"
    if not grounded and _named(bones, members, "leg"):
        return "leg"
    known = [float(bones.flatness[b]) for b in members if bones.flatness[b] < 1.0]
    flat = bool(known) and float(np.median(known)) < FLAT
    reach = float(np.ptp(bones.points(top)[:, 0]))
    return "arm" if upright else "wing" if flat or reach > 0.3 * bones.size else "arm"


def _foot(bones: Bones, top: int) -> Array:
    """(3,) lowest point of a limb."""
    points = bones.points(top)
    return np.asarray(points[points[:, 2].argmin()])


def _match_mirror_images(bones: Bones, kinds: dict[int, str], side: NDArray[np.int64]) -> None:
    """A limb takes the kind of its mirror image where the two differ and one of them is a detail."""
    mirror = np.array([-1.0, 1.0, 1.0])
    for top in kinds:
        others = [o for o in kinds if side[o] == -side[top]]
        if not others:
            continue
        miss = [np.linalg.norm(bones.heads[o] * mirror - bones.heads[top]) for o in others]
        partner = others[int(np.argmin(miss))]
        if min(miss) < PAIR_MISS * bones.size and kinds[top] == "detail":
            kinds[top] = kinds[partner]


def _limb_names(bones: Bones, kinds: dict[int, str], side: NDArray[np.int64]) -> dict[int, str]:
    """Names of the limbs: left_leg, front_left_leg, mid_front_left_leg, left_wing, left_arm_2, ..."""
    names: dict[int, str] = {}
    for kind in ("leg", "arm", "wing", "ear"):
        rows = {s: [t for t in kinds if kinds[t] == kind and side[t] == s] for s in (1, -1)}
        count = max(len(row) for row in rows.values())
        for s, row in rows.items():
            word = "left" if s == 1 else "right"
            row.sort(key=lambda top: (float(_foot(bones, top)[1]), float(bones.heads[top, 1])))
            for i, top in enumerate(row):
                names[top] = _place_word(kind, i, count).format(side=word, kind=kind)
    return names


def _place_word(kind: str, index: int, count: int) -> str:
    places = {1: [""], 2: ["front", "back"], 3: ["front", "mid", "back"], 4: ["front", "mid_front", "mid_back", "back"]}
    if count not in places or (kind != "leg" and count > 1):
        return f"{{side}}_{{kind}}_{index + 1}"
    prefix = places[count][index]
    return f"{prefix}_{{side}}_{{kind}}" if prefix else "{side}_{kind}"


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


def find_pairs(points: Array, size: float, names: tuple[str, ...] = (), rank: Array | None = None) -> NDArray[np.int64]:
    """(P, 2) points that mirror each other, left first: mutual best partners across the mid-plane x = 0.

    Args:
        points: (J, 3) at rest, metres. size: the body's largest extent, metres.
        names: J names, of which partners share all but the word for the side; they decide between near candidates.
        rank: (J,) place within the limb, which partners share too.
    """
    left = np.flatnonzero(points[:, 0] > MIDDLE * size / 4)
    right = np.flatnonzero(points[:, 0] < -MIDDLE * size / 4)
    if not len(left) or not len(right):
        return np.zeros((0, 2), np.int64)
    miss = np.linalg.norm(points[left][:, None] - points[right][None] * [-1.0, 1.0, 1.0], axis=-1) / size
    cost = miss.copy()
    if names:
        stems = [side_stem(name) for name in names]
        cost += PAIR_MISS * np.array([[stems[a] != stems[b] for b in right] for a in left])
    if rank is not None:
        cost += PAIR_MISS * (rank[left][:, None] != rank[right][None])
    best_right, best_left = cost.argmin(1), cost.argmin(0)
    pairs = [
        (int(left[i]), int(right[r])) for i, r in enumerate(best_right) if best_left[r] == i and miss[i, r] < PAIR_MISS
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)


def facing_doubt(bones: Bones) -> str:
    """A sentence when the creature seems not to face -Y, else an empty string.

    Sideways: more bones have a mirror image across the plane y = middle than across x = 0. Backwards: what is
    called head lies behind those called tail.
    """
    middles = (bones.heads + bones.tips) / 2
    turned = (middles - (bones.low + bones.high) / 2)[:, [1, 0, 2]]
    if len(find_pairs(turned, bones.size)) > len(find_pairs(middles, bones.size)) + 1:
        return "The creature seems to face sideways: run prep again with rotz_deg turned by 90 or -90."
    ends = {word: [b for b, name in enumerate(bones.names) if word in _words(name)] for word in ("head", "tail")}
    if all(ends.values()) and bones.heads[ends["head"], 1].mean() > bones.heads[ends["tail"], 1].mean():
        return "The creature seems to face backwards: run prep again with rotz_deg turned by 180."
    return ""


def side_stem(name: str) -> str:
    """A name without its word for the side: thigh_L, thigh.L, Left_thigh and mixamorig:LeftThigh lose it."""
    stem = re.sub(r"(?<![A-Za-z])(left|right|l|r)(?![A-Za-z])[_.\- ]?", "", name, count=1, flags=re.IGNORECASE)
    stem = re.sub(r"(Left|Right)(?=[A-Z0-9_.\- ]|$)", "", stem, count=1) if stem == name else stem
    return stem.strip("_.- ")
