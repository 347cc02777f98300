"""Takes: the captured clips with their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...jobs.clip_summary import ClipSummary
from ...ops.states import SceneStates
from ..pictures import picture_icon
from ..wrapped_text import draw_text

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_PICTURE_SCALE = 8.0
_BOX = 16


def takes_told(states: SceneStates) -> str:
    """How many there are."""
    assert states.survey is not None
    count = sum(clip.has_motion for clip in states.survey.clips)
    return "none yet" if not count else f"{count} captured"


def draw_takes(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """One line a clip; the active one with its figures, warnings and report."""
    assert states.survey is not None
    takes = [clip for clip in states.survey.clips if clip.has_motion]
    if not takes:
        draw_text(layout, context, "Captured clips stand here with their figures.", icon="INFO")
        return
    for clip in takes:
        _draw_take(layout, context, clip, clip.name == context.scene.anymocap.clip)


def _draw_take(layout: UILayout, context: Context, clip: ClipSummary, active: bool) -> None:
    box = layout.box()
    row = box.row(align=True)
    name = row.row(align=True)
    name.alignment = "LEFT"
    if active:
        name.label(text=clip.name, icon="RADIOBUT_ON")
    else:
        chosen = name.operator("anymocap.choose_clip", text=clip.name, icon="RADIOBUT_OFF", emboss=False)
        chosen.name = clip.name
    if clip.warnings:
        side = row.row()
        side.alignment = "RIGHT"
        side.label(text=_counted(len(clip.warnings)), icon="ERROR")
    if not active:
        return
    for figure in clip.figures:
        draw_text(box, context, figure, icon="DOT", inset=_BOX)
    for text in clip.warnings:
        draw_text(box, context, text, icon="ERROR", inset=_BOX)
    if clip.report is not None:
        box.template_icon(icon_value=picture_icon(clip.report, clip.report_made), scale=_PICTURE_SCALE)
        box.operator("anymocap.open_file", text="Open Report", icon="IMAGE_DATA").filepath = str(clip.report)
    box.operator("anymocap.open_folder", icon="FILE_FOLDER").folder = "CLIP"


def _counted(warnings: int) -> str:
    return "1 warning" if warnings == 1 else f"{warnings} warnings"
