"""How well a skin holds in a pose: torn seams, stretched faces, vertices that no bone moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SAME = 1e-4  # of the body: vertices nearer than this at rest are one
TORN = 5e-3  # of the body: such vertices farther apart than this in the pose have torn
STRETCHED = 2.5  # times its length at rest: an edge longer than this is stretched
SHORT = 0.01  # of the body: edges are measured against at least this length, so that slivers do not count
BARE = 0.5  # summed weight: a vertex with less is moved by no bone
FEW = 0.01  # of the edges or vertices: up to this is well


@dataclass(frozen=True, eq=False)
class SkinQuality:
    """What a pose does to a skin.

    Attributes:
        stretch: (V,) of the worst edge at each vertex, posed length over length at rest.
        torn: (V,) whether a vertex has left the others at its place; bare: (V,) whether no bone moves it.
        stretched: share of the edges.
    """

    stretch: Array
    torn: NDArray[np.bool_]
    bare: NDArray[np.bool_]
    stretched: float

    def findings(self) -> list[str]:
        """Sentences for the artist; none where the skin is well."""
        found = []
        if self.bare.any():
            found.append(
                f"{int(self.bare.sum())} vertices follow no bone: they stay behind when the creature moves. Weight "
                "them, or build the skin anew with weights=proxy."
            )
        if self.torn.any():
            found.append(
                f"{int(self.torn.sum())} vertices tear away from others at the same place. Merge vertices by distance "
                "in the mesh, or give them the same weights."
            )
        if self.stretched > FEW:
            found.append(
                f"{100 * self.stretched:.1f} % of the edges grow to more than {STRETCHED:g} times their length in the "
                "test pose. Look at the red places: a joint may lie outside its limb, or a limb touch another."
            )
        return found


def skin_quality(rest: Array, posed: Array, triangles: NDArray[np.int64], weight: Array) -> SkinQuality:
    """Compare a pose with rest.

    Args:
        rest, posed: (V, 3) metres; triangles: (T, 3); weight: (V,) sum of each vertex's weights before they are
            normalised.
    """
    size = float(np.ptp(rest, axis=0).max())
    edges = np.unique(
        np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), 1), axis=0
    )
    before = np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    after = np.linalg.norm(posed[edges[:, 0]] - posed[edges[:, 1]], axis=1)
    floor = SHORT * size
    ratio = np.maximum(after, floor) / np.maximum(before, floor)
    stretch = np.ones(len(rest))
    for end in range(2):
        np.maximum.at(stretch, edges[:, end], ratio)
    return SkinQuality(stretch, _torn(rest, posed, size), weight < BARE, float((ratio > STRETCHED).mean()))


def _torn(rest: Array, posed: Array, size: float) -> NDArray[np.bool_]:
    """(V,) vertices whose place in the pose is not that of the others at their place at rest."""
    _, place = np.unique(np.rint(rest / (SAME * size)).astype(np.int64), axis=0, return_inverse=True)
    place = place.ravel()
    low, high = (np.full((place.max() + 1, 3), value) for value in (np.inf, -np.inf))
    np.minimum.at(low, place, posed)
    np.maximum.at(high, place, posed)
    return np.asarray(np.linalg.norm(high - low, axis=1)[place] > TORN * size)
