"""A smooth closed surface from body parts: smooth unions of round cones, meshed by naive surface nets.

Signed distances of a round cone and the polynomial smooth minimum follow Inigo Quilez ("distance functions", "smooth
minimum"); surface nets follow S. Gibson, "Constrained elastic surface nets" (1998), in the naive form: one vertex a
cell at the mean of its edge crossings.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from .builtin_anatomy import BODY, HOLLOWS, Part

Array = NDArray[np.float64]

FAR = 1.0  # metres; the field's value away from every part
GROUND = 0.0015  # the paws' flat soles lie this high


def _sides(parts: Iterable[Part]) -> list[Part]:
    out = []
    for part in parts:
        out.append(part)
        if part.both:
            a, b = (-part.a[0], *part.a[1:]), (-part.b[0], *part.b[1:])
            out.append(Part(a, b, part.ra, part.rb, part.blend, part.squeeze))
    return out


_BODY, _HOLLOWS = _sides(BODY), _sides(HOLLOWS)


def cone_distance(points: Array, part: Part) -> Array:
    """Signed distance (N,) of points (N, 3) to a squeezed round cone, exact where it isn't squeezed."""
    squeeze, a, b = np.array(part.squeeze), np.array(part.a), np.array(part.b)
    centre = (a + b) / 2
    q, a, b = (points - centre) / squeeze, (a - centre) / squeeze, (b - centre) / squeeze
    return _round_cone(q, a, b, part.ra, part.rb) * min(part.squeeze)


def _round_cone(points: Array, a: Array, b: Array, ra: float, rb: float) -> Array:
    """Two spheres and the cone that touches both; one sphere where it holds the other."""
    along, taper = b - a, ra - rb
    length2 = float(along @ along)
    if length2 <= taper * taper:
        return np.linalg.norm(points - (a if ra >= rb else b), axis=1) - max(ra, rb)
    y = (points - a) @ along
    z = y - length2
    side = np.linalg.norm((points - a) * length2 - y[:, None] * along, axis=1) / length2
    y, z = y / np.sqrt(length2), z / np.sqrt(length2)
    lean = np.sign(taper) * taper * taper * side * side
    slope2 = length2 - taper * taper
    cone = (side * np.sqrt(slope2) + y * taper) / np.sqrt(length2) - ra
    near_b = np.sign(z) * slope2 * z * z > lean
    near_a = np.sign(y) * slope2 * y * y < lean
    return np.select([near_b, near_a], [np.hypot(side, z) - rb, np.hypot(side, y) - ra], cone)


def smooth_min(a: Array, b: Array, blend: float) -> Array:
    """Minimum of two fields whose crease is rounded over `blend`."""
    if blend <= 0:
        return np.minimum(a, b)
    h = np.maximum(blend - np.abs(a - b), 0) / blend
    return np.minimum(a, b) - h * h * blend / 4


def _reach(part: Part) -> tuple[Array, Array]:
    """The box outside of which a part can't change the field near the surface."""
    margin = (max(part.ra, part.rb) * max(*part.squeeze, 1.0)) + 2 * part.blend + 0.03
    ends = np.array([part.a, part.b])
    return ends.min(0) - margin, ends.max(0) + margin


def field(points: Array, chunk: int = 4096) -> Array:
    """Signed distance-like field (N,) of the body at points (N, 3), negative inside."""
    if len(points) <= chunk:
        return _field_near(points)
    order = np.argsort(points[:, 1], kind="stable")  # slices along the body see few of its parts
    value = np.empty(len(points))
    for start in range(0, len(points), chunk):
        part = order[start : start + chunk]
        value[part] = _field_near(points[part])
    return value


def _field_near(points: Array) -> Array:
    value = np.full(len(points), FAR)
    floor, ceiling = points.min(0), points.max(0)
    for parts, sign in ((_BODY, 1.0), (_HOLLOWS, -1.0)):  # what is hollowed out is the union with the complement
        for part in parts:
            low, high = _reach(part)
            if np.any(floor > high) or np.any(ceiling < low):
                continue
            near = np.flatnonzero(np.all((points > low) & (points < high), axis=1))
            distance = cone_distance(points[near], part)
            value[near] = sign * smooth_min(sign * value[near], distance, part.blend)
    return -smooth_min(-value, points[:, 2] - GROUND, 0.012)


