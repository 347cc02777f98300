"""How a wing folds: about the axis that stands on it, at its elbow and its wrist, much further than it flaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .roles import Roles

Array = NDArray[np.float64]

JOINTS = (1, 2, 3)  # places in the wing that fold: elbow and wrist, one further out where a shoulder blade leads it
BENT = np.radians(12.0)  # bent by more at rest, a joint shows which way it folds
CLOSED = np.radians(150.0)  # between a bone and the one before it when the wing is folded
OPEN = np.radians(15.0)  # past straight
EITHER_WAY = np.radians(100.0)  # of a wing that is straight at rest: nothing says which way it folds


@dataclass(frozen=True)
class Fold:
    """The axes of a wing's bone.

    Attributes:
        axes: (3, 3) rows, unit: about which it flaps, folds and twists.
        range: (2,) low and high of the fold, radians; None where the joint does not fold.
    """

    axes: Array
    range: Array | None


def wing_folds(roles: Roles, rest: Array, along: Array) -> dict[int, Fold]:
    """Bone index -> how it folds, for the bones of wings. Fins, wings by role, do not fold: they are left out.

    Args:
        rest: (B, 4, 4) rest matrices; along: (B, 3) unit direction of each bone from head to tip.
    """
    found = {}
    for b, (role, part) in enumerate(zip(roles.role, roles.part, strict=True)):
        if role != "wing" or "fin" in part.split("_"):
            continue
        normal = _upright_on(along[[o for o, other in enumerate(roles.part) if other == part]].mean(0), along[b])
        before = _before(roles, rest[:, :3, 3], b)
        joint = before is not None and int(roles.rank[b]) in JOINTS
        axes = np.stack([np.cross(normal, along[b]), normal, along[b]])
        found[b] = Fold(axes, _range(along[before], along[b], normal) if joint else None)
    return found


def _upright_on(way: Array, along: Array) -> Array:
    """(3,) the axis that stands on a wing, square to the bone: the vertical for a wing that is spread or swept however
    far, the creature's lateral axis for one that is raised."""
    raised = abs(way[2]) > max(abs(way[0]), abs(way[1]))
    for axis in np.eye(3)[[0, 1] if raised else [2, 0]]:
        normal: Array = axis - along * (axis @ along)
        if np.linalg.norm(normal) > 0.2:
            break
    return normal / np.linalg.norm(normal)


def _before(roles: Roles, heads: Array, bone: int) -> int | None:
    """The bone of the same wing from which `bone` hangs: of those one place nearer to the body the nearest."""
    same = [
        o for o, part in enumerate(roles.part) if part == roles.part[bone] and roles.rank[o] == roles.rank[bone] - 1
    ]
    return min(same, key=lambda o: float(np.linalg.norm(heads[o] - heads[bone]))) if same else None


def _range(before: Array, along: Array, normal: Array) -> Array:
    """(2,) how far the bone turns about `normal`, from wide open to closed, as it is bent at rest."""
    bend = float(np.arctan2(normal @ np.cross(before, along), before @ along))
    if abs(bend) < BENT:
        return np.array([-EITHER_WAY, EITHER_WAY])
    opened, closed = -(abs(bend) + OPEN), max(CLOSED - abs(bend), OPEN)
    return np.array([opened, closed] if bend > 0 else [-closed, -opened])
