"""The line through a body's middle, from the end of the tail (or the hips) to the head, and places on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .extremities import STEP, Extremity
from .voxel_solid import VoxelSolid

Array = NDArray[np.float64]

NEAR = 0.04  # of the body: nearer to the mid-plane than this is on it


@dataclass(frozen=True, eq=False)
class Midline:
    """A line on the mid-plane.

    Attributes:
        points: (K, 3) from tail or hips to head, metres; arc: (K,) length from the start, metres.
        above: (K,) height of the back above the line, metres; depth: (K,) thickness, cells.
    """

    points: Array
    arc: Array
    above: Array
    depth: Array

    @property
    def length(self) -> float:
        return float(self.arc[-1])

    def at(self, arc: float, lift: float = 0.0) -> Array:
        """(3,) the place `arc` metres along, `lift` of the way up to the back."""
        place = np.array([np.interp(arc, self.arc, self.points[:, axis]) for axis in range(3)])
        place[2] += lift * float(np.interp(arc, self.arc, self.above))
        return place

    def nearest(self, place: Array) -> float:
        """Length along the line at which it comes nearest to `place` (3,), looked at from the side."""
        fine = np.linspace(0.0, self.length, 400)
        line = np.stack([np.interp(fine, self.arc, self.points[:, axis]) for axis in (1, 2)], 1)
        return float(fine[np.linalg.norm(line - place[1:], axis=1).argmin()])


def central(limb: Extremity, size: float) -> bool:
    """Whether a limb lies on the mid-plane."""
    return bool(abs(limb.tip[0]) < NEAR * size and abs(limb.way[:, 0].mean()) < NEAR * size)


def find_midline(solid: VoxelSolid, limbs: list[Extremity], upright: bool) -> Midline:
    """The middle of the body without its limbs.

    Args:
        limbs: all extremities; of those on the mid-plane head and tail stay.
        upright: the head is the top of the body, else what is foremost.
    """
    size = float(np.ptp(solid.centres, axis=0).max())
    trunk = np.ones(len(solid.centres), bool)
    for limb in limbs:
        if not central(limb, size):
            trunk[limb.cells] = False
    middle = np.abs(solid.centres[:, 0]) < NEAR * size
    score = solid.centres[:, 2] if upright else -solid.centres[:, 1]
    thick = trunk & middle & (solid.depth >= 1)  # not the tongue or a crest
    head = int(np.argmax(np.where(thick if thick.any() else trunk & middle, score, -np.inf)))
    reach = solid.distances(np.array([head]), trunk)
    reach[~np.isfinite(reach)] = -1.0
    end = int(np.argmax(np.where(middle, reach, -1.0)))
    for limb in limbs:  # fins of the back and the like: on the mid-plane, but neither head nor tail
        if central(limb, size) and not np.isin([head, end], limb.cells).any():
            trunk[limb.cells] = False
    cells = np.flatnonzero(trunk & (reach >= 0.0))
    return _line(solid, cells, reach, head, end)


def _line(solid: VoxelSolid, cells: NDArray[np.int64], reach: Array, head: int, end: int) -> Midline:
    """Middles of the slices of equal distance from the head, turned round: tail first."""
    slice_of = np.floor(reach[cells] / (2 * STEP * solid.cell)).astype(int)
    points, above, depth = [], [], []
    for k in range(int(np.floor(reach[end] / (2 * STEP * solid.cell))), -1, -1):
        members = cells[slice_of == k]
        if not len(members):
            continue
        place = solid.centres[members].mean(0)
        points.append(place)
        above.append(float(solid.centres[members, 2].max() - place[2]))
        depth.append(float(solid.depth[members].max() + 1))
    line = np.array([solid.centres[end], *points[1:-1], solid.centres[head]])
    line[:, 0] = 0.0
    for _ in range(2):
        line[1:-1] = (line[:-2] + 2 * line[1:-1] + line[2:]) / 4
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    return Midline(line, arc, np.array([0.0, *above[1:-1], 0.0]), np.array(depth))
