"""The overlay's settings, for the panel that embeds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.current_capture import CAPTURES
from ...ops.overlay_settings import LAYERS, LAYERS_3D
from ...ops.overlay_state import STATE
from ..wrapped_text import draw_text

if TYPE_CHECKING:
    from bpy.types import Context, UILayout


def draw_settings(layout: UILayout, context: Context) -> None:
    """What is shown, where, and what is wrong with it. Reads no file."""
    settings = context.scene.anymocap.overlay
    header = layout.row(align=True)
    header.prop(settings, "show", icon="HIDE_OFF" if settings.show else "HIDE_ON")
    _draw_problems(layout, context)
    body = layout.column()
    body.active = settings.show
    _draw_layers(body, settings, LAYERS)
    place = body.column(align=True)
    place.prop(settings, "opacity", slider=True)
    row = place.row(align=True)
    row.operator("anymocap.overlay_drag", text="Move", icon="ARROW_LEFTRIGHT").part = "MOVE"
    row.operator("anymocap.overlay_drag", text="Resize", icon="FULLSCREEN_ENTER").part = "RESIZE"
    row.operator("anymocap.overlay_reset", text="", icon="LOOP_BACK")
    layout.label(text="In the scene")
    _draw_layers(layout, settings, (*LAYERS_3D, "clip_behind"))
    if settings.trails:
        trails = layout.row(align=True)
        trails.prop(settings, "trail_of", text="")
        trails.prop(settings, "trail_frames", text="Frames")


def _draw_layers(layout: UILayout, settings: object, names: tuple[str, ...]) -> None:
    grid = layout.grid_flow(row_major=True, columns=2, even_columns=True, align=True)
    for name in names:
        grid.prop(settings, name, toggle=True)


def _draw_problems(layout: UILayout, context: Context) -> None:
    loaded = CAPTURES.of(context.scene)
    words = [STATE.fault] if STATE.fault else []
    if loaded is not None:
        words += [loaded.error] if loaded.error else list(loaded.view.problems if loaded.view is not None else ())
    for text in words:
        draw_text(layout, context, text, icon="ERROR")
    if STATE.fault:
        layout.operator("anymocap.overlay_restart", icon="FILE_REFRESH")
