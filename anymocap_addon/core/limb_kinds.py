"""What a limb is (leg, arm, wing, ear, detail) and what it is called: front_left_leg, left_wing, ..."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .rest_bones import LONG, PAIR_MISS, SMALL, Array, Bones
from .role_words import named

SOLID = 0.65  # a long limb at the side whose skin is thicker than this is an arm, never a wing
WIDE = 0.25  # of the largest extent: a wing spreads at least this far to its side
HANGING = 0.4  # of its length: a limb of a flying creature whose end lies this far below its top is a leg

Sides = NDArray[np.int64]


def limb_kinds(bones: Bones, limbs: list[int], role: dict[int, str], upright: bool, side: Sides) -> dict[int, str]:
    """Topmost bone of each limb -> leg, arm, wing, ear or detail.

    Args:
        role: of the axial bones; upright: the body stands like a biped's.
    """
    grounded = any(bones.reaches_ground(top) for top in limbs)
    hanging = [] if grounded else [top for top in limbs if bones.drop(top) > HANGING * bones.length(top)]
    kinds = {top: _named_kind(bones, top, role, grounded) for top in limbs}
    legs = {top for top in limbs if kinds[top] == "leg" or (not kinds[top] and bones.reaches_ground(top))}
    legs |= {top for top in hanging if not kinds[top] and not bones.is_flat(top)} if len(hanging) >= 4 else set()
    for top in limbs:
        if not kinds[top]:
            kinds[top] = "leg" if top in legs else _airborne_kind(bones, top, role, upright, bool(legs))
    _match_mirror_images(bones, kinds, side)
    return kinds


def _named_kind(bones: Bones, top: int, role: dict[int, str], grounded: bool) -> str:
    """The kind that size and names settle, else an empty string. Where no limb stands, names tell the legs."""
    names = [bones.names[b] for b in bones.subtree(top)]
    on_head = role.get(int(bones.parents[top])) in ("head", "neck", "jaw")
    if named(names, "detail") and not bones.reaches_ground(top):
        return "detail"
    if named(names, "ear") and not bones.reaches_ground(top):
        return "ear"
    if bones.length(top) < SMALL * bones.size and not bones.reaches_ground(top):
        return "detail"
    if named(names, "wing"):
        return "wing"
    if bones.reaches_ground(top):
        return "leg"
    if named(names, "arm") and not on_head:
        return "arm"
    # A sitting creature's hind legs lie on the ground without standing on it.
    return "leg" if (not grounded or bones.is_near_ground(top)) and named(names, "leg") else ""


def _airborne_kind(bones: Bones, top: int, role: dict[int, str], upright: bool, has_legs: bool) -> str:
    """arm, wing or ear of a limb that does not stand, by where it hangs and its shape."""
    owner = role.get(int(bones.parents[top]), "")
    rise = float(bones.points(top)[:, 2].mean() - bones.heads[top, 2])
    short = bones.length(top) < LONG * bones.size
    if owner in ("head", "neck") and (short or (owner == "head" and rise > 0)):
        points_up = rise > 0.2 * bones.length(top)
        return "ear" if has_legs or points_up or not short else "wing"
    if upright:
        return "arm"
    reach = float(np.ptp(bones.points(top)[:, 0]))
    return "wing" if bones.is_flat(top) or (reach > WIDE * bones.size and bones.limb_flatness(top) < SOLID) else "arm"


def _match_mirror_images(bones: Bones, kinds: dict[int, str], side: Sides) -> None:
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


def limb_names(bones: Bones, kinds: dict[int, str], side: Sides) -> dict[int, str]:
    """Names of the limbs: left_leg, front_left_leg, mid_front_left_leg, left_wing, left_fin, left_arm_2, ..."""
    called = {top: _called(bones, top, kinds) for top in kinds}
    names: dict[int, str] = {}
    for kind in ("leg", "arm", "wing", "fin", "ear"):
        rows = {s: [t for t in kinds if called[t] == kind and side[t] == s] for s in (1, -1)}
        count = max(len(row) for row in rows.values())
        for s, row in rows.items():
            word = "left" if s == 1 else "right"
            row.sort(key=lambda top: (float(_foot(bones, top)[1]), float(bones.heads[top, 1])))
            for i, top in enumerate(row):
                names[top] = _place_word(kind, i, count).format(side=word, kind=kind)
    return names


def _called(bones: Bones, top: int, kinds: dict[int, str]) -> str:
    """The kind as a word: the wings of swimmers are fins, by name or because they are short and there are no legs."""
    if kinds[top] != "wing":
        return kinds[top]
    short = "leg" not in kinds.values() and bones.length(top) < LONG * bones.size
    return "fin" if short or named([bones.names[b] for b in bones.subtree(top)], "fin") else "wing"


def _foot(bones: Bones, top: int) -> Array:
    """(3,) lowest point of a limb."""
    points = bones.points(top)
    return np.asarray(points[points[:, 2].argmin()])


def _place_word(kind: str, index: int, count: int) -> str:
    places = {1: [""], 2: ["front", "back"], 3: ["front", "mid", "back"], 4: ["front", "mid_front", "mid_back", "back"]}
    if count not in places or (kind != "leg" and count > 1):
        return f"{{side}}_{{kind}}_{index + 1}"
    prefix = places[count][index]
    return f"{prefix}_{{side}}_{{kind}}" if prefix else "{side}_{kind}"
