"""The lynx's coat as a function of the place on its skin: any point has its colour, so texture seams can't be seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .builtin_anatomy import EYE_CENTRE, EYE_LOOK, EYE_RADIUS

Array = NDArray[np.float64]

SAND = (0.80, 0.58, 0.36)
BACK = (0.63, 0.42, 0.24)
CREAM = (0.97, 0.91, 0.80)
SPOT = (0.33, 0.20, 0.12)
DARK = (0.15, 0.10, 0.08)
SOCK = (0.44, 0.29, 0.19)
NOSE = (0.34, 0.17, 0.15)
EAR_INSIDE = (0.93, 0.76, 0.65)
IRIS = (0.93, 0.68, 0.16)
IRIS_RIM = (0.50, 0.30, 0.06)

_PAW_X = 0.098  # metres from the middle to a paw's
_DARTS, _SPACING = 3000, 0.047  # spots on the skin: tries, and metres between two


def ramp(value: Array, low: float, high: float) -> Array:
    """0 at `low`, 1 at `high` (either may be the larger), smooth in between."""
    t = np.clip((value - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def noise(points: Array, scale: tuple[float, float, float], seed: int) -> Array:
    """Smooth value noise (N,) in -1..1 at points (N, 3); `scale` is cells a metre along each axis."""
    cell = points * np.array(scale) + 1000.0
    base = np.floor(cell).astype(np.int64)
    t = cell - base
    t = t * t * (3 - 2 * t)
    total = np.zeros(len(points))
    for corner in np.ndindex(2, 2, 2):
        c = np.array(corner)
        weight = np.prod(np.where(c == 1, t, 1 - t), axis=1)
        total += weight * _hash(base + c, seed)
    return total


def _hash(cells: NDArray[np.int64], seed: int) -> Array:
    mixed = cells @ np.array([73856093, 19349663, 83492791]) + seed * 2654435761
    mixed = (mixed ^ (mixed >> 13)) * 1274126177 & 0x7FFFFFFF
    mixed = (mixed ^ (mixed >> 16)) * 668265263 & 0x7FFFFFFF
    return (mixed % 65536) / 32767.5 - 1.0


def _mix(colour: Array, other: tuple[float, float, float], amount: Array) -> Array:
    return colour + (np.array(other) - colour) * amount[:, None]


def coat_colour(points: Array, normals: Array, open_sky: Array) -> Array:
    """sRGB (N, 3) in 0..1 of skin points (N, 3) with unit normals (N, 3); `open_sky` (N,) darkens creases."""
    wobble = noise(points, (22, 22, 22), 1)
    colour = _body(points, normals, wobble)
    colour = _mix(colour, SPOT, _spots(points, normals) * 0.88)
    colour = _legs(colour, points, wobble)
    colour = _head(colour, points, normals, wobble)
    fur = noise(points, (150, 45, 110), 2) * 0.6 + noise(points, (320, 90, 260), 3) * 0.4
    shade = (0.80 + 0.20 * open_sky) * (1 + 0.055 * fur)
    return np.clip(colour * shade[:, None], 0, 1)


def _body(p: Array, n: Array, wobble: Array) -> Array:
    colour = np.tile(np.array(SAND), (len(p), 1))
    colour = _mix(colour, BACK, ramp(n[:, 2] + 0.12 * wobble, 0.25, 0.95) * ramp(p[:, 2], 0.45, 0.62))
    under = ramp(-n[:, 2] + 0.15 * wobble, 0.20, 0.62) * ramp(p[:, 2], 0.22, 0.36)
    inner = ramp(-n[:, 0] * np.sign(p[:, 0]) + 0.1 * wobble, 0.35, 0.8) * ramp(p[:, 2], 0.52, 0.42)
    chest = ramp(-n[:, 1] + 0.10 * wobble, 0.55, 0.85) * ramp(p[:, 1], -0.26, -0.31) * ramp(p[:, 2], 0.80, 0.66)
    colour = _mix(colour, CREAM, np.maximum.reduce([under, inner * 0.75, chest]))
    return _mix(colour, DARK, ramp(p[:, 1] + 0.008 * wobble, 0.515, 0.535))  # tip of the tail


def _spots(p: Array, n: Array) -> Array:
    """Oval spots that follow the body's length, smaller on the legs, none below, on the chest, or on the face."""
    rng = np.random.default_rng(7)
    kept = np.empty((0, 3))
    for centre in p[rng.integers(0, len(p), _DARTS)]:  # dart throwing: no two spots overlap
        if np.linalg.norm((kept - centre) / (1, 1.35, 1), axis=1).min(initial=np.inf) > _SPACING:
            kept = np.vstack([kept, centre])
    mask = np.zeros(len(p))
    order = np.argsort(p[:, 1], kind="stable")
    along = p[order, 1]
    for centre in kept:
        size = 0.0125 + 0.006 * rng.random()
        on_leg = centre[2] < 0.42
        slab = order[np.searchsorted(along, centre[1] - 0.05) : np.searchsorted(along, centre[1] + 0.05)]
        near = slab[np.abs(p[slab] - centre).max(1) < 0.05]
        q = (p[near] - centre) / (1.0, 1.0 if on_leg else 1.45, 1.25 if on_leg else 1.0)
        edge = np.linalg.norm(q, axis=1) + 0.004 * noise(p[near], (90, 90, 90), 4)
        mask[near] = np.maximum(mask[near], ramp(edge, size + 0.004, size - 0.004))
    below = ramp(n[:, 2], -0.55, -0.2)
    inner = ramp(n[:, 0] * np.sign(p[:, 0]), -0.35, 0.0)
    return mask * below * np.where(p[:, 2] < 0.45, inner, 1.0) * ramp(p[:, 1], -0.35, -0.27)


