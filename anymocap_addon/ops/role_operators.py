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


def parts_told(rig: RigInfo, edits: dict[str, str]) -> list[str]:
    """One line a body part: its bones, those that the artist set with a star."""
    members: dict[str, list[str]] = {}
    for bone, part in zip(rig.bones, rig.bone_parts, strict=False):
        members.setdefault(part, []).append(f"{bone}*" if bone in edits else bone)
    return [f"{part.replace('_', ' ')}: {', '.join(bones)}" for part, bones in sorted(members.items())]


class ANYMOCAP_OT_set_body_part(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Say which body part a bone and those below it are. Limb paint, limits and figures follow at the next Rig"""

    bl_idname = "anymocap.set_body_part"
    bl_label = "Body Parts"
    bl_options = {"INTERNAL"}

    bone: bpy.props.StringProperty(name="Bone", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    part: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Is", items=_PARTS, default=_AS_FOUND, options={"SKIP_SAVE"}
    )

    def invoke(self, context: Context, event: Any) -> set[str]:
        paths = creature_paths(context)
        try:
            rig = load_rig_info(paths.rig_info)
            self._lines = parts_told(rig, load_creature(paths.creature_json).roles)
        except BadInputError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        active = context.active_pose_bone
        if not self.bone and active is not None and active.name in rig.bones:
            self.bone = active.name
        answer: set[str] = context.window_manager.invoke_props_dialog(self, width=520)
        return answer

    def draw(self, context: Context) -> None:
        column = self.layout.column(align=True)
        for line in getattr(self, "_lines", ()):
            column.label(text=line)
        self.layout.prop(self, "bone")
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


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_set_body_part, ANYMOCAP_OT_frame_anew)
