"""What the panel shows of the skeleton of a creature that came without one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import AnyMoCapError
from ..core.project import CreaturePaths
from ..core.rig import load_rig_spec
from .state import StageState


@dataclass(frozen=True)
class RigBuilderSurvey:
    """A skeleton that is placed by hand or from a template.

    Attributes:
        bare: the prepped mesh has no armature; None where prep ran before it told.
        bones, joints: of rig.json; 0 where there is none.
        damage: why rig.json cannot be read; empty where it can.
        sheet_made, skin_made: when the two pictures were drawn, words that change with them; empty without.
        built: the rig was built from rig.json.
    """

    bare: bool | None
    bones: int = 0
    joints: int = 0
    damage: str = ""
    sheet_made: str = ""
    skin_made: str = ""
    built: bool = False

    @property
    def has_skeleton(self) -> bool:
        """There is a rig.json."""
        return bool(self.bones or self.damage)

    @property
    def is_for_this(self) -> bool:
        """The creature has no armature of its own, or is to get another one."""
        return self.bare is True or self.has_skeleton


def rig_builder_survey(paths: CreaturePaths, states: Mapping[str, StageState]) -> RigBuilderSurvey:
    """Look at the files of the skeleton, and at what prep and rig said."""
    prep, rig = (states[name].record if name in states else None for name in ("prep", "rig"))
    armatures = (prep.result or {}).get("armatures") if prep is not None else None
    bones = joints = 0
    damage = ""
    if paths.rig_json.exists():
        try:
            spec = load_rig_spec(paths.rig_json)
            bones, joints = len(spec.bones), len(spec.joints)
        except AnyMoCapError as error:
            damage = str(error)
    return RigBuilderSurvey(
        bare=None if armatures is None else armatures == 0,
        bones=bones,
        joints=joints,
        damage=damage,
        sheet_made=_made(paths.rig_sheet),
        skin_made=_made(paths.skin_png),
        built=rig is not None and (rig.result or {}).get("mode") == "build" and paths.rigged_blend.exists(),
    )


def _made(path: Path) -> str:
    return str(path.stat().st_mtime_ns) if path.exists() else ""
