"""Roles of the bones on the mid-plane: where the spine ends and the neck begins, which chains are the tail."""

from __future__ import annotations

import numpy as np

from .rest_bones import LONG, SMALL, Array, Bones
from .role_words import named

RoleParts = tuple[dict[int, str], dict[int, str]]
PEDUNCLE = 0.6  # of a fish's length from the snout: bones that begin further back are its tail


def axial_roles(bones: Bones, axial: list[int], limbs: list[int]) -> tuple[RoleParts, list[int], int]:
    """Roles of the axial bones.

    Args:
        axial: bones on the mid-plane; limbs: topmost bones of what hangs at the sides.

    Returns:
        Role and part of each axial bone, the path from the root to the head, and its last spine bone's index in it.
    """
    path = head_path(bones, axial)
    carriers = _carriers(bones, limbs, path)
    last = _spine_end(bones, path, limbs, carriers)
    role: dict[int, str] = {}
    part: dict[int, str] = {}
    for i, b in enumerate(path):
        role[b] = "root" if i == 0 else "spine" if i <= last else "neck" if i < len(path) - 1 else "head"
        part[b] = "spine" if i <= last else "head"
    fishlike = not any(bones.reaches_ground(top) or bones.length(top) > LONG * bones.size for top in limbs)
    for b in axial:
        if b not in role:
            role[b], part[b] = _branch_role(bones, b, role, part, path, carriers, fishlike)
    return (role, part), path, last


def head_path(bones: Bones, axial: list[int]) -> list[int]:
    """From the root to the head: the root alone where it is itself the foremost bone (a fish led by its head)."""
    leaves = [b for b in axial if not any(c in axial for c in bones.children(b))]
    best = leaves[int(np.argmax([_headness(bones, b) for b in leaves]))]
    path = bones.path(best)
    called = [i for i, b in enumerate(path) if named([bones.names[b]], "head")]
    if called:
        return path[: called[-1] + 1]
    way = bones.tips[best] - bones.heads[0]
    return path[:1] if way[1] > max(abs(way[2]), SMALL * bones.size) else path


def _headness(bones: Bones, leaf: int) -> float:
    """How much the way from the root to this leaf's tip leads forward and up; names decide where they speak."""
    way = bones.tips[leaf] - bones.heads[0]
    names = [bones.names[b] for b in bones.path(leaf)]
    bonus = 2.0 * bones.size * (named(names, "head") - named(names, "tail"))
    return float(-way[1] + way[2] + bonus)


def place_on(bones: Bones, top: int, path: list[int]) -> int:
    """Index of the last bone of `path` from which the limb hangs, directly or through other bones."""
    hung = bones.path(top)
    return max(i for i, b in enumerate(path) if b in hung)


def _carriers(bones: Bones, limbs: list[int], path: list[int]) -> list[int]:
    """Limbs that make the bone they hang on spine: all but ears, horns, brows and other details of a head."""
    members = {top: [bones.names[b] for b in bones.subtree(top)] for top in limbs}
    body = [top for top in limbs if not named(members[top], "ear") and not named(members[top], "detail")]
    carriers = [t for t in body if bones.reaches_ground(t) or bones.length(t) > LONG * bones.size]
    carriers = [t for t in carriers if not _stands_on_the_head(bones, t, path)]
    behind = max((place_on(bones, top, path) for top in carriers), default=-1)
    return carriers + [t for t in body if t not in carriers and not _is_ear_like(bones, t, path, behind)]


def _stands_on_the_head(bones: Bones, top: int, path: list[int]) -> bool:
    """True for a limb that points up from the path's last bone: an ear or a horn, however long."""
    up = bones.points(top)[:, 2].mean() > bones.heads[top, 2]
    return len(path) > 1 and place_on(bones, top, path) == len(path) - 1 and bool(up)


def _is_ear_like(bones: Bones, top: int, path: list[int], behind: int) -> bool:
    """True for ears, horns, fangs: small, and pointing up beyond all carrying limbs or at the head's last bone."""
    if bones.length(top) < SMALL * bones.size:
        return True
    place = place_on(bones, top, path)
    up = bones.points(top)[:, 2].mean() > bones.heads[top, 2]
    return place > behind and (bool(up) or place == len(path) - 1)


def _spine_end(bones: Bones, path: list[int], limbs: list[int], carriers: list[int]) -> int:
    """Index in `path` of the last spine bone: that of the last limb, moved by what names say; never the head."""
    most = max(0, len(path) - 2)
    carrying = [_spine_place(bones, top, path) for top in carriers]
    last = max([most // 2 if carriers else 0, *carrying, 0 if limbs else len(path) - 3])
    last = min(last, most)
    hung = max([place_on(bones, top, path) for top in carriers], default=0)
    neck = [i for i, b in enumerate(path) if i > hung and named([bones.names[b]], "neck")]
    if neck:
        return min(neck[0] - 1, most)
    while last < most and named([bones.names[path[last + 1]]], "spine"):
        last += 1
    return last


def _spine_place(bones: Bones, top: int, path: list[int]) -> int:
    """Index of the path's bone that a limb belongs to: the one it hangs on, or the nearest if that lies further on."""
    hung = place_on(bones, top, path)
    gaps = [_gap(bones, path, i, bones.heads[top]) for i in range(len(path))]
    nearest = int(np.argmin(gaps[:-1])) if len(gaps) > 1 else 0
    return nearest if nearest > hung + 1 else hung


def _gap(bones: Bones, path: list[int], index: int, point: Array) -> float:
    """From `point` to the path's bone, measured in the mid-plane, metres."""
    start = bones.heads[path[index]][1:]
    end = (bones.heads[path[index + 1]] if index + 1 < len(path) else bones.tips[path[index]])[1:]
    way = end - start
    share = float(np.clip((point[1:] - start) @ way / max(float(way @ way), 1e-18), 0.0, 1.0))
    return float(np.linalg.norm(start + share * way - point[1:]))


def _branch_role(
    bones: Bones,
    bone: int,
    role: dict[int, str],
    part: dict[int, str],
    path: list[int],
    carriers: list[int],
    fishlike: bool,
) -> tuple[str, str]:
    """Role and part of an axial bone beside the path to the head; those of its parent are known."""
    name, parent = [bones.names[bone]], int(bones.parents[bone])
    if named(name, "jaw") and not named(name, "upper"):
        return "jaw", "head"
    if named(name, "face"):
        return "head", "head"
    if named(name, "tail"):
        return "tail", "tail"
    if role[parent] in ("neck", "head", "tail", "jaw"):
        return ("head" if role[parent] == "jaw" else role[parent]), part[parent]
    below = set(bones.subtree(bone))
    if any(int(bones.parents[top]) in below for top in carriers):
        return "spine", "spine"
    behind = bones.low[1] + PEDUNCLE * (bones.high[1] - bones.low[1])
    if fishlike and bones.heads[bone, 1] < behind:
        return "spine", "spine"
    return ("tail", "tail") if _leads_away(bones, bone, path) else ("spine", "spine")


def _leads_away(bones: Bones, bone: int, path: list[int]) -> bool:
    """True for a chain that goes backwards, or away from the head where the body stands or rears."""
    points = bones.points(bone) - bones.heads[0]
    enough = SMALL * bones.size
    if points[:, 1].max() > enough:
        return True
    ahead = bones.tips[path[-1]] - bones.heads[0]
    ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-12)
    return bool((points @ ahead).min() < -enough and (points @ ahead).max() < enough)
