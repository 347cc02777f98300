"""The extremities of a body: legs, wings, tail, ears, muzzle, found from the distances within it.

From a seed in the trunk the distance through the body rises towards the end of every limb. Its local maxima are the
tips; going down from a tip, the limb ends where its piece meets another limb's: the merge tree of the distance, with
bumps of little height left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .voxel_solid import VoxelSolid

Array = NDArray[np.float64]

LEAST = 0.07  # of the body: what stands out less is a bump
STEP = 1.5  # cells between two points of a centre line


@dataclass(frozen=True, eq=False)
class Extremity:
    """One limb of the merge tree.

    Attributes:
        tip: (3,) its far end, metres.
        way: (K, 3) its centre line from the body to the tip, metres.
        cells: (M,) indices of its cells in the solid.
        height: how far it stands out, metres.
    """

    tip: Array
    way: Array
    cells: NDArray[np.int64]
    height: float

    @property
    def base(self) -> Array:
        """(3,) where it leaves the body."""
        return np.asarray(self.way[0])


def trunk_seed(solid: VoxelSolid) -> int:
    """The cell from which distances are measured: deep in the body and near its middle, close to the mid-plane."""
    middle = np.median(solid.centres, axis=0) * [0.0, 1.0, 1.0]
    size = float(np.ptp(solid.centres, axis=0).max())
    away = np.linalg.norm(solid.centres - middle, axis=1) / size
    lateral = np.abs(solid.centres[:, 0]) / size
    return int(np.argmax(solid.depth / max(int(solid.depth.max()), 1) - 2.0 * away - 2.0 * lateral))


def find_extremities(solid: VoxelSolid) -> list[Extremity]:
    """All limbs that stand out by at least `LEAST` of the body, the longest first."""
    distance = solid.distances(np.array([trunk_seed(solid)]))
    least = LEAST * float(np.ptp(solid.centres, axis=0).max())
    found = []
    for peak, saddle, cells in _branches(distance, solid.neighbours, least):
        way = centre_line(solid, np.array(cells), distance)
        found.append(
            Extremity(solid.centres[peak], way, np.array(cells, np.int64), float(distance[peak] - distance[saddle]))
        )
    return sorted(found, key=lambda limb: -limb.height)


def _branches(height: Array, neighbours: NDArray[np.int64], least: float) -> list[tuple[int, int, list[int]]]:
    """(peak, saddle, cells) of each branch of the merge tree that is at least `least` high, cut at its first fork."""
    count = len(height)
    owner = np.full(count + 1, -1)  # piece that a cell was given to
    parent: list[int] = []  # of pieces
    peak: list[int] = []
    cells: list[list[int]] = []
    open_: list[bool] = []  # still one limb, not yet a part of the trunk
    done: list[tuple[int, int, list[int]]] = []

    def root(piece: int) -> int:
        while parent[piece] != piece:
            parent[piece] = parent[parent[piece]]
            piece = parent[piece]
        return piece

    for cell in np.argsort(-height, kind="stable"):
        near = neighbours[cell]
        pieces = sorted({root(int(p)) for p in owner[near] if p >= 0}, key=lambda p: -height[peak[p]])
        if not pieces:
            owner[cell] = len(parent)
            parent.append(len(parent))
            peak.append(int(cell))
            cells.append([int(cell)])
            open_.append(True)
            continue
        first = pieces[0]
        for other in pieces[1:]:
            tall = height[peak[other]] - height[cell] >= least
            if tall:
                for piece in (first, other):
                    if open_[piece]:
                        done.append((peak[piece], int(cell), cells[piece]))
                        open_[piece] = False
                cells[first] = []
            elif open_[first]:
                cells[first] = cells[first] + cells[other] if open_[other] else cells[first]
            parent[other] = first
        owner[cell] = first
        if open_[first]:
            cells[first].append(int(cell))
    return done


def centre_line(solid: VoxelSolid, cells: NDArray[np.int64], distance: Array) -> Array:
    """(K, 3) middles of the slices of equal distance through `cells`, nearest slice first, smoothed; metres."""
    level = distance[cells]
    slice_of = np.floor((level - level.min()) / (STEP * solid.cell)).astype(int)
    count = np.bincount(slice_of)
    sums = np.stack([np.bincount(slice_of, solid.centres[cells, axis]) for axis in range(3)], 1)
    line = sums[count > 0] / count[count > 0, None]
    if len(line) > 2:
        smooth = line.copy()
        smooth[1:-1] = (line[:-2] + 2 * line[1:-1] + line[2:]) / 4
        line = smooth
    return np.asarray(line)
