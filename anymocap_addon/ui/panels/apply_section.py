"""Apply and scrub: the motion onto the armature, and creature and clip side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.states import SceneStates
from .stage_body import draw_stage

if TYPE_CHECKING:
    from bpy.types import Context, UILayout


def draw_apply(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """Armature, start and the button that keys the motion."""
    settings = context.scene.anymocap
    column = layout.column(align=True)
    column.prop(settings, "armature", text="")
    column.prop(settings, "start_frame")
    layout.prop(settings, "apply_when_fitted")
    draw_stage(layout, context, states, "apply", "Apply", is_next)
