"""Say what a bone of the creature is where it was found wrong, and frame the creature anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy

from ..core.creature import load_creature, save_creature
from ..core.errors import BadInputError
from ..core.nearest import nearest_hint
from ..core.rig import RigInfo, load_rig_info
from ..core.role_edits import role_choices
from ..jobs.registry import REGISTRY
from ..jobs.stage_run import StageRun
from .foreground import run_to_end
from .reported_errors import ReportsErrors
from .running import HOST
from .said_polls import NeedsCreature
from .scene_settings import creature_paths, wanted_settings
from .states import STATES

if TYPE_CHECKING:
    from bpy.types import Context

_AS_FOUND = "AS_FOUND"
_PARTS = [(_AS_FOUND, "As found", "What hierarchy, shape and names say")] + [
    (word, word.replace("_", " ").capitalize(), "") for word in role_choices()
]


_ROWS = 16


def bones_by_part(rig: RigInfo, edits: dict[str, str]) -> list[tuple[str, str, str]]:
    """Bone, its body part in words and what the artist set ("": as found); sorted by part, within it as they hang."""
    told = [
        (bone, part.replace("_", " "), edits.get(bone, ""))
        for bone, part in zip(rig.bones, rig.bone_parts or ("",) * rig.B, strict=True)
    ]
    return sorted(told, key=lambda row: row[1])


def is_sought(bone: str, part: str, search: str) -> bool:
    """Whether every word of the search stands in the bone's name or in its part's, in any case."""
    text = f"{bone} {part}".casefold()
    return all(word in text for word in search.casefold().split())


def _take_bone(self: Any, context: Context) -> None:
    if self.at < len(self.rows):
        row = self.rows[self.at]
        self.bone = row.name
        self.part = row.edit if row.edit in role_choices() else _AS_FOUND


class ANYMOCAP_PG_body_part_row(bpy.types.PropertyGroup):
    """A bone in the dialog's list; its name is the bone's."""

    part: bpy.props.StringProperty()  # type: ignore[valid-type]
    edit: bpy.props.StringProperty()  # type: ignore[valid-type]


class ANYMOCAP_OT_set_body_part(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Say which body part a bone and those below it are. Limb paint, limits and figures follow at the next Rig"""

    bl_idname = "anymocap.set_body_part"
    bl_label = "Body Parts"
    bl_options = {"INTERNAL"}

    bone: bpy.props.StringProperty(name="Bone", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    part: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Is", items=_PARTS, default=_AS_FOUND, options={"SKIP_SAVE"}
    )
    rows: bpy.props.CollectionProperty(type=ANYMOCAP_PG_body_part_row, options={"SKIP_SAVE"})  # type: ignore[valid-type]
    search: bpy.props.StringProperty(  # type: ignore[valid-type]
        description="Words of a bone's name or of a body part", options={"SKIP_SAVE", "TEXTEDIT_UPDATE"}
    )
    at: bpy.props.IntProperty(update=_take_bone, options={"SKIP_SAVE"})  # type: ignore[valid-type]

    def invoke(self, context: Context, event: Any) -> set[str]:
        paths = creature_paths(context)
        try:
            rig = load_rig_info(paths.rig_info)
            told = bones_by_part(rig, load_creature(paths.creature_json).roles)
        except BadInputError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        active = context.active_pose_bone
        wanted = self.bone or (active.name if active is not None else "")
        self.rows.clear()
        for bone, part, edit in told:
            row = self.rows.add()
            row.name, row.part, row.edit = bone, part, edit
        self.at = next((i for i, (bone, _, _) in enumerate(told) if bone == wanted), 0)
        answer: set[str] = context.window_manager.invoke_props_dialog(self, width=420)
        return answer

    def draw(self, context: Context) -> None:
        self.layout.prop(self, "search", text="", icon="VIEWZOOM")
        self.layout.template_list(
            "ANYMOCAP_UL_body_parts", "", self, "rows", self, "at", rows=_ROWS, maxrows=_ROWS, sort_lock=True
        )
        self.layout.label(text=self.bone, icon="BONE_DATA")
        self.layout.prop(self, "part")

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._set(context))

    def _set(self, context: Context) -> None:
        paths = creature_paths(context)
        rig, creature = load_rig_info(paths.rig_info), load_creature(paths.creature_json)
        if self.bone not in rig.bones and self.bone not in creature.roles:
            raise BadInputError(f"The rig has no bone {self.bone!r}.", hint=nearest_hint(self.bone, rig.bones))
        roles = {bone: part for bone, part in creature.roles.items() if bone != self.bone}
        if self.part != _AS_FOUND:
            roles[self.bone] = self.part
        save_creature(paths.creature_json, replace(creature, roles=roles))
        STATES.refresh(context)


class ANYMOCAP_OT_frame_anew(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Find the frame again, with the room that the settings ask for, and draw the reference in it"""

    bl_idname = "anymocap.frame_anew"
    bl_label = "Frame Anew"
    bl_options = {"INTERNAL"}

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._frame(context))

    def _frame(self, context: Context) -> None:
        stage = REGISTRY["ref"]
        settings = {**wanted_settings(context, stage), "reframe": True}
        run = StageRun(creature_paths(context), stage, settings, pool=HOST.pool, force=True)
        if bpy.app.background:
            run_to_end(run)
        else:
            HOST.start(run)


CLASSES: tuple[type, ...] = (ANYMOCAP_PG_body_part_row, ANYMOCAP_OT_set_body_part, ANYMOCAP_OT_frame_anew)
