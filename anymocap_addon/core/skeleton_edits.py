"""What an artist changes in a skeleton of rig.json: where its joints lie and how far its bones turn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .checkup.side_names import side_stem
from .errors import BadInputError
from .limits import mirror_limits
from .rig import Point, RigInfo, RigSpec

Array = NDArray[np.float64]

SHORTEST = 1e-4  # m: a bone between joints that are nearer to each other has no direction
SAME_DEG = 0.05  # limits that differ by less are the same
_Ranges = tuple[tuple[float, float], tuple[float, float], tuple[float, float]]


def moved_joints(spec: RigSpec, joints: dict[str, Point]) -> RigSpec:
    """`spec` with its joints at other places.

    Args:
        joints: joint -> metres in prep space; the same joints as those of `spec`.

    Raises:
        BadInputError: a joint is missing or unknown, or a bone would have no length.
    """
    missing = sorted(spec.joints.keys() - joints.keys())
    if missing:
        raise BadInputError(
            f"The joint {missing[0]!r} is gone; the skeleton needs all {len(spec.joints)}.",
            key=f"joints.{missing[0]}",
            hint="Undo until it is back, or show the joints again.",
        )
    unknown = sorted(joints.keys() - spec.joints.keys())
    if unknown:
        raise BadInputError(
            f"The skeleton has no joint {unknown[0]!r}.", key="joints", hint="Show the joints again: it was changed."
        )
    for bone in spec.bones:
        if np.linalg.norm(np.subtract(joints[bone.head], joints[bone.tail])) < SHORTEST:
            raise BadInputError(
                f"The joints {bone.head!r} and {bone.tail!r} lie at one place: the bone {bone.name!r} has no length.",
                key=f"joints.{bone.tail}",
                hint="Move one of them away.",
            )
    return replace(spec, joints={name: joints[name] for name in spec.joints})


def partners(rig: RigInfo) -> dict[str, str]:
    """Bone -> the bone on the other side whose name differs by the word for the side alone."""
    by_stem: dict[str, list[str]] = {}
    for name in rig.bones:
        by_stem.setdefault(side_stem(name), []).append(name)
    found: dict[str, str] = {}
    for pair in by_stem.values():
        if len(pair) == 2:
            found[pair[0]], found[pair[1]] = pair[1], pair[0]
    return found


def mirrored_range(rig: RigInfo, bone: str, partner: str, limits: Array) -> Array:
    """(3, 2) what `partner` may do where `bone` may turn between `limits` (3, 2); any unit."""
    return mirror_limits(limits, rig.rest[rig.index(bone), :3, :3], rig.rest[rig.index(partner), :3, :3])


def changed_limits(spec: RigSpec, rig: RigInfo, limits_deg: dict[str, Array]) -> RigSpec:
    """`spec` with other limits.

    A pair of bones whose ranges mirror each other is written once, under its stem, as the left side's; else each bone
    stands by itself.

    Args:
        rig: as it was built from `spec`.
        limits_deg: bone -> (3, 2) degrees; bones whose limits are those of `rig` change nothing.

    Raises:
        BadInputError: a bone that the skeleton lacks, or low above high.
    """
    known = {bone.name for bone in spec.bones}
    written = dict(spec.limits_deg)
    pairs = partners(rig)
    for bone, wanted in limits_deg.items():
        if bone not in known:
            raise BadInputError(f"The skeleton has no bone {bone!r}.", key="limits_deg", hint="Rig it again first.")
        if (wanted[:, 0] > wanted[:, 1]).any():
            raise BadInputError(f"The lowest turn of {bone!r} lies above its highest.", key=f"limits_deg.{bone}")
    now = {name: limits_deg.get(name, np.degrees(rig.limits_rad[rig.index(name)])) for name in rig.bones}
    for bone in limits_deg:
        if _same(now[bone], np.degrees(rig.limits_rad[rig.index(bone)])):
            continue
        partner = pairs.get(bone)
        if partner is not None and _same(mirrored_range(rig, bone, partner, now[bone]), now[partner]):
            written.pop(bone, None)
            written.pop(partner, None)
            written[side_stem(bone)] = _ranges(now[_left_of(rig, bone, partner)])
        else:
            written[bone] = _ranges(now[bone])
    return replace(spec, limits_deg=written)


def _left_of(rig: RigInfo, bone: str, partner: str) -> str:
    def across(name: str) -> float:
        b = rig.index(name)
        return float(rig.rest[b, 0, 3] + rig.rest[b, 0, 1] * rig.lengths[b] / 2)

    return max(bone, partner, key=across)


def _same(a: Array, b: Array) -> bool:
    return bool(np.abs(a - b).max() < SAME_DEG)


def _ranges(limits: Array) -> _Ranges:
    x, y, z = ((round(float(low), 2), round(float(high), 2)) for low, high in limits)
    return (x, y, z)
