"""Draw handlers of the overlay, and the timer that keeps what they show up to date.

A handler never raises: Blender would call it again at every redraw. The first error is written to the console, the
panel says so, and the overlay stays off until it is started again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy
from bpy.app.handlers import persistent

from ...core.capture_view import CaptureView
from ...ops.current_capture import CAPTURES, current_view, shown_frame, shown_scenes
from ...ops.overlay_operators import redraw_views, window_region
from ...ops.overlay_place import overlay_place
from ...ops.overlay_state import STATE
from .clip_behind import WALL
from .drawing import OVERLAY
from .frame_texture import TEXTURES
from .gizmos import CLASSES as GIZMO_CLASSES
from .in_space import SPACE, draw_in_space
from .look import Look, Moment
from .shaders import free_shaders
from .shown import shows

if TYPE_CHECKING:
    from bpy.types import Context, Scene

LOOK_EVERY_S = 0.5

_handles: list[Any] = []


def draw_two_views(context: Context) -> None:
    """Draw the overlay into the region that is being drawn."""
    view, region = current_view(context), context.region
    if view is None or not shows(context) or region != window_region(context.area):
        return
    look = Look.of(context.scene.anymocap.overlay)
    place = overlay_place(context, context.area, region, view.layout)
    OVERLAY.draw(region.width, region.height, moment_of(context.scene, view), view, place, look, linear=True)


def moment_of(scene: Scene, view: CaptureView) -> Moment:
    """The clip's frame at the scene's frame; outside of the clip its nearest end."""
    frame, outside = shown_frame(scene, view)
    hovered = STATE.hovered if STATE.hovered is not None and STATE.hovered < view.T else None
    return Moment(frame, outside, hovered, STATE.part)


def _guarded(draw: Callable[[Context], None]) -> Callable[[], None]:
    def call() -> None:
        if STATE.fault:
            return
        try:
            draw(bpy.context)
        except Exception as error:  # see the module
            STATE.fail(error)

    return call


def keep_up() -> float:
    """Load what the shown scenes name where it changed; the timer's work."""
    try:
        if CAPTURES.refresh(shown_scenes(bpy.context)):
            free_drawn()
            redraw_views(bpy.context)
    except Exception as error:  # an error would end the timer without a word
        if not STATE.fault:
            STATE.fail(error)
    return LOOK_EVERY_S


def free_drawn() -> None:
    """Let go of all that lies on the graphics card."""
    OVERLAY.free()
    SPACE.free()
    WALL.free()
    TEXTURES.free()


@persistent  # type: ignore[untyped-decorator]
def _file_loaded(*_: Any) -> None:
    CAPTURES.clear()
    free_drawn()
    STATE.fault, STATE.part, STATE.hovered = "", None, None


CLASSES: tuple[type, ...] = GIZMO_CLASSES


def register() -> None:
    """Hang the handlers into all 3D views."""
    views = bpy.types.SpaceView3D
    _handles.append(views.draw_handler_add(_guarded(draw_in_space), (), "WINDOW", "POST_VIEW"))
    _handles.append(views.draw_handler_add(_guarded(draw_two_views), (), "WINDOW", "POST_PIXEL"))
    bpy.app.handlers.load_post.append(_file_loaded)
    bpy.app.timers.register(keep_up, first_interval=LOOK_EVERY_S, persistent=True)


def unregister() -> None:
    """Take them down and free what they hold."""
    if bpy.app.timers.is_registered(keep_up):
        bpy.app.timers.unregister(keep_up)
    bpy.app.handlers.load_post.remove(_file_loaded)
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    CAPTURES.clear()
    free_drawn()
    free_shaders()
