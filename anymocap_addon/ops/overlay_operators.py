"""Place and drag the overlay, go to frames in its strip, and start it again after a fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
from bpy.props import BoolProperty, EnumProperty

from .current_capture import clip_clock, current_view
from .overlay_place import Box, Place, free_box, overlay_place
from .overlay_settings import SMALLEST_WIDTH
from .overlay_state import STATE
from .said_polls import SaidPoll

if TYPE_CHECKING:
    from bpy.types import Context, Event

_PLACED = ("left", "bottom", "width")


class ANYMOCAP_OT_overlay_drag(SaidPoll, bpy.types.Operator):
    """Drag the overlay to another place or size, or the frame along its strip"""

    bl_idname = "anymocap.overlay_drag"
    bl_label = "Move Overlay"
    bl_options = {"INTERNAL"}

    part: EnumProperty(  # type: ignore[valid-type]
        name="Part",
        items=[("MOVE", "Move", ""), ("RESIZE", "Resize", ""), ("SCRUB", "Scrub", "")],
        default="MOVE",
        options={"SKIP_SAVE"},
    )
    held: BoolProperty(  # type: ignore[valid-type]
        name="Held", description="Ends when the mouse button is let go", default=False, options={"SKIP_SAVE"}
    )

    @classmethod
    def why_not(cls, context: Context) -> str:
        if context.area is None or context.area.type != "VIEW_3D":
            return "Only in a 3D view"
        return "" if current_view(context) is not None else "Read a clip first: there is nothing to show yet"

    def invoke(self, context: Context, event: Event) -> set[str]:
        view = current_view(context)
        region = window_region(context.area)
        if view is None or region is None:
            return {"CANCELLED"}
        settings = context.scene.anymocap.overlay
        self._region = region
        self._free = free_box(context.area, region)
        self._place: Place = overlay_place(context, context.area, region, view.layout)
        self._start = _mouse(region, event)
        self._before = {name: getattr(settings, name) for name in _PLACED}
        self._frame_before = context.scene.frame_current
        if self.part == "SCRUB":
            self._drag(context, *self._start)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> set[str]:
        if event.type in {"ESC", "RIGHTMOUSE"}:
            self._restore(context)
            return {"CANCELLED"}
        done = event.type == "LEFTMOUSE" and event.value == ("RELEASE" if self.held else "PRESS")
        if event.type in {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE"} or done:
            self._drag(context, *_mouse(self._region, event))
        if done or event.type in {"RET", "NUMPAD_ENTER"}:
            return {"FINISHED"}
        return {"RUNNING_MODAL"}

    def _drag(self, context: Context, x: float, y: float) -> None:
        settings = context.scene.anymocap.overlay
        if self.part == "SCRUB":
            _go_to(context, self._place, x)
        elif self.part == "RESIZE":
            settings.width = resized(self._place.whole, self._free, x - self._start[0])
        else:
            moved = (x - self._start[0], y - self._start[1])
            settings.left, settings.bottom = moved_to(self._place.whole, self._free, moved)
        self._region.tag_redraw()

    def _restore(self, context: Context) -> None:
        for name, value in self._before.items():
            setattr(context.scene.anymocap.overlay, name, value)
        if self.part == "SCRUB":
            context.scene.frame_current = self._frame_before
        self._region.tag_redraw()


class ANYMOCAP_OT_overlay_reset(bpy.types.Operator):
    """Put the overlay back into the lower left corner at its usual size"""

    bl_idname = "anymocap.overlay_reset"
    bl_label = "Reset Place"
    bl_options = {"INTERNAL"}

    def execute(self, context: Context) -> set[str]:
        for name in _PLACED:
            context.scene.anymocap.overlay.property_unset(name)
        redraw_views(context)
        return {"FINISHED"}


class ANYMOCAP_OT_overlay_restart(bpy.types.Operator):
    """Show the overlay again after it switched itself off"""

    bl_idname = "anymocap.overlay_restart"
    bl_label = "Show Again"
    bl_options = {"INTERNAL"}

    def execute(self, context: Context) -> set[str]:
        STATE.fault = ""
        redraw_views(context)
        return {"FINISHED"}


def moved_to(whole: Box, free: Box, moved: tuple[float, float]) -> tuple[float, float]:
    """`left` and `bottom` of the overlay moved by px, kept inside."""
    x = min(max(whole.x + moved[0] - free.x, 0.0), max(free.w - whole.w, 0.0))
    y = min(max(whole.y + moved[1] - free.y, 0.0), max(free.h - whole.h, 0.0))
    return x / free.w, y / free.h


def resized(whole: Box, free: Box, moved: float) -> float:
    """`width` of the overlay whose right edge moved by px."""
    return float(min(max((whole.w + moved) / free.w, SMALLEST_WIDTH), 1.0))


def window_region(area: Any) -> Any:
    """The region of a 3D view in which the overlay is shown: the first, where the view is split in four."""
    return next((region for region in area.regions if region.type == "WINDOW"), None)


def redraw_views(context: Context) -> None:
    """Ask Blender to draw all 3D views again."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


def _go_to(context: Context, place: Place, x: float) -> None:
    """Set the scene's frame to the one that shows the clip's frame under `x`."""
    view = current_view(context)
    if view is None or place.graph is None:
        return
    frame = round(clip_clock(context.scene, view).scene_frame(place.graph_frame(x, view.T)))
    if frame != context.scene.frame_current:
        context.scene.frame_current = frame


def _mouse(region: Any, event: Event) -> tuple[float, float]:
    return event.mouse_x - region.x, event.mouse_y - region.y


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_overlay_drag, ANYMOCAP_OT_overlay_reset, ANYMOCAP_OT_overlay_restart)
