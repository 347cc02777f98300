"""Whether the overlay is shown in a 3D view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.current_capture import current_view
from ...ops.overlay_state import STATE

if TYPE_CHECKING:
    from bpy.types import Context


def may_draw(context: Context) -> bool:
    """Whether anything of ours may be drawn in this view: something is known of the clip, overlays are switched on in
    the view's header, and no fault has switched ours off.
    """
    space = context.space_data
    if STATE.fault or space is None or space.type != "VIEW_3D" or not space.overlay.show_overlays:
        return False
    return current_view(context) is not None


def shows(context: Context) -> bool:
    """Whether the two-view overlay is shown in this view."""
    return may_draw(context) and context.scene.anymocap.overlay.show
