"""Which bones of an armature move the creature, and in which hierarchy they are captured.

Control bones are left out. Feet that animators hang on the armature's root as IK targets are put back on the leg
whose end they sit on, and armatures without one root get one; both are decided by rest geometry, not by names.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .errors import BadInputError

Array = NDArray[np.float64]

STRAY = 0.02  # of all weight: a bone at the top with less of it is a control bone with stray weights
TIP_REACH = 0.2  # of the body: how far from the skin of a leg's last bone its foot may begin
TIP_SHARE = 0.6  # of that skin's extent: a foot begins beyond this
STRAIGHT = 0.7  # cosine: a foot may also lie this straight on from the last two joints of the leg
RIVAL = 0.1  # of the heaviest root's weight: with less than this a parentless bone is no candidate for the root
_MIDDLE = 0.02  # of the body: nearer to the mid-plane counts as on it


@dataclass(frozen=True)
class ArmatureBones:
    """All bones of an armature at rest in prep space.

    Attributes:
        names: N names; parents: (N,) parent index, -1 for none; parents before children.
        heads, tails: (N, 3) metres.
        mass: (N,) sum of the skin weights of each bone.
        skin: N arrays (n, 3): vertices that mostly follow the bone, metres.
        size: largest extent of the mesh, metres.
    """

    names: tuple[str, ...]
    parents: NDArray[np.int64]
    heads: Array
    tails: Array
    mass: Array
    skin: tuple[Array, ...]
    size: float


@dataclass
class CaptureTree:
    """Bones of the capture skeleton, parents before children.

    Attributes:
        order: indices into ArmatureBones; parent: captured index -> index of its capture parent, -1 for the root.
        moved: bones that were re-parented; folded: weighted bones above the root that are left out.
    """

    order: list[int] = field(default_factory=list)
    parent: dict[int, int] = field(default_factory=dict)
    moved: list[int] = field(default_factory=list)
    folded: list[int] = field(default_factory=list)


class _Forest:
    """Children and weights below each bone, for the search."""

    def __init__(self, bones: ArmatureBones) -> None:
        self.bones = bones
        count = len(bones.names)
        self.children: list[list[int]] = [[] for _ in range(count)]
        self.below = bones.mass.astype(float).copy()
        for b in reversed(range(count)):
            if bones.parents[b] >= 0:
                self.children[bones.parents[b]].insert(0, b)
                self.below[bones.parents[b]] += self.below[b]

    def heavy_children(self, bone: int) -> list[int]:
        return [c for c in self.children[bone] if self.below[c] > 0]

    def heavy_subtree(self, bone: int) -> list[int]:
        found = [bone]
        for child in self.heavy_children(bone):
            found += self.heavy_subtree(child)
        return found

    def tops(self, bone: int) -> list[int]:
        """The highest weighted bones of a subtree of controls."""
        if self.bones.mass[bone] > 0:
            return [bone]
        return [top for child in self.heavy_children(bone) for top in self.tops(child)]

    def leaves(self, bone: int) -> list[int]:
        return [b for b in self.heavy_subtree(bone) if not self.heavy_children(b)]


def find_capture_tree(bones: ArmatureBones) -> CaptureTree:
    """The capture skeleton of an armature.

    Raises:
        BadInputError: no bone moves any vertex.
    """
    if not (bones.mass > 0).any():
        raise BadInputError(
            "No bone of the armature moves any vertex.", hint="Bind the mesh to the armature, or use mode=build."
        )
    forest = _Forest(bones)
    roots = [r for r in range(len(bones.names)) if bones.parents[r] < 0 and forest.below[r] > 0]
    root = _main_root(forest, roots)
    loose = [top for r in roots if r != root for top in forest.tops(r)]
    root, hosts, folded = _descend(forest, root)
    _attach(forest, root, loose, hosts)
    tree = CaptureTree(moved=sorted(hosts), folded=folded)
    _collect(forest, root, -1, hosts, tree)
    return tree


def _main_root(forest: _Forest, roots: list[int]) -> int:
    """The parentless bone that the others lie nearest to, among those that carry much of the weight."""
    heaviest = max(forest.below[r] for r in roots)
    rivals = [r for r in roots if forest.below[r] >= RIVAL * heaviest]
    if len(rivals) == 1:
        return rivals[0]
    heads = forest.bones.heads
    return min(rivals, key=lambda r: sum(_distance(forest, r, heads[other]) for other in rivals if other != r))


def _distance(forest: _Forest, bone: int, point: Array) -> float:
    """From a point to a bone: the nearest of its tail and the lines to its children, metres."""
    heads, tails = forest.bones.heads, forest.bones.tails
    ends = np.stack([tails[bone], *(heads[c] for c in forest.children[bone])])
    way = ends - heads[bone]
    share = ((point - heads[bone]) * way).sum(1) / np.maximum((way * way).sum(1), 1e-18)
    nearest = heads[bone] + np.clip(share, 0.0, 1.0)[:, None] * way
    return float(np.linalg.norm(nearest - point, axis=1).min())


def _descend(forest: _Forest, root: int) -> tuple[int, dict[int, int], list[int]]:
    """From the armature's root down to the first bone that is part of the body.

    Returns:
        That bone, the feet found on the way with the bones they belong to, and weighted bones passed by.
    """
    bones = forest.bones
    hosts: dict[int, int] = {}
    folded: list[int] = []
    while bones.mass[root] < STRAY * bones.mass.sum():
        kids = forest.heavy_children(root)
        if not kids:
            break
        main = max(kids, key=lambda c: float(forest.below[c]))
        feet: dict[int, int | None] = {
            top: tip_host(forest, top, main) for kid in kids if kid != main for top in forest.tops(kid)
        }
        hosts.update({top: host for top, host in feet.items() if host is not None})
        if any(host is None for host in feet.values()):
            break
        folded += [root] if bones.mass[root] > 0 else []
        root = main
    return root, hosts, folded


def tip_host(forest: _Forest, foot: int, main: int) -> int | None:
    """The last bone of a chain below `main` on whose far end `foot` sits, or None."""
    bones = forest.bones
    head = bones.heads[foot]
    best: tuple[float, int | None] = (TIP_REACH * bones.size, None)
    for leaf in forest.leaves(main):
        skin = bones.skin[leaf]
        if not len(skin):
            continue
        middle = skin.mean(0)
        if abs(head[0]) > _MIDDLE * bones.size and head[0] * middle[0] <= abs(middle[0]) * _MIDDLE * bones.size:
            continue  # not on the same side
        if abs(head[0]) > _MIDDLE * bones.size and abs(middle[0]) < _MIDDLE * bones.size:
            continue  # a foot at the side is not the end of a chain in the middle
        if not _beyond(bones, leaf, head):
            continue
        gap = float(np.linalg.norm(skin - head, axis=1).min())
        if gap < best[0]:
            best = (gap, leaf)
    return best[1]


def _beyond(bones: ArmatureBones, leaf: int, point: Array) -> bool:
    """True when `point` lies past the far end of a leaf's skin, or straight on in the direction of its chain."""
    skin, start = bones.skin[leaf], bones.heads[leaf]
    step = point - start
    way = skin.mean(0) - start
    way = way / max(float(np.linalg.norm(way)), 1e-12)
    reach = float(((skin - start) @ way).max())
    if float(step @ way) >= TIP_SHARE * reach:
        return True
    parent = int(bones.parents[leaf])
    if parent < 0:
        return False
    chain = start - bones.heads[parent]
    lengths = float(np.linalg.norm(step) * np.linalg.norm(chain))
    return bool(step @ chain > STRAIGHT * lengths)


def _attach(forest: _Forest, root: int, loose: list[int], hosts: dict[int, int]) -> None:
    """Give each loose subtree a host: the chain whose end it sits on, else the nearest bone, nearest subtree first."""
    for top in list(loose):
        host = tip_host(forest, top, root)
        if host is not None:
            hosts[top] = host
            loose.remove(top)
    members = forest.heavy_subtree(root)
    while loose:
        _, top, host = min((_distance(forest, b, forest.bones.heads[top]), top, b) for top in loose for b in members)
        hosts[top] = host
        loose.remove(top)
        members += forest.heavy_subtree(top)


def _collect(forest: _Forest, bone: int, parent: int, hosts: dict[int, int], tree: CaptureTree) -> None:
    """Pre-order walk; re-parented subtrees come after a bone's own children."""
    tree.order.append(bone)
    tree.parent[bone] = parent
    own = [c for c in forest.heavy_children(bone) if c not in hosts]
    for child in own + [top for top, host in hosts.items() if host == bone]:
        _collect(forest, child, bone, hosts, tree)
