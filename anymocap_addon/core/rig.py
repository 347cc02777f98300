"""rig.json (the artist's skeleton for an unrigged mesh) and rig_info.json (the capture skeleton of all stages)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import BadInputError
from .formats import read_json, write_json_file

Point = tuple[float, float, float]
Range = tuple[float, float]


@dataclass(frozen=True)
class RigBone:
    """A bone of rig.json: `head` and `tail` are names of joints, `parent` of a bone; `up` is where its Z axis points as
    nearly as it can, None = by the bone's direction.
    """

    name: str
    head: str
    tail: str
    parent: str | None
    up: Point | None = None


@dataclass(frozen=True)
class RigSpec:
    """rig.json: joints in metres (-Y forward, +X left), bones, limits in degrees by bone or stem."""

    joints: dict[str, Point]
    bones: tuple[RigBone, ...]
    limits_deg: dict[str, tuple[Range, Range, Range]]


def _bone_order(bones: list[RigBone], file: Path | str) -> tuple[RigBone, ...]:
    """Parents before children; one root; no cycle, unknown parent or doubled name."""
    by_name = {bone.name: bone for bone in bones}
    if len(by_name) != len(bones):
        doubled = next(b.name for i, b in enumerate(bones) if any(b.name == c.name for c in bones[:i]))
        raise BadInputError(f"Two bones are called {doubled!r}.", file=file, key="bones", hint="Rename one.")
    depth: dict[str, int] = {}
    for bone in bones:
        chain: list[str] = []
        walker: RigBone | None = bone
        while walker is not None:
            if walker.name in chain:
                cycle = " -> ".join([*chain, walker.name])
                raise BadInputError(
                    f"The parents form a cycle: {cycle}.", file=file, key="bones", hint="Give one of them no parent."
                )
            chain.append(walker.name)
            if walker.parent is not None and walker.parent not in by_name:
                raise BadInputError(
                    f"The parent {walker.parent!r} of bone {walker.name!r} is not among the bones.",
                    file=file,
                    key="bones",
                    hint=f"Known bones: {', '.join(by_name)}.",
                )
            walker = by_name[walker.parent] if walker.parent is not None else None
        depth[bone.name] = len(chain)
    roots = [bone.name for bone in bones if bone.parent is None]
    if len(roots) != 1:
        raise BadInputError(f"There are {len(roots)} bones without a parent {roots}; one root is needed.", file=file)
    return tuple(sorted(bones, key=lambda bone: depth[bone.name]))


def _bone(entry: dict[str, Any] | list[str | None], file: Path | str) -> RigBone:
    """A bone written as an object, or as the list [name, head, tail, parent]."""
    if isinstance(entry, dict):
        up = entry.get("up")
        axis = (float(up[0]), float(up[1]), float(up[2])) if up else None
        return RigBone(entry["name"], entry["head"], entry["tail"], entry.get("parent"), axis)
    name, head, tail, parent = entry
    if name is None or head is None or tail is None:
        raise BadInputError(
            f"The bone {entry} lacks a name, head or tail.", file=file, key="bones", hint="Only parent may be null."
        )
    return RigBone(name, head, tail, parent)


def load_rig_spec(path: Path | str) -> RigSpec:
    """Read rig.json; bones come back with parents before children.

    Raises:
        BadInputError: a wrong type, unknown joint or parent, cycle, several roots, or a bone without length.
    """
    data = read_json(path, "rig")
    joints = {name: (float(p[0]), float(p[1]), float(p[2])) for name, p in data["joints"].items()}
    bones = [_bone(entry, path) for entry in data["bones"]]
    for bone in bones:
        for end in (bone.head, bone.tail):
            if end not in joints:
                raise BadInputError(
                    f"Bone {bone.name!r} ends at the joint {end!r}, which is not among the joints.",
                    file=path,
                    key="bones",
                    hint=f"Known joints: {', '.join(joints)}.",
                )
        if np.linalg.norm(np.subtract(joints[bone.head], joints[bone.tail])) < 1e-6:
            raise BadInputError(f"Bone {bone.name!r} has no length.", file=path, key="bones")
    limits = {}
    for name, ranges in data.get("limits_deg", {}).items():
        if any(low > high for low, high in ranges):
            raise BadInputError(f"A limit of {name!r} has low above high: {ranges}.", file=path, key="limits_deg")
        (x, y, z) = ((float(low), float(high)) for low, high in ranges)
        limits[name] = (x, y, z)
    return RigSpec(joints, _bone_order(bones, path), limits)


def save_rig_spec(path: Path | str, spec: RigSpec) -> None:
    """Write rig.json."""
    write_json_file(
        path,
        "rig",
        {
            "joints": {name: list(place) for name, place in spec.joints.items()},
            "bones": [
                {"name": b.name, "head": b.head, "tail": b.tail, "parent": b.parent}
                | ({"up": list(b.up)} if b.up is not None else {})
                for b in spec.bones
            ],
            "limits_deg": {name: [list(pair) for pair in ranges] for name, ranges in spec.limits_deg.items()},
        },
    )


@dataclass(frozen=True, eq=False)
class RigInfo:
    """The capture skeleton at rest, in prep space (metres, -Y forward, ground z = 0).

    Attributes:
        creature, armature: names; the armature is an object of rigged.blend.
        to_prep: (4, 4) similarity from the artist's armature space to prep space.
        bones: B names, parents before children; bones[0] is the capture root.
        parents: (B,) index of the parent, -1 for the root.
        armature_parents: B names of the parents in the armature itself (they differ where IK feet were re-parented).
        rest: (B, 4, 4) orthonormal rest matrices, metres.
        lengths: (B,) bone lengths, metres.
        limits_rad: (B, 3, 2) low and high of the basis Euler XYZ; the root's row is not used.
        keypoints: J names; keypoint_bone: (J,) bone index; keypoint_end: (J,) 0 = head, 1 = tail.
        keypoint_offset: (J, 3) keypoint in the frame of its bone, metres; by default the end itself: (0, 0, 0) or
            (0, length, 0). It differs where a file's tail is made up (glTF stores none): there the keypoint sits at
            the far end of the skin that the bone moves.
        contacts: keypoint indices that may touch the ground.
        pairs: (P, 2) keypoint indices, left and right.
        joint_groups, bone_groups: body part -> keypoint indices or bone names.
        body_length: extent of the rest mesh along creature.json's axis, metres; the base of every percentage.
        bone_roles, bone_parts: B words each, see core/roles.py; empty in files of earlier versions.
    """

    creature: str
    armature: str
    to_prep: NDArray[np.float64]
    bones: tuple[str, ...]
    parents: NDArray[np.int64]
    armature_parents: tuple[str | None, ...]
    rest: NDArray[np.float64]
    lengths: NDArray[np.float64]
    limits_rad: NDArray[np.float64]
    keypoints: tuple[str, ...]
    keypoint_bone: NDArray[np.int64]
    keypoint_end: NDArray[np.int64]
    contacts: tuple[int, ...]
    pairs: NDArray[np.int64]
    joint_groups: dict[str, tuple[int, ...]]
    bone_groups: dict[str, tuple[str, ...]]
    body_length: float
    keypoint_offset: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 3)))
    bone_roles: tuple[str, ...] = ()
    bone_parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.keypoint_offset.shape == (0, 3) and len(self.keypoints):
            offset = np.zeros((len(self.keypoints), 3))
            offset[:, 1] = self.keypoint_end * self.lengths[self.keypoint_bone]
            object.__setattr__(self, "keypoint_offset", offset)

    @property
    def B(self) -> int:
        """How many bones."""
        return len(self.bones)

    @property
    def J(self) -> int:
        """How many keypoints."""
        return len(self.keypoints)

    def index(self, bone: str) -> int:
        """Index of the bone called `bone`."""
        try:
            return self.bones.index(bone)
        except ValueError:
            raise BadInputError(f"The rig has no bone {bone!r}.", hint=f"It has: {', '.join(self.bones)}.") from None

    def rest_joints(self) -> NDArray[np.float64]:
        """(J, 3) keypoints at rest, metres."""
        rest = self.rest[self.keypoint_bone]
        arms = rest[:, :3, :3] @ self.keypoint_offset[:, :, None]
        joints: NDArray[np.float64] = rest[:, :3, 3] + arms[..., 0]
        return joints


def load_rig_info(path: Path | str) -> RigInfo:
    """Read rig_info.json.

    Raises:
        BadInputError: a key is missing or wrong, shapes disagree, or the hierarchy is not topological.
    """
    data = read_json(path, "rig_info")
    bones = tuple(data["bones"])
    rig = RigInfo(
        creature=data["creature"],
        armature=data["armature"],
        to_prep=np.array(data["to_prep"], float),
        bones=bones,
        parents=np.array(data["parents"], np.int64),
        armature_parents=tuple(data["armature_parents"]),
        rest=np.array(data["rest"], float),
        lengths=np.array(data["lengths"], float),
        limits_rad=np.array(data["limits_rad"], float),
        keypoints=tuple(k["name"] for k in data["keypoints"]),
        keypoint_bone=np.array([bones.index(k["bone"]) if k["bone"] in bones else -1 for k in data["keypoints"]]),
        keypoint_end=np.array([0 if k["end"] == "head" else 1 for k in data["keypoints"]]),
        contacts=tuple(data["contacts"]),
        pairs=np.array(data["pairs"], np.int64).reshape(-1, 2),
        joint_groups={name: tuple(items) for name, items in data["joint_groups"].items()},
        bone_groups={name: tuple(items) for name, items in data["bone_groups"].items()},
        body_length=float(data["body_length"]),
        keypoint_offset=_keypoint_offset(data),
        bone_roles=tuple(data.get("bone_roles", ())),
        bone_parts=tuple(data.get("bone_parts", ())),
    )
    check_rig_info(rig, path)
    return rig


def _keypoint_offset(data: dict[str, Any]) -> NDArray[np.float64]:
    """(J, 3) offsets; a keypoint without one sits on its bone's end."""
    lengths = dict(zip(data["bones"], data["lengths"], strict=False))
    rows = []
    for keypoint in data["keypoints"]:
        at_end = (0.0, lengths.get(keypoint["bone"], 0.0) if keypoint["end"] == "tail" else 0.0, 0.0)
        rows.append(keypoint.get("offset", at_end))
    return np.array(rows, float).reshape(-1, 3)