def _legs(colour: Array, p: Array, wobble: Array) -> Array:
    colour = _mix(colour, SOCK, ramp(p[:, 2] + 0.02 * wobble, 0.15, 0.05) * 0.85)
    across = np.abs(np.abs(p[:, 0]) - _PAW_X)  # lines between the four toes, on the paws' fronts
    lines = ramp(np.minimum(across, np.abs(across - 0.024)), 0.0042, 0.0015)
    front = np.maximum(_between(p[:, 1], -0.37, -0.315), _between(p[:, 1], 0.225, 0.282))
    colour = _mix(colour, DARK, lines * front * ramp(p[:, 2], 0.062, 0.045) * 0.9)
    return _mix(colour, DARK, ramp(p[:, 2], 0.012, 0.003) * 0.6)


def _between(value: Array, low: float, high: float) -> Array:
    return ramp(value, low - 0.008, low) * ramp(value, high + 0.008, high)


def _head(colour: Array, p: Array, n: Array, wobble: Array) -> Array:
    """Muzzle, cheeks, stripes, ears, nose, mouth and the dark lids."""
    x, y, z = np.abs(p[:, 0]), p[:, 1], p[:, 2]
    face = ramp(y, -0.40, -0.44) * ramp(z, 0.66, 0.70)
    muzzle = ramp(np.linalg.norm((p - (0, -0.60, 0.728)) / (1.2, 1.2, 0.95), axis=1) + 0.006 * wobble, 0.062, 0.044)
    throat = ramp(-n[:, 2] + 0.1 * wobble, -0.05, 0.45) * ramp(y, -0.36, -0.42)
    ruff = ramp(z + 0.012 * wobble, 0.735, 0.690) * ramp(x, 0.075, 0.10) * ramp(y, -0.36, -0.40)
    colour = _mix(colour, CREAM, np.maximum.reduce([muzzle, throat, ruff]))
    eye = np.linalg.norm(np.stack([x, y, z], 1) - EYE_CENTRE, axis=1)
    halo = ramp(np.linalg.norm(np.stack([x - 0.052, y + 0.57, (z - 0.803)], 1), axis=1), 0.062, 0.036)
    colour = _mix(colour, CREAM, halo * face * 0.8)
    for low, high in ((0.100, 0.112), (0.128, 0.142)):  # two dark bars across the cheek
        bar = x + 0.55 * (z - 0.70) + 0.006 * wobble
        band = ramp(bar, low - 0.004, low + 0.002) * ramp(bar, high + 0.004, high - 0.002)
        colour = _mix(colour, SPOT, band * ramp(z, 0.625, 0.655) * ramp(z, 0.775, 0.740) * ramp(y, -0.40, -0.43) * 0.8)
    for at in (0.0, 0.022, 0.044):  # stripes on the forehead
        line = np.abs(x - at - 0.25 * (z - 0.85)) + 0.0015 * wobble
        stripe = ramp(line, 0.0062, 0.0028) * ramp(z, 0.835, 0.850) * ramp(n[:, 2], 0.95, 0.75) * ramp(y, -0.46, -0.49)
        colour = _mix(colour, SPOT, stripe * 0.75)
    lid = ramp(eye, EYE_RADIUS + 0.0085, EYE_RADIUS + 0.0045) * ramp(y, -0.560, -0.572)
    colour = _mix(colour, DARK, lid * 0.95)
    colour = _ears(colour, p, n, wobble)
    mouth = ramp(np.abs(z - 0.7225 - 1.1 * np.maximum(x - 0.004, 0) ** 1.5), 0.0050, 0.0025) * ramp(x, 0.050, 0.040)
    split = ramp(x, 0.0038, 0.0018) * ramp(z, 0.716, 0.720) * ramp(z, 0.760, 0.752)
    colour = _mix(colour, DARK, np.maximum(mouth, split) * ramp(y, -0.575, -0.590) * 0.9)
    nose = np.linalg.norm((p - (0, -0.640, 0.766)) / (1.3, 1.2, 0.9), axis=1)
    return _mix(colour, NOSE, ramp(nose, 0.0215, 0.0180))