def _grid_field(axes: list[Array], block: int = 20) -> Array:
    """The field on a grid, block by block so that each looks at the parts near it only."""
    value = np.empty(tuple(len(a) for a in axes))
    starts = [range(0, len(a), block) for a in axes]
    for i in starts[0]:
        for j in starts[1]:
            for k in starts[2]:
                cuts = [a[s : s + block] for a, s in zip(axes, (i, j, k), strict=True)]
                points = np.stack(np.meshgrid(*cuts, indexing="ij"), -1)
                value[i : i + block, j : j + block, k : k + block] = _field_near(points.reshape(-1, 3)).reshape(
                    points.shape[:3]
                )
    return value


def gradient(points: Array, step: float = 2e-3) -> Array:
    """Unit outward normals (N, 3) by central differences."""
    columns = []
    for axis in range(3):
        shift = np.zeros(3)
        shift[axis] = step
        columns.append(field(points + shift) - field(points - shift))
    normals = np.stack(columns, 1)
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)


def occlusion(points: Array, normals: Array) -> Array:
    """(N,) how open the sky of the normal is, 0 to 1, from the field ahead of the surface."""
    open_sky = np.zeros(len(points))
    reaches = (0.015, 0.035, 0.07, 0.11)
    for reach in reaches:
        ahead = points + normals * reach
        above_ground = np.minimum(field(ahead), np.maximum(ahead[:, 2] + 0.05, 0))
        open_sky += np.clip(above_ground / reach, 0, 1)
    return open_sky / len(reaches)


def body_mesh(cell: float) -> tuple[Array, NDArray[np.int64]]:
    """Vertices (V, 3) and outward quads (F, 4) of the body at a grid of `cell` metres, mirror-symmetric in x."""
    low, high = _bounds(cell)
    counts = np.round((high - low) / cell).astype(int) + 1
    axes = [low[k] + cell * np.arange(counts[k]) for k in range(3)]
    value = _grid_field(axes)
    vertices, number = _cell_vertices(value)
    quads = _quads(value, number)
    points = low + cell * vertices
    for _ in range(2):  # onto the surface itself, which rounds what the grid has cut off
        slope = gradient(points)
        points = points - slope * np.clip(field(points), -cell / 2, cell / 2)[:, None]
    return points, quads


def _bounds(cell: float) -> tuple[Array, Array]:
    boxes = [_reach(part) for part in _BODY]
    low = np.min([b[0] for b in boxes], axis=0)
    high = np.max([b[1] for b in boxes], axis=0)
    low[2] = -4 * cell
    half = np.ceil(high[0] / cell) * cell + cell / 2  # no grid plane at x = 0: both halves come out alike
    low[0], high[0] = -half, half
    return low, high


_CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])
_EDGES = [(i, j) for i in range(8) for j in range(i + 1, 8) if np.abs(_CORNERS[i] - _CORNERS[j]).sum() == 1]


def _cell_vertices(value: Array) -> tuple[Array, NDArray[np.int64]]:
    """Vertices in grid units, one for each cell that the surface passes, and the cells' vertex numbers (-1: none)."""
    shape = tuple(n - 1 for n in value.shape)
    inside = value < 0
    filled = sum(inside[x : x + shape[0], y : y + shape[1], z : z + shape[2]].astype(np.int8) for x, y, z in _CORNERS)
    cells = np.argwhere((filled > 0) & (filled < 8))
    corner_values = np.stack([value[tuple((cells + c).T)] for c in _CORNERS], 1)
    total, count = np.zeros((len(cells), 3)), np.zeros((len(cells), 1))
    for i, j in _EDGES:
        a, b = corner_values[:, i], corner_values[:, j]
        crossing = (a < 0) != (b < 0)
        t = np.where(crossing, a / np.where(crossing, a - b, 1.0), 0.0)[:, None]
        total += np.where(crossing[:, None], _CORNERS[i] + t * (_CORNERS[j] - _CORNERS[i]), 0.0)
        count += crossing[:, None]
    number = np.full(shape, -1)
    number[tuple(cells.T)] = np.arange(len(cells))
    return cells + total / count, number


def _quads(value: Array, number: NDArray[np.int64]) -> NDArray[np.int64]:
    """A quad around each grid edge whose ends lie on different sides."""
    inside, faces = value < 0, []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        steps = np.moveaxis(inside, (axis, u, v), (0, 1, 2))
        ids = np.moveaxis(number, (axis, u, v), (0, 1, 2))
        here, there = steps[:-1, 1:-1, 1:-1], steps[1:, 1:-1, 1:-1]
        corners = (ids[:, :-1, :-1], ids[:, 1:, :-1], ids[:, 1:, 1:], ids[:, :-1, 1:])
        for mask, order in ((here & ~there, (0, 1, 2, 3)), (~here & there, (3, 2, 1, 0))):
            faces.append(np.stack([corners[k][mask] for k in order], 1))
    return np.concatenate(faces)