def check_rig_info(rig: RigInfo, file: Path | str) -> None:
    """Hold shapes, order and indices of a RigInfo together.

    Raises:
        BadInputError: names the key.
    """
    shapes: dict[str, tuple[Any, tuple[int, ...]]] = {
        "to_prep": (rig.to_prep, (4, 4)),
        "parents": (rig.parents, (rig.B,)),
        "rest": (rig.rest, (rig.B, 4, 4)),
        "lengths": (rig.lengths, (rig.B,)),
        "limits_rad": (rig.limits_rad, (rig.B, 3, 2)),
        "keypoints": (rig.keypoint_offset, (rig.J, 3)),
    }
    hint = "Run the rig stage again."
    for key, (array, shape) in shapes.items():
        if array.shape != shape:
            raise BadInputError(f"has shape {array.shape}, not {shape}.", file=file, key=key, hint=hint)
    if rig.parents[0] != -1 or any(not 0 <= p < b for b, p in enumerate(rig.parents) if b):
        raise BadInputError("must list parents before children, with one root first.", file=file, key="parents")
    if (rig.keypoint_bone < 0).any():
        bad = rig.keypoints[int(np.argmin(rig.keypoint_bone))]
        raise BadInputError(f"Keypoint {bad!r} rides on an unknown bone.", file=file, key="keypoints", hint=hint)
    indices = [*rig.contacts, *rig.pairs.ravel(), *(i for g in rig.joint_groups.values() for i in g)]
    if any(not 0 <= index < rig.J for index in indices):
        raise BadInputError("A keypoint index is out of range.", file=file, key="contacts, pairs or joint_groups")
    spin = rig.rest[:, :3, :3]
    if not np.allclose(spin @ np.swapaxes(spin, -1, -2), np.eye(3), atol=1e-5):
        raise BadInputError("holds matrices that are not orthonormal.", file=file, key="rest", hint=hint)


