"""Templates of skeletons for meshes without a rig: tables under templates/, one a body plan, not code."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import BadInputError

Range = tuple[float, float]
Triple = tuple[float, float, float]

FOLDER = Path(__file__).with_name("templates")
SIDES = ("_L", "_R")  # endings of names: the creature's left (+X) and right


@dataclass(frozen=True)
class LimbPlan:
    """A pair of limbs.

    Attributes:
        name: of the pair; bones of the left side end in _L, of the right in _R.
        kind: leg, arm, wing or fin.
        parent: bone of the body that carries it.
        joints: names from the body to the tip; bones: one fewer; at: where along the limb each joint lies, 0 to 1.
        root: how far the first joint lies from where the limb leaves the body to the body's middle: share of the way
            sideways, and of the way up and along.
        box: first and last joint where the surface shows no such limb: shares of half the width, of the length from
            front to back, of the height.
        optional: left out where the surface shows no such limb.
    """

    name: str
    kind: str
    parent: str
    joints: tuple[str, ...]
    bones: tuple[str, ...]
    at: tuple[float, ...]
    root: tuple[float, float]
    box: tuple[Triple, Triple]
    optional: bool


@dataclass(frozen=True)
class BodyJoint:
    """A joint on the mid-line: at `share` of the way between two landmarks (names of limbs, tail_tip, tail_base,
    head_base, head_tip).
    """

    name: str
    start: str
    end: str
    share: float


@dataclass(frozen=True)
class BodyBone:
    """A bone on the mid-line: names of two joints, and of the parent; empty for the root."""

    name: str
    head: str
    tail: str
    parent: str


@dataclass(frozen=True)
class RigTemplate:
    """A body plan.

    Attributes:
        name: of its file; label and examples: words for people; order: place in lists.
        upright: the mid-line rises from the hips to the head, else it runs from the tail forward to the head.
        lift: how far the spine lies above the middle of the trunk, share of the way to the back.
        head: length of the head, share of the way from the foremost limb (or the tail's end) to the nose.
        limbs: front to back within a kind.
        limits_deg: bone or stem -> ranges of the left side, degrees; testpose: bone or stem -> XYZ degrees, likewise.
    """

    name: str
    label: str
    examples: str
    order: int
    upright: bool
    lift: float
    head: float
    joints: tuple[BodyJoint, ...]
    bones: tuple[BodyBone, ...]
    limbs: tuple[LimbPlan, ...]
    limits_deg: dict[str, tuple[Range, Range, Range]]
    testpose: dict[str, Triple]


def template_names() -> tuple[str, ...]:
    """Names of all templates, in the order of lists."""
    return tuple(sorted((path.stem for path in FOLDER.glob("*.toml")), key=lambda name: load_template(name).order))


def load_template(name: str) -> RigTemplate:
    """The template called `name`.

    Raises:
        BadInputError: there is none of that name.
    """
    file = FOLDER / f"{name}.toml"
    known = sorted(path.stem for path in FOLDER.glob("*.toml"))
    if name not in known:
        raise BadInputError(f"There is no template {name!r}.", key="template", hint=f"Templates: {', '.join(known)}.")
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    return RigTemplate(
        name=name,
        label=data["label"],
        examples=data["examples"],
        order=data["order"],
        upright=data.get("upright", False),
        lift=data.get("lift", 0.0),
        head=data.get("head", 0.4),
        joints=tuple(BodyJoint(*entry) for entry in data["body"]["joints"]),
        bones=tuple(BodyBone(*entry) for entry in data["body"]["bones"]),
        limbs=tuple(_limb(entry) for entry in data.get("limbs", [])),
        limits_deg={bone: _ranges(rows) for bone, rows in data.get("limits_deg", {}).items()},
        testpose={bone: tuple(angles) for bone, angles in data.get("testpose", {}).items()},
    )


def _limb(data: dict[str, Any]) -> LimbPlan:
    first, last = data["box"]
    return LimbPlan(
        name=data["name"],
        kind=data["kind"],
        parent=data["parent"],
        joints=tuple(data["joints"]),
        bones=tuple(data["bones"]),
        at=tuple(data["at"]),
        root=(data["root"][0], data["root"][1]),
        box=(tuple(first), tuple(last)),
        optional=data.get("optional", False),
    )


def _ranges(rows: list[list[float]]) -> tuple[Range, Range, Range]:
    x, y, z = ((float(low), float(high)) for low, high in rows)
    return (x, y, z)


def sided(by_stem: dict[str, Triple], bones: list[str]) -> dict[str, Triple]:
    """Angles of bones and stems for the bones that there are: a stem's go to its left bone, mirrored to its right one.

    Built bones have their X axis sideways, or Z up where they point sideways themselves: so on the right side turns
    about Y and Z change sign.
    """
    found: dict[str, Triple] = {}
    for name, (x, y, z) in by_stem.items():
        if name in bones:
            found[name] = (x, y, z)
        if name + SIDES[0] in bones:
            found[name + SIDES[0]] = (x, y, z)
            found[name + SIDES[1]] = (x, -y, -z)
    return found
