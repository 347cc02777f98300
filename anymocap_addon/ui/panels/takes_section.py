"""Takes: the captured clips with their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...jobs.clip_summary import ClipSummary
from ...ops.states import SceneStates
from ..pictures import picture_icon
from ..stage_look import ICONS, stage_look
from ..wrapped_text import draw_text
from .stage_body import draw_standing

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_PICTURE_SCALE = 8.0
_BOX = 16
_AGAIN = ICONS["stale"]
_NOUN = {"report": "Report", "showcase": "Showcase Film"}
_ICON = {"report": "IMAGE_DATA", "showcase": "FILE_MOVIE"}


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
        _draw_take(layout, context, states, clip, clip.name == context.scene.anymocap.clip)


def _draw_take(layout: UILayout, context: Context, states: SceneStates, clip: ClipSummary, active: bool) -> None:
    box = layout.box()
    row = box.row(align=True)
    name = row.row(align=True)
    name.alignment = "LEFT"
    if active:
        name.label(text=clip.name, icon="RADIOBUT_ON")
    else:
        chosen = name.operator("anymocap.choose_clip", text=clip.name, icon="RADIOBUT_OFF", emboss=False)
        chosen.name = clip.name
    if clip.concerns:
        side = row.row()
        side.alignment = "RIGHT"
        side.label(text=_counted(len(clip.concerns)), icon="ERROR")
    if not active:
        return
    for figure in clip.figures:
        draw_text(box, context, figure, icon="DOT", inset=_BOX)
    for text in clip.concerns:
        draw_text(box, context, text, icon="ERROR", inset=_BOX)
    if clip.report is not None:
        box.template_icon(icon_value=picture_icon(clip.report, clip.report_made), scale=_PICTURE_SCALE)
    _draw_results(box, context, states, clip)
    box.operator("anymocap.open_folder", icon="FILE_FOLDER").folder = "CLIP"


def _draw_results(box: UILayout, context: Context, states: SceneStates, clip: ClipSummary) -> None:
    """The report and the film that compares clip and creature: open them where they are, else make them."""
    assert states.survey is not None
    showcase = states.survey.paths.clip(clip.name).showcase
    for name, file in (("report", clip.report), ("showcase", showcase)):
        look = stage_look(states, name)
        if look.word in ("running", "queued", "stopping", "failed"):
            draw_standing(box, context, look)
        row = box.row(align=True)
        if look.word in ("ready", "stale") and file is not None:
            row.operator("anymocap.open_file", text=f"Open {_NOUN[name]}", icon=_ICON[name]).filepath = str(file)
            if look.word == "ready":
                row.operator("anymocap.run_again", text="", icon=_AGAIN).stage = name
            else:
                row.operator(f"anymocap.{name}", text="", icon=_AGAIN)
        elif look.running is None:
            row.operator(f"anymocap.{name}", text=f"Make {_NOUN[name]}", icon=_ICON[name])


def _counted(warnings: int) -> str:
    return "1 warning" if warnings == 1 else f"{warnings} warnings"
