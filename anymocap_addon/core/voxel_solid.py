"""A surface as a solid of voxels: inside and skin together, with distances that run within the body.

Holes, flipped faces and loose pieces, all common in generated meshes, do not matter: a body with a hole is a thick
shell, whose middle lies where the solid's would.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .errors import BadInputError

Array = NDArray[np.float64]
Cells = NDArray[np.int64]

CELLS = 88  # along the body's largest extent
REACHED = 0.97  # of the cells that must hang together; else gaps are bridged
BRIDGES = 3  # cells, at most
MOST_PARTS = 600  # of a triangle's edge
_STEPS = np.array([s for s in product((-1, 0, 1), repeat=3) if any(s)])
_LENGTHS = np.linalg.norm(_STEPS, axis=1)


@dataclass(frozen=True, eq=False)
class VoxelSolid:
    """The connected cells of a body.

    Attributes:
        centres: (N, 3) middles of the cells, metres.
        cell: edge of a cell, metres.
        depth: (N,) how many layers of cells lie around each; 0 at the skin.
        neighbours: (N, 26) indices of the cells around, N where there is none.
    """

    centres: Array
    cell: float
    depth: NDArray[np.int64]
    neighbours: Cells

    def distances(self, seeds: Cells, allowed: NDArray[np.bool_] | None = None) -> Array:
        """(N,) length of the way from the nearest of `seeds` within the `allowed` cells, metres; inf beyond reach."""
        count = len(self.centres)
        usable = np.ones(count, bool) if allowed is None else allowed
        far = np.full(count + 1, np.inf)
        far[seeds] = 0.0
        rows = np.flatnonzero(usable)
        around = self.neighbours[rows]
        while True:
            best = np.minimum(far[rows], (far[around] + _LENGTHS).min(1))
            if np.array_equal(best, far[rows]):
                return far[:count] * self.cell
            far[rows] = best


def voxel_solid(points: Array, triangles: Cells) -> VoxelSolid:
    """The solid of a surface.

    Args:
        points: (V, 3) metres; triangles: (T, 3) indices of points.

    Raises:
        BadInputError: no faces, or a surface without extent.
    """
    if not len(points) or not len(triangles):
        raise BadInputError("The mesh has no faces.", key="mesh", hint="Choose a mesh with a surface.")
    low, high = points.min(0), points.max(0)
    cell = float((high - low).max()) / CELLS
    if not cell > 0 or not np.isfinite(cell):
        raise BadInputError("The mesh has no extent.", key="mesh", hint="Choose a mesh with a surface.")
    origin = low - (BRIDGES + 1.5) * cell
    shape = np.ceil((high - low) / cell).astype(int) + 2 * BRIDGES + 4
    skin = np.zeros(shape, bool)
    samples = np.concatenate([points[triangles].reshape(-1, 3), sampled_surface(points, triangles, cell / 2)[0]])
    skin[tuple(np.floor((samples - origin) / cell).astype(int).T)] = True
    for _ in range(BRIDGES + 1):
        solid = ~_outside(skin)
        cells = np.argwhere(solid)
        neighbours = _neighbours(solid, cells)
        kept = _largest_piece(neighbours)
        if kept.mean() >= REACHED:
            break
        skin = _grown(skin)
    renumber = np.full(len(cells) + 1, int(kept.sum()))
    renumber[:-1][kept] = np.arange(int(kept.sum()))
    depth = _depth(solid)[tuple(cells[kept].T)]
    return VoxelSolid(origin + (cells[kept] + 0.5) * cell, cell, depth, renumber[neighbours[kept]])


def sampled_surface(points: Array, triangles: Cells, spacing: float) -> tuple[Array, Cells, Array]:
    """Points on the surface, at most about `spacing` metres apart: in rows along each triangle's longest side, so that
    a sliver takes as many as its area needs.

    Returns:
        (S, 3) places, metres; (S,) the triangle that each lies on; (S, 3) shares of its corners.
    """
    corners = points[triangles]
    sides = corners - np.roll(corners, 1, axis=1)  # the k-th ends at corner k
    lengths = np.linalg.norm(sides, axis=2)
    last = lengths.argmax(1)
    longest = lengths.max(1)
    area = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2
    height = 2 * area / np.maximum(longest, 1e-12)
    parts = np.clip(np.ceil(np.stack([longest, height], 1) / spacing).astype(int), 1, MOST_PARTS)
    places, owners, shares = [], [], []
    for along, across in np.unique(parts, axis=0):
        rows = np.flatnonzero((parts == (along, across)).all(1))
        t, up = (w.ravel() for w in np.mgrid[0 : along + 1, 0 : across + 1] / np.array([along, across])[:, None, None])
        of_row = np.stack([(1 - up) * (1 - t), (1 - up) * t, up], 1)  # start and end of the longest side, and its top
        order = (last[rows][:, None] + np.array([-1, 0, 1])) % 3
        weights = np.empty((len(rows), len(of_row), 3))
        np.put_along_axis(weights, np.repeat(order[:, None], len(of_row), 1), np.repeat(of_row[None], len(rows), 0), 2)
        places.append(np.einsum("tkw,twx->tkx", weights, corners[rows]).reshape(-1, 3))
        owners.append(np.repeat(rows, len(of_row)))
        shares.append(weights.reshape(-1, 3))
    return np.concatenate(places), np.concatenate(owners), np.concatenate(shares)


def _grown(cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """`cells` and their six neighbours each; the grid's border stays empty."""
    grown = cells.copy()
    for axis in range(3):
        ahead, behind = [slice(None)] * 3, [slice(None)] * 3
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        grown[tuple(ahead)] |= cells[tuple(behind)]
        grown[tuple(behind)] |= cells[tuple(ahead)]
    return grown


def _outside(skin: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Cells that are reached from the grid's corner without crossing the skin."""
    reached = np.zeros_like(skin)
    reached[0, 0, 0] = True
    while True:
        grown = _grown(reached) & ~skin
        if np.array_equal(grown, reached):
            return reached
        reached = grown


def _depth(solid: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Layers of cells around each cell."""
    depth = np.zeros(solid.shape, np.int64)
    outside = _grown(~solid)
    while not outside.all():
        depth += ~outside
        outside = _grown(outside)
    return depth


def _neighbours(solid: NDArray[np.bool_], cells: Cells) -> Cells:
    """(N, 26) indices of the cells around each; N where there is none."""
    number = np.full(solid.shape, len(cells), np.int64)
    number[tuple(cells.T)] = np.arange(len(cells))
    return np.stack([number[tuple((cells + step).T)] for step in _STEPS], 1)


def _largest_piece(neighbours: Cells) -> NDArray[np.bool_]:
    """(N,) whether a cell belongs to the largest connected piece."""
    count = len(neighbours)
    label = np.append(np.arange(count), count)
    while True:
        best = np.minimum(label[:count], np.where(neighbours < count, label[neighbours], count).min(1))
        best = label[best]  # jump: labels travel along labels, not cell by cell
        if np.array_equal(best, label[:count]):
            break
        label[:count] = best
    names, sizes = np.unique(label[:count], return_counts=True)
    return np.asarray(label[:count] == names[sizes.argmax()])
