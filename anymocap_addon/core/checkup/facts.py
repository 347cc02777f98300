"""Plain facts of what an artist brought. blender/creature_facts.py gathers them; the rules never see a Blender object.

Space: the file's own world, its units, Z up as Blender shows it; nothing is turned or scaled by prep yet.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Vector = tuple[float, float, float]
Rows = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class ConstraintFacts:
    """A constraint of a bone.

    Attributes:
        kind: Blender's type ("IK", "COPY_ROTATION", ...).
        target, pole: bones it looks at, empty for none or for an object.
        chain: bones of an IK chain, 0 = up to the root.
    """

    kind: str
    muted: bool = False
    target: str = ""
    pole: str = ""
    chain: int = 0


@dataclass(frozen=True)
class BoneFacts:
    """A bone.

    Attributes:
        parent: empty for a root.
        head, tail: at rest, world.
        axes: (3, 3) its x, y and z axis at rest as rows, unit vectors, world.
        weight: sum of the skin weights on it; deform: Blender lets it move the skin.
        locks: locked channels, such as "location x".
        drivers: number of drivers on its channels and constraints.
        pose_scale: its scale as it stands.
    """

    name: str
    parent: str
    head: Vector
    tail: Vector
    axes: Rows
    weight: float = 0.0
    deform: bool = True
    rotation_mode: str = "QUATERNION"
    locks: tuple[str, ...] = ()
    constraints: tuple[ConstraintFacts, ...] = ()
    drivers: int = 0
    custom_shape: str = ""
    pose_scale: Vector = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class ArmatureFacts:
    """An armature object.

    Attributes:
        matrix: (4, 4) world matrix, rows.
        linked: its object or data come from a library; override: they are library overrides.
        at_rest: the armature shows its rest position only.
        moves: vertices of the meshes that follow it.
    """

    name: str
    matrix: Rows
    bones: tuple[BoneFacts, ...]
    linked: bool = False
    override: bool = False
    at_rest: bool = False
    moves: int = 0


@dataclass(frozen=True)
class MeshFacts:
    """A mesh object.

    Attributes:
        matrix: (4, 4) world matrix, rows.
        armature: object that moves it, empty for none; by_bone: it hangs on this one bone.
        armature_modifiers: how many of them.
        bad_points: vertices whose coordinates are not finite.
        nan_weights, no_weights, many_weights: vertices with weights that are not finite, with none on any deforming
            bone, with more than four.
        most_weights: the most that a vertex has.
        bad_in_file: vertices whose weights a .glb holds as NaN or all zero; importers hide them, so only here.
        strangers: vertex groups with weights and no deforming bone of their name.
        other_modifiers: names of modifiers that prep applies.
    """

    name: str
    matrix: Rows
    vertices: int
    faces: int
    armature: str = ""
    by_bone: str = ""
    armature_modifiers: int = 0
    bad_points: int = 0
    nan_weights: int = 0
    no_weights: int = 0
    many_weights: int = 0
    most_weights: int = 0
    bad_in_file: int = 0
    strangers: tuple[str, ...] = ()
    shape_keys: tuple[str, ...] = ()
    driven_keys: int = 0
    other_modifiers: tuple[str, ...] = ()
    linked: bool = False
    override: bool = False
    data_users: int = 1


@dataclass(frozen=True)
class BoneMotion:
    """How far an Action moves and scales a bone.

    Attributes:
        moved: extent of its location keys in the bone's own units; scale: least and largest value of its scale keys.
    """

    bone: str
    moved: float = 0.0
    scale: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True)
class ActionFacts:
    """An Action that moves bones.

    Attributes:
        first, last: frames; bones: those that are moved in location or scaled.
        missing: bones that it names and no armature has.
    """

    name: str
    first: float
    last: float
    bones: tuple[BoneMotion, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class CreatureFacts:
    """All that the rules look at.

    Attributes:
        source: file name, or name of the object in the open scene.
        low, high: corners of the creature's meshes at rest, world.
        surface: some points of the surface at rest, world, at most a few hundred.
        faces_known: the artist has confirmed up axis and facing.
        turn_deg, up: what prep is told about facing: turn about Z, and the axis of the file that points up.
        length: metres that prep gives it along `axis`.
    """

    source: str
    armatures: tuple[ArmatureFacts, ...] = ()
    meshes: tuple[MeshFacts, ...] = ()
    actions: tuple[ActionFacts, ...] = ()
    low: Vector = (0.0, 0.0, 0.0)
    high: Vector = (0.0, 0.0, 0.0)
    surface: tuple[Vector, ...] = ()
    faces_known: bool = False
    turn_deg: float = 0.0
    up: str = "z"
    length: float = 1.5
    axis: str = "y"

    @property
    def main(self) -> ArmatureFacts | None:
        """The armature that moves the most vertices."""
        return max(self.armatures, key=lambda a: a.moves, default=None)

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def facts_of(data: dict[str, Any]) -> CreatureFacts:
    """The inverse of `CreatureFacts.to_json`, also after a way through JSON."""
    armatures = tuple(
        ArmatureFacts(**{**a, "matrix": _rows(a["matrix"]), "bones": tuple(_bone(b) for b in a["bones"])})
        for a in data["armatures"]
    )
    meshes = tuple(
        MeshFacts(**{key: _rows(value) if isinstance(value, list | tuple) else value for key, value in m.items()})
        for m in data["meshes"]
    )
    actions = tuple(
        ActionFacts(
            **{
                **a,
                "missing": tuple(a["missing"]),
                "bones": tuple(BoneMotion(**{**b, "scale": tuple(b["scale"])}) for b in a["bones"]),
            }
        )
        for a in data["actions"]
    )
    rest = {key: _rows(value) if isinstance(value, list | tuple) else value for key, value in data.items()}
    return CreatureFacts(**{**rest, "armatures": armatures, "meshes": meshes, "actions": actions})


def _rows(value: Any) -> Any:
    return tuple(_rows(item) for item in value) if isinstance(value, list | tuple) else value


def _bone(data: dict[str, Any]) -> BoneFacts:
    plain = {key: _rows(value) for key, value in data.items()}
    return BoneFacts(**{**plain, "constraints": tuple(ConstraintFacts(**c) for c in data["constraints"])})
