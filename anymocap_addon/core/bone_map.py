"""bone_map.json: what became of each bone of the artist's armature in the capture skeleton, and the artist's changes.

`bones` is what the rig stage found and did; it is written anew with each run. `edits` is the artist's alone: the rig
stage reads it, obeys it and hands it on unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from .errors import BadInputError
from .formats import read_json, write_json_file
from .nearest import nearest_hint

BoneState = Literal["captured", "driven", "left_out"]
BoneRole = Literal["", "helper", "ik_target", "ik_pole"]

STATES: tuple[BoneState, ...] = ("captured", "driven", "left_out")


@dataclass(frozen=True)
class MappedBone:
    """One bone of the armature.

    Attributes:
        state: "captured" (the motion is fitted to it), "driven" (a helper that follows captured bones) or "left_out".
        parent: the captured bone that it hangs on in the capture skeleton; None for the capture root and for bones
            that are not captured.
        follows: captured bones that a driven bone, an IK target or a pole follows.
        role: "helper" (twist and corrective bones), "ik_target", "ik_pole", or empty.
        reason: one sentence for the artist.
    """

    name: str
    state: BoneState
    parent: str | None = None
    follows: tuple[str, ...] = ()
    role: BoneRole = ""
    reason: str = ""


@dataclass(frozen=True)
class BoneEdit:
    """What the artist says of one bone; None and empty leave it as it was found."""

    state: BoneState | None = None
    parent: str = ""


Edits = Mapping[str, BoneEdit]


@dataclass(frozen=True)
class BoneMap:
    """bone_map.json, in the order of the armature's hierarchy (parents before children)."""

    armature: str
    bones: tuple[MappedBone, ...]
    edits: Edits = field(default_factory=dict)

    def of(self, name: str) -> MappedBone | None:
        """The entry of the bone `name`."""
        return next((bone for bone in self.bones if bone.name == name), None)

    def captured(self) -> tuple[str, ...]:
        """Names of the captured bones."""
        return tuple(bone.name for bone in self.bones if bone.state == "captured")


def load_bone_map(path: Path) -> BoneMap:
    """Read bone_map.json.

    Raises:
        BadInputError: missing, or a key is wrong.
    """
    data = read_json(path, "bone_map")
    bones = tuple(
        MappedBone(
            name=entry["name"],
            state=cast(BoneState, entry["state"]),
            parent=entry.get("parent"),
            follows=tuple(entry.get("follows", ())),
            role=cast(BoneRole, entry.get("role", "")),
            reason=entry.get("reason", ""),
        )
        for entry in data["bones"]
    )
    return BoneMap(data["armature"], bones, _edits(data))


def load_edits(path: Path) -> dict[str, BoneEdit]:
    """The artist's changes; none where there is no file.

    Raises:
        BadInputError: a key is wrong.
    """
    return _edits(read_json(path, "bone_map")) if path.exists() else {}


def _edits(data: dict[str, Any]) -> dict[str, BoneEdit]:
    return {
        name: BoneEdit(cast("BoneState | None", entry.get("state")), entry.get("parent", ""))
        for name, entry in data.get("edits", {}).items()
    }


def edits_json(edits: Edits) -> dict[str, dict[str, str]]:
    """The edits as they are written: without what they leave as it was, sorted by bone."""
    rows = {
        name: {key: value for key, value in (("state", edit.state), ("parent", edit.parent)) if value}
        for name, edit in sorted(edits.items())
    }
    return {name: row for name, row in rows.items() if row}


def save_bone_map(path: Path, bone_map: BoneMap) -> None:
    """Write bone_map.json."""
    bones = []
    for bone in bone_map.bones:
        entry: dict[str, Any] = {"name": bone.name, "state": bone.state, "parent": bone.parent}
        entry.update({key: value for key, value in (("role", bone.role), ("reason", bone.reason)) if value})
        if bone.follows:
            entry["follows"] = list(bone.follows)
        bones.append(entry)
    write_json_file(
        path, "bone_map", {"armature": bone_map.armature, "bones": bones, "edits": edits_json(bone_map.edits)}
    )


def check_edits(edits: Edits, names: tuple[str, ...], file: Path | str) -> None:
    """Hold the edits to the bones of the armature.

    Raises:
        BadInputError: an edit is of, or hangs on, a bone that the armature lacks, or a bone hangs on itself.
    """
    for name, edit in edits.items():
        for bone in filter(None, (name, edit.parent)):
            if bone not in names:
                raise BadInputError(
                    f"The armature has no bone {bone!r}.", file=file, key="edits", hint=nearest_hint(bone, names)
                )
        if edit.parent == name:
            raise BadInputError(
                f"Bone {name!r} cannot be its own parent.", file=file, key="edits", hint="Choose another parent."
            )
