"""The picture that asks for facing: the creature from above and from its side, with an arrow where it is taken to look.

Points of the surface are drawn nearest last, shaded by their normals: quick, and the same on every machine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

SIDE = 360  # px of each of the two squares
_FILL = 0.68  # of a square
_GROUND = (128, 130, 134)
_LINE = (152, 154, 158)
_SKIN = np.array([226.0, 214.0, 196.0])
_ARROW = (255, 96, 32)
_LIGHT = np.array([0.35, -0.45, 0.82])


def draw_facing(points: Array, normals: Array) -> Picture:
    """(SIDE, 2 SIDE, 3) RGB: from above with the arrow pointing down, and from the right flank, head to the right.

    Args:
        points: (N, 3) of the surface in prep's axes: z up, as set it faces -Y.
        normals: (N, 3) unit.
    """
    low, high = points.min(0), points.max(0)
    scale = _FILL * SIDE / max(float((high - low).max()), 1e-12)
    middle = (low + high) / 2
    centred = (points - middle) * scale
    shade = 0.35 + 0.65 * np.abs(normals @ (_LIGHT / np.linalg.norm(_LIGHT)))
    colours = np.clip(_SKIN * shade[:, None], 0, 255).astype(np.uint8)
    above = _view(centred[:, 0], centred[:, 1], centred[:, 2], colours)
    side = _view(-centred[:, 1], centred[:, 2], -centred[:, 0], colours)
    half = (high - low) * scale / 2
    _arrow(above, (SIDE / 2, SIDE / 2 + half[1] + 8), (0, 1))
    ground = min(SIDE - 6, int(SIDE / 2 + half[2] + 3))
    side[ground : ground + 2] = _LINE
    _arrow(side, (SIDE / 2 + half[1] + 8, SIDE / 2), (1, 0))
    above[:, -1] = side[:, 0] = _LINE
    return np.concatenate([above, side], 1)


def _view(right: Array, up: Array, near: Array, colours: Picture) -> Picture:
    """One square: points at (right, up) px from its middle, larger `near` drawn over smaller."""
    picture = np.empty((SIDE, SIDE, 3), np.uint8)
    picture[:] = _GROUND
    order = np.argsort(near, kind="stable")
    columns = np.rint(SIDE / 2 + right[order]).astype(int).clip(1, SIDE - 2)
    rows = np.rint(SIDE / 2 - up[order]).astype(int).clip(1, SIDE - 2)
    depth = np.full((SIDE, SIDE), -np.inf)
    for dy in (-1, 0, 1):  # a point is three pixels wide, so that nothing behind shines through
        for dx in (-1, 0, 1):
            nearest = np.full((SIDE, SIDE), -1)
            nearest[rows + dy, columns + dx] = order  # the last, so the nearest, stays
            seen = nearest >= 0
            seen[seen] = near[nearest[seen]] > depth[seen]
            picture[seen], depth[seen] = colours[nearest[seen]], near[nearest[seen]]
    return picture


def _arrow(picture: Picture, tail: tuple[float, float], way: tuple[int, int]) -> None:
    """An arrow of 46 px from `tail` (column, row) along `way` (column, row)."""
    rows, columns = np.mgrid[0:SIDE, 0:SIDE]
    along = (columns - tail[0]) * way[0] + (rows - tail[1]) * way[1]
    across = np.abs((columns - tail[0]) * way[1] + (rows - tail[1]) * way[0])
    shaft = (along >= 0) & (along <= 28) & (across <= 4)
    head = (along > 28) & (along <= 50) & (across <= (50 - along) * 0.7)
    picture[shaft | head] = _ARROW


def sample_surface(triangles: Array, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Points spread evenly over a surface.

    Args:
        triangles: (T, 3, 3) corners.

    Returns:
        (count, 3) points and (count, 3) unit normals; nothing for a surface without area.
    """
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    area = np.linalg.norm(normals, axis=1)
    area[~np.isfinite(area)] = 0.0
    if area.sum() <= 0:
        return np.zeros((0, 3)), np.zeros((0, 3))
    random = np.random.default_rng(seed)
    chosen = random.choice(len(area), count, p=area / area.sum())
    u, v = random.random((2, count))
    root = np.sqrt(u)
    weights = np.stack([1 - root, root * (1 - v), root * v], 1)
    points = (triangles[chosen] * weights[:, :, None]).sum(1)
    return points, normals[chosen] / area[chosen, None]