def _ears(colour: Array, p: Array, n: Array, wobble: Array) -> Array:
    y, z = p[:, 1], p[:, 2]
    front = ramp(-n[:, 1], 0.0, 0.35)
    inside = front * ramp(z, 0.885, 0.905) * ramp(z, 0.975, 0.950)
    colour = _mix(colour, EAR_INSIDE, inside)
    back = ramp(-n[:, 1], 0.25, -0.05) * ramp(z + 0.006 * wobble, 0.885, 0.915) * ramp(y, -0.50, -0.48)
    colour = _mix(colour, DARK, back * 0.85)
    return _mix(colour, DARK, ramp(z + 0.004 * wobble, 0.962, 0.978))


def eye_colour(points: Array) -> Array:
    """sRGB (N, 3) of points on the eyeballs: pupil, iris with a darker rim, a highlight, dark corners."""
    side = np.sign(points[:, 0])
    mirrored = points * np.stack([side, np.ones_like(side), np.ones_like(side)], 1)
    ray = (mirrored - np.array(EYE_CENTRE)) / EYE_RADIUS
    look = np.array(EYE_LOOK) / np.linalg.norm(EYE_LOOK)
    across = np.cross(look, (0.0, 0.0, 1.0))
    across /= np.linalg.norm(across)
    u, v, w = ray @ across, ray @ np.cross(across, look), ray @ look
    radius = np.hypot(u, v) + np.where(w < 0, 2.0, 0.0)
    colour = np.tile(np.array(DARK), (len(points), 1))
    colour = _mix(colour, IRIS_RIM, ramp(radius, 0.74, 0.68))
    colour = _mix(colour, IRIS, ramp(radius + 0.05 * v, 0.66, 0.48))
    colour = _mix(colour, (0.03, 0.02, 0.02), ramp(np.hypot(u * 1.25, v * 0.95), 0.34, 0.29) * (w > 0))
    glint = np.hypot(u * side - 0.20, v - 0.26)
    return _mix(colour, (1.0, 1.0, 1.0), ramp(glint, 0.15, 0.10) * (w > 0))
