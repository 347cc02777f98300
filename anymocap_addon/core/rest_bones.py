"""A skeleton at rest, as the search for body parts sees it.

Space: prep space, metres, the creature faces -Y, its left is +X, the ground is z = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

MIDDLE = 0.02  # of the body's largest extent: nearer to the mid-plane than this is on it
LEG_REACH = 0.15  # of the height: a leg's lowest point lies below this ...
LEG_DROP = 0.25  # ... and at least this much below its top
STUMP_DROP = 0.1  # a short leg drops at least so much of the height ...
UPRIGHT = 0.8  # ... and so much of its own length
FLAT = 0.3  # thickness over breadth of the skin of a wing
LONG = 0.2  # of the largest extent: limbs longer than this are no ears
SMALL = 0.06  # of the largest extent: limbs shorter than this are details (fingers of a face, fangs)
PAIR_MISS = 0.04  # of the largest extent: how far a mirrored partner may be off


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
        """Bones that hang directly on `bone`."""
        return [int(c) for c in np.flatnonzero(self.parents == bone)]

    def subtree(self, bone: int) -> list[int]:
        """`bone` and all below it, parents before children."""
        found = {bone}
        for other in range(bone + 1, len(self.names)):
            if int(self.parents[other]) in found:
                found.add(other)
        return sorted(found)

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

    def length(self, top: int) -> float:
        """From the head of a limb to its farthest point, metres."""
        return float(np.linalg.norm(self.points(top) - self.heads[top], axis=1).max())

    def drop(self, top: int) -> float:
        """How far a limb's lowest point lies below its head, metres."""
        return float(self.heads[top, 2] - self.points(top)[:, 2].min())

    def is_near_ground(self, top: int) -> bool:
        """True for a limb whose lowest point lies on the ground at rest, or nearly."""
        return bool(self.points(top)[:, 2].min() - self.low[2] < LEG_REACH * (self.high[2] - self.low[2]))

    def reaches_ground(self, top: int) -> bool:
        """True for a limb that stands on the ground at rest."""
        z = self.points(top)[:, 2]
        height = self.high[2] - self.low[2]
        low_enough = self.is_near_ground(top)
        stump = self.drop(top) > max(STUMP_DROP * height, UPRIGHT * self.length(top))
        return bool(low_enough and (z.max() - z.min() > LEG_DROP * height or stump))

    def limb_flatness(self, top: int) -> float:
        """Median flatness over the limb's bones whose skin is known; 1 where none is."""
        known = [float(self.flatness[b]) for b in self.subtree(top) if self.flatness[b] < 1.0]
        return float(np.median(known)) if known else 1.0

    def is_flat(self, top: int) -> bool:
        """True for a limb with the skin of a wing or a fin."""
        return self.limb_flatness(top) < FLAT
