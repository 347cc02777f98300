"""Operators that put a finished motion onto the artist's armature, as one undo step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ..blender.apply import action_name, chosen_bones
from ..blender.own_actions import edited_bones, is_ours
from ..core.errors import AnyMoCapError
from ..core.motion import load_motion
from ..core.rig import load_rig_info
from ..jobs.registry import REGISTRY
from .said_polls import NeedsCreature
from .scene_settings import creature_paths, wanted_settings
from .scene_time import CLASSES as TIME_CLASSES

if TYPE_CHECKING:
    from bpy.types import Context

_STAGE = REGISTRY["apply"]


class ANYMOCAP_OT_apply_here(NeedsCreature, bpy.types.Operator):
    """Key the fitted motion onto the chosen armature. An Action whose keys were edited is kept unless you say
    otherwise"""

    bl_idname = "anymocap.apply_here"
    bl_label = "Apply to Armature"
    bl_options = {"REGISTER", "UNDO"}

    edited: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Edited Action",
        description="What happens to an Action whose keys were edited since they were applied",
        items=(
            ("KEEP", "Keep Both", "Leave the edited Action, key the motion onto a new one"),
            ("OVERWRITE", "Overwrite", "Replace the edited keys"),
        ),
        default="KEEP",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        if not context.scene.anymocap.clip:
            return "Choose a clip first"
        if context.scene.anymocap.armature is None:
            return "Choose the creature's armature, or bring it in"
        if context.mode not in {"OBJECT", "POSE"}:
            return "Leave this mode first: motions are applied in Object and in Pose Mode"
        return ""

    def invoke(self, context: Context, event: Any) -> set[str]:
        try:
            self._action, self._bones = edited_action(context)
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if not self._bones or self.properties.is_property_set("edited"):
            return self.execute(context)
        answer: set[str] = context.window_manager.invoke_props_dialog(self, width=420)
        return answer

    def draw(self, context: Context) -> None:
        shown = ", ".join(self._bones[:4]) + (f" and {len(self._bones) - 4} more" if len(self._bones) > 4 else "")
        column = self.layout.column()
        column.label(text=f"Action {self._action!r} was edited since it was applied:", icon="QUESTION")
        column.label(text=f"keys of {shown}")
        column.row().prop(self, "edited", expand=True)

    def execute(self, context: Context) -> set[str]:
        given: dict[str, Any] = {"armature": context.scene.anymocap.armature.name}
        if self.properties.is_property_set("edited"):
            given["overwrite"] = self.edited == "OVERWRITE"
        try:
            answer: set[str] = bpy.ops.anymocap.apply(**given)  # a call without undo: this operator's step holds it all
        except RuntimeError as error:  # what an operator that is called here reports
            self.report({"ERROR"}, str(error).strip().removeprefix("Error: "))
            return {"CANCELLED"}
        return answer


def edited_action(context: Context) -> tuple[str, list[str]]:
    """The Action that an apply with the scene's settings would key, and those of its bones that were edited since.

    No bones where nothing would be lost: the Action is as it was keyed, is not ours (and so is kept), or the keys go
    onto a new one.

    Raises:
        BadInputError: there is no motion, or none that fits.
    """
    paths, scene = creature_paths(context), context.scene.anymocap
    settings = wanted_settings(context, _STAGE)
    clip, armature = paths.clip(scene.clip), scene.armature
    if settings["mode"] == "new" or settings["overwrite"]:
        return "", []
    name = settings["action_name"] or action_name(armature, load_motion(clip.motion), clip)
    action = bpy.data.actions.get(name)
    if action is None or not is_ours(action):
        return name, []
    bones = (
        chosen_bones(armature, load_rig_info(paths.rig_info), settings["onto"])
        if settings["bones"] == "selected"
        else None
    )
    return name, edited_bones(action, armature, bones)


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_apply_here, *TIME_CLASSES)
