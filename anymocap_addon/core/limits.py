"""How far a bone may turn: default ranges by role, turned from the body's axes into each bone's own."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from .roles import Roles
from .wing_fold import wing_folds

Array = NDArray[np.float64]

# Half ranges in degrees by role and place in the chain (the last row repeats): bend forth and back, sideways, twist.
_DEFAULTS_DEG: dict[str, tuple[tuple[float, float, float], ...]] = {
    "root": ((0, 0, 0),),
    "spine": ((15, 15, 10),),
    "neck": ((30, 30, 20),),
    "head": ((30, 30, 25),),
    "tail": ((25, 30, 10), (30, 35, 10)),
    "leg": ((45, 15, 12), (45, 8, 8), (42, 8, 8), (38, 8, 6)),
    "arm": ((60, 45, 25), (60, 25, 20), (45, 20, 20), (30, 12, 8)),
    "wing": ((50, 50, 25), (30, 35, 15), (25, 25, 10)),
    "ear": ((20, 20, 10),),
    "jaw": ((25, 5, 3),),
    "detail": ((12, 12, 6),),
}
WIDEST = np.radians(170.0)
JAW_OPEN, JAW_SHUT = np.radians(35.0), np.radians(4.0)  # it bites hardly past where the file has it
_AXES = np.eye(3)


def default_limits(roles: Roles, rest: Array, along: Array) -> Array:
    """Limits by role.

    Args:
        rest: (B, 4, 4) orthonormal rest matrices; along: (B, 3) unit direction of each bone from head to tip.

    Returns:
        (B, 3, 2) low and high of the basis Euler XYZ, radians.
    """
    limits = np.zeros((len(rest), 3, 2))
    folds = wing_folds(roles, rest, along)
    for b, role in enumerate(roles.role):
        rows = _DEFAULTS_DEG[role]
        half = np.radians(rows[min(int(roles.rank[b]), len(rows) - 1)])
        fold = folds.get(b)
        axes = _body_axes(along[b]) if fold is None else fold.axes
        ranges = np.stack([-half, half], -1)
        if fold is not None and fold.range is not None:
            ranges[1] = fold.range
        if role == "jaw":
            ranges[0] = _jaw_range(axes[0], along[b])
        limits[b] = _in_own_axes(ranges, rest[b, :3, :3], axes)
    return limits


def _jaw_range(bend: Array, along: Array) -> Array:
    """(2,) about the axis `bend`: open is down, or back for a jaw that hangs."""
    opens = np.cross(bend, along) @ np.array([0.0, 0.3, -1.0]) > 0
    return np.array([-JAW_SHUT, JAW_OPEN] if opens else [-JAW_OPEN, JAW_SHUT])


def _in_own_axes(ranges: Array, rest: Array, axes: Array) -> Array:
    """(3, 2) ranges about the bone's own axes, of those about `axes` (3, 3 rows): turned round where its axis is."""
    own = np.zeros((3, 2))
    for (low, high), axis, local in zip(ranges, axes, _local_axes(rest, axes), strict=True):
        own[local] = (low, high) if axis @ rest[:, local] > 0 else (-high, -low)
    return own


def _body_axes(along: Array) -> Array:
    """(3, 3) rows: the axes about which a bone bends forth and back, bends sideways, and twists.

    Forth and back is about the creature's lateral axis X; for a bone that itself points sideways (a spread arm or
    wing) it is up and down, about Y.
    """
    lateral = _AXES[0] if abs(along[0]) < 0.8 else _AXES[1]
    bend = lateral - along * (lateral @ along)
    bend = bend / np.linalg.norm(bend)
    return np.stack([bend, np.cross(along, bend), along])


def _local_axes(rest: Array, axes: Array) -> tuple[int, int, int]:
    """The local axis that lies nearest to each of the three `axes` (rows), each used once."""
    closeness = np.abs(axes @ rest)
    best = max(permutations(range(3)), key=lambda p: float(sum(closeness[i, p[i]] for i in range(3))))
    return (best[0], best[1], best[2])


def mirror_limits(limits: Array, rest_from: Array, rest_to: Array) -> Array:
    """Limits of the bone on the other side, so that both sides can take mirrored poses.

    A basis b on one side is C b C^-1 on the other with C = rest_to^-1 M rest_from, M the mirror x -> -x. C is a
    signed permutation where the two rest matrices are mirror images up to their roll; a turn about axis i becomes
    one about axis j with the sign -C[j, i] (C has determinant -1). So the sign comes from the rest matrices,
    whether the two sides share an axis or mirror it.

    Args:
        limits: (3, 2) radians (or degrees). rest_from, rest_to: (3, 3) orthonormal rest matrices.
    """
    C = rest_to.T @ np.diag([-1.0, 1.0, 1.0]) @ rest_from
    to_axis = max(permutations(range(3)), key=lambda p: float(sum(abs(C[p[i], i]) for i in range(3))))
    mirrored = np.zeros_like(limits)
    for i, j in enumerate(to_axis):
        low, high = limits[i]
        mirrored[j] = (low, high) if -C[j, i] > 0 else (-high, -low)
    return mirrored


def union(a: Array, b: Array) -> Array:
    """(..., 3, 2) the smallest ranges that hold both."""
    return np.stack([np.minimum(a[..., 0], b[..., 0]), np.maximum(a[..., 1], b[..., 1])], -1)


def share_between_sides(limits: Array, rest: Array, pairs: list[tuple[int, int]]) -> Array:
    """What one side can do the other can too: both bones of a pair get the union of their mirrored ranges.

    Args:
        limits: (B, 3, 2) radians; rest: (B, 4, 4); pairs: bone indices that mirror each other.
    """
    shared = limits.copy()
    for left, right in pairs:
        a, b = rest[left, :3, :3], rest[right, :3, :3]
        shared[left] = union(limits[left], mirror_limits(limits[right], b, a))
        shared[right] = union(limits[right], mirror_limits(limits[left], a, b))
    return shared


def seen_limits(low: Array, high: Array, defaults: Array) -> Array:
    """Limits from the ranges that Actions use.

    Each range is widened by a fifth and 5 degrees and holds at least a third of the role's default, so that a bone
    that no Action moves is not frozen; never beyond +-170 degrees.

    Args:
        low, high: (B, 3) radians; defaults: (B, 3, 2) radians.
    """
    margin = 0.1 * (high - low) + np.radians(5.0)
    wide = np.stack([np.minimum(low - margin, 0.0), np.maximum(high + margin, 0.0)], -1)
    return np.clip(union(wide, defaults / 3), -WIDEST, WIDEST)
