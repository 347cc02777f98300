"""Takes hold of the overlay with the mouse: its bar moves it, its corner resizes it, its strip goes to frames.

A gizmo needs no keymap of its own, so no shortcut of the artist is in its way; clicks on the picture go through to the
scene. The dragging itself is the operator overlay_drag, which the panel's button starts too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...ops.current_capture import current_view
from ...ops.overlay_operators import window_region
from ...ops.overlay_place import Part, Place, overlay_place
from ...ops.overlay_state import STATE
from .shown import shows

if TYPE_CHECKING:
    from bpy.types import Context

PARTS: tuple[Part, ...] = ("MOVE", "RESIZE", "SCRUB")
_NOTHING = -1


class ANYMOCAP_GT_overlay(bpy.types.Gizmo):
    """The overlay's handles. It draws nothing itself: the overlay shows which part the mouse is over."""

    bl_idname = "ANYMOCAP_GT_overlay"

    def draw(self, context: Context) -> None:
        """Draws nothing, see the class; learns here that the mouse has left."""
        if not self.is_highlight and not self.is_modal and STATE.part is not None:
            STATE.part = STATE.hovered = None
            context.region.tag_redraw()

    def setup(self) -> None:
        self.use_draw_modal = True
        self.use_tooltip = False  # it would lie over the strip

    def test_select(self, context: Context, location: Any) -> int:
        try:
            return self._part_at(context, float(location[0]), float(location[1]))
        except Exception as error:  # in every move of the mouse: must never raise
            STATE.fail(error)
            return _NOTHING

    def _part_at(self, context: Context, x: float, y: float) -> int:
        view = current_view(context)
        if view is None or not shows(context):
            return _NOTHING
        place = overlay_place(context, context.area, context.region, view.layout)
        part = place.part_at(x, y)
        _hover(context, part, place, x, view.T)
        return PARTS.index(part) if part else _NOTHING


class ANYMOCAP_GGT_overlay(bpy.types.GizmoGroup):
    """Holds the overlay's gizmo in every 3D view."""

    bl_idname = "ANYMOCAP_GGT_overlay"
    bl_label = "AnyMoCap Overlay"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        try:
            return shows(context) and context.region == window_region(context.area)
        except Exception as error:  # at every redraw: must never raise
            STATE.fail(error)
            return False

    def setup(self, context: Context) -> None:
        gizmo = self.gizmos.new(ANYMOCAP_GT_overlay.bl_idname)
        for number, part in enumerate(PARTS):
            operator = gizmo.target_set_operator("anymocap.overlay_drag", index=number)
            operator.part, operator.held = part, True


def _hover(context: Context, part: Part | None, place: Place, x: float, frames: int) -> None:
    """Remember what the mouse is over, and draw again where that shows."""
    hovered = place.graph_frame(x, frames) if part == "SCRUB" else None
    if (part, hovered) != (STATE.part, STATE.hovered):
        STATE.part, STATE.hovered = part, hovered
        context.region.tag_redraw()


CLASSES: tuple[type, ...] = (ANYMOCAP_GT_overlay, ANYMOCAP_GGT_overlay)
