"""Capture: the clips, and reading and fit of the active one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.states import SceneStates
from ..stage_look import StageLook, stage_look
from ..wrapped_text import draw_text
from .stage_body import draw_button, draw_settings, draw_standing

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_STAGES = (("take", "Take In"), ("gate", "Check"), ("detect", "Read"), ("fit", "Fit"), ("preview", "Preview"))
_BY_THEMSELVES = ("take", "gate", "preview")  # they have nothing to tell while all is well


def draw_capture(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """Choose a clip, read it, fit it."""
    draw_clip_choice(layout, context, states)
    if not context.scene.anymocap.clip:
        draw_text(layout, context, "A clip shows the creature from the front on the left, from its side on the right.")
        return
    fit = states.of("fit")
    text = "Read and Fit Again" if fit is not None and fit.word == "ready" else "Read and Fit"
    row = layout.row()
    row.scale_y = 1.35 if is_next else 1.0
    row.operator("anymocap.capture", text=text, icon="PLAY" if is_next else "NONE")
    for name, verb in _STAGES:
        look = stage_look(states, name)
        if name in _BY_THEMSELVES and look.word in ("missing", "ready"):
            continue
        _draw_title(layout, verb, look)
        draw_standing(layout, context, look)
        if look.running is None:
            draw_button(layout, look, verb)
        draw_settings(layout, context, name)
    _draw_warnings(layout, context, states)


def _draw_title(layout: UILayout, text: str, look: StageLook) -> None:
    row = layout.row()
    row.label(text=text)
    side = row.row()
    side.alignment = "RIGHT"
    side.label(text=look.short)
    side.label(icon=look.icon)


def draw_clip_choice(layout: UILayout, context: Context, states: SceneStates) -> None:
    """The active clip, a list to choose another, and the button that adds one."""
    row = layout.row(align=True)
    row.menu("ANYMOCAP_MT_clips", text=context.scene.anymocap.clip or "No clip", icon="FILE_MOVIE")
    row.operator("anymocap.add_clip", text="", icon="ADD")
    row.operator("anymocap.forget_clip", text="", icon="REMOVE")


def _draw_warnings(layout: UILayout, context: Context, states: SceneStates) -> None:
    assert states.survey is not None
    clip = states.survey.summary(context.scene.anymocap.clip)
    for text in clip.warnings if clip is not None else ():
        draw_text(layout, context, text, icon="ERROR")
