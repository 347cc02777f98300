"""Apply and scrub: the motion onto the armature, and creature and clip side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.applied_here import why_not_here
from ...ops.apply_ready import why_waiting
from ...ops.running import HOST
from ...ops.scene_time import rate_offer
from ...ops.states import SceneStates
from ..overlay.settings_panel import draw_settings as draw_overlay_settings
from ..stage_look import stage_look
from ..wrapped_text import draw_text
from .stage_body import draw_settings, draw_standing

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_BIG = 1.35


def draw_apply(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """Armature, start and the button that keys the motion; below it what helps to scrub."""
    settings = context.scene.anymocap
    _draw_armature(layout, context)
    if settings.armature is not None:
        column = layout.column(align=True)
        column.prop(settings, "start_frame")
        column.prop(settings, "apply_when_fitted")
        _draw_waiting(layout, context, states)
        look = stage_look(states, "apply")
        draw_standing(layout, context, look)
        gone = why_not_here(context.scene) if look.word == "ready" else ""
        if gone:
            draw_text(layout, context, f"{gone}.", icon="INFO")
        applied = look.word == "ready" and not gone
        row = layout.row()
        row.scale_y = _BIG if is_next and not applied else 1.0
        row.operator("anymocap.apply_here", text="Apply Again" if applied else "Apply")
    draw_settings(layout, context, "apply")
    _draw_scrub(layout, context)


def _draw_armature(layout: UILayout, context: Context) -> None:
    settings = context.scene.anymocap
    if settings.armature is None:
        draw_text(layout, context, "Bring the creature in, or choose its armature in this scene.", icon="INFO")
    row = layout.row(align=True)
    row.prop(settings, "armature", text="")
    row.operator("anymocap.bring_in", text="" if settings.armature is not None else "Bring In", icon="IMPORT")


def _draw_waiting(layout: UILayout, context: Context, states: SceneStates) -> None:
    """A fitted motion that could not be keyed at once."""
    assert states.survey is not None
    for ready in HOST.ready:
        if ready.is_of(states.survey.paths, context.scene.anymocap.clip):
            reason = ready.problem or why_waiting(context.window)
            why = f": {reason}" if reason else ""
            draw_text(layout, context, f"A new motion waits to be applied{why}.", icon="INFO")


def _draw_scrub(layout: UILayout, context: Context) -> None:
    """The clip's cameras, from bad frame to bad frame, the scene's time, and what the overlay shows."""
    row = layout.row(align=True)
    row.operator("anymocap.look_through", text="Front", icon="VIEW_CAMERA").view = "FRONT"
    row.operator("anymocap.look_through", text="Side", icon="VIEW_CAMERA").view = "SIDE"
    row.operator("anymocap.leave_view", text="", icon="LOOP_BACK")
    row = layout.row(align=True)
    row.operator("anymocap.jump", text="", icon="PREV_KEYFRAME").direction = "PREVIOUS"
    row.operator("anymocap.jump", text="Next Bad Frame", icon="NEXT_KEYFRAME").direction = "NEXT"
    layout.operator("anymocap.scene_range", text="Scene Range to Clip", icon="PREVIEW_RANGE")
    if offer := rate_offer(context):
        draw_text(layout, context, offer + ".", icon="INFO")
        layout.operator("anymocap.scene_rate")
    header, body = layout.panel("ANYMOCAP_overlay", default_closed=True)
    header.label(text="Overlay")
    if body is not None:
        draw_overlay_settings(body, context)
