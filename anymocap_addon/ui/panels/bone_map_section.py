"""The bones of the armature in the Rig section: captured, following others or left out, and the artist's changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...ops.bone_map_operators import STATE_WORDS
from ...ops.states import SceneStates
from ..wrapped_text import draw_text

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_ICONS = {"captured": "BONE_DATA", "driven": "LINKED", "left_out": "REMOVE"}
_ROWS = 8
_INDENTED = 6  # levels that are shown by indenting; deeper ones stand below each other


class ANYMOCAP_UL_bones(bpy.types.UIList):
    """Bones of the armature, parents before children."""

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        data: Any,
        item: Any,
        icon: int,
        active_data: Any,
        active_property: str,
        index: int,
    ) -> None:
        row = layout.row(align=True)
        for _ in range(min(item.depth, _INDENTED)):
            row.label(icon="BLANK1")
        name = row.row()
        name.active = item.state == "captured"
        name.label(text=item.name, icon=_ICONS.get(item.state, "QUESTION"))
        if item.edited:
            row.label(icon="GREASEPENCIL")


def draw_bone_map(layout: UILayout, context: Context, states: SceneStates) -> None:
    """The folded list; it is read from its file when it is asked for."""
    assert states.survey is not None
    state = states.of("rig")
    if state is None or state.word not in ("ready", "stale"):
        return
    header, body = layout.panel("ANYMOCAP_bones", default_closed=True)
    header.label(text="Bones")
    if body is None:
        return
    shown = context.window_manager.anymocap_bone_map
    if shown.of != str(states.survey.paths.bone_map):
        body.operator("anymocap.show_bones")
        return
    body.template_list("ANYMOCAP_UL_bones", "", shown, "bones", shown, "at", rows=_ROWS)
    row = body.row(align=True)
    row.operator("anymocap.show_bones", text="Read Again", icon="FILE_REFRESH")
    row.operator("anymocap.reset_bones", text="Reset All", icon="LOOP_BACK").bone = ""
    if shown.at < len(shown.bones):
        _draw_bone(body, context, shown.bones[shown.at])
    if any(bone.edited for bone in shown.bones) and state.word == "stale":
        draw_text(body, context, "Run Rig again for your changes to hold.", icon="INFO")


def _draw_bone(layout: UILayout, context: Context, bone: Any) -> None:
    told = STATE_WORDS.get(bone.state, bone.state)
    hangs = f", hangs on {bone.parent}" if bone.parent and bone.state == "captured" else ""
    draw_text(layout, context, f"{told}{hangs}. {bone.reason}".strip())
    row = layout.row(align=True)
    row.operator("anymocap.edit_bone", text="Change", icon="GREASEPENCIL").bone = bone.name
    if bone.edited:
        row.operator("anymocap.reset_bones", text="As Found", icon="LOOP_BACK").bone = bone.name


CLASSES: tuple[type, ...] = (ANYMOCAP_UL_bones,)