def save_rig_info(path: Path | str, rig: RigInfo) -> None:
    """Write rig_info.json."""
    check_rig_info(rig, path)
    ends = ("head", "tail")
    keypoints = [
        {"name": name, "bone": rig.bones[bone], "end": ends[end], "offset": offset.tolist()}
        for name, bone, end, offset in zip(
            rig.keypoints, rig.keypoint_bone, rig.keypoint_end, rig.keypoint_offset, strict=True
        )
    ]
    write_json_file(
        path,
        "rig_info",
        {
            "creature": rig.creature,
            "armature": rig.armature,
            "to_prep": rig.to_prep.tolist(),
            "bones": list(rig.bones),
            "parents": rig.parents.tolist(),
            "armature_parents": list(rig.armature_parents),
            "rest": rig.rest.tolist(),
            "lengths": rig.lengths.tolist(),
            "limits_rad": rig.limits_rad.tolist(),
            "keypoints": keypoints,
            "contacts": list(rig.contacts),
            "pairs": rig.pairs.tolist(),
            "joint_groups": {name: list(items) for name, items in rig.joint_groups.items()},
            "bone_groups": {name: list(items) for name, items in rig.bone_groups.items()},
            "bone_roles": list(rig.bone_roles),
            "bone_parts": list(rig.bone_parts),
            "body_length": rig.body_length,
        },
    )
