"""Joints in the 3D view while they are placed: a dot in the colour of its side, and its name.

The handler never raises: what the artist made of the points (an attribute removed, a joint copied) is told when they
are written; until then they are Blender's own points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import gpu
from bpy_extras.view3d_utils import location_3d_to_region_2d
from gpu_extras.batch import batch_for_shader
from mathutils import Vector

from ..blender.joint_points import joint_points
from ..core.errors import AnyMoCapError
from ..core.rig_sheet import LEFT, MIDDLE, RIGHT
from ..ops.rig_builder_scene import PLACING
from .overlay.text import MUTED, WHITE, draw_text

if TYPE_CHECKING:
    from bpy.types import Context, Object

_DOT = 9.0  # px
_NAME = 12.0  # px
_MIDDLE_M = 1e-4  # nearer to the mid-plane than this is neither left nor right

_handles: list[Any] = []
_fault: list[str] = []


def placed_object(context: Context) -> Object | None:
    """The joints that are placed, where they are what is worked on in this view."""
    active = context.view_layer.objects.active
    return active if active is not None and PLACING in active and active.visible_get() else None


def draw_joints(context: Context) -> None:
    """Dots and names into the region that is being drawn."""
    points = placed_object(context)
    if points is None or not context.space_data.overlay.show_overlays:
        return
    try:
        joints = joint_points(points)
    except AnyMoCapError:
        return  # see the module
    region, view = context.region, context.region_data
    scale = context.preferences.system.ui_scale
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    gpu.state.point_size_set(_DOT * scale)
    for joint in joints:
        place = location_3d_to_region_2d(region, view, Vector(joint.place))
        if place is None:
            continue
        side = MIDDLE if abs(joint.place[0]) < _MIDDLE_M else LEFT if joint.place[0] > 0 else RIGHT
        shader.uniform_float("color", (*(channel / 255 for channel in side), 1.0))
        batch_for_shader(shader, "POINTS", {"pos": [(place.x, place.y, 0.0)]}).draw(shader)
        size = _NAME * scale
        draw_text(joint.name, place.x + size * 0.6, place.y + size * 0.4, size, WHITE if joint.selected else MUTED)
    gpu.state.point_size_set(1.0)
    gpu.state.blend_set("NONE")


def _guarded() -> None:
    if _fault:
        return
    try:
        draw_joints(bpy.context)
    except Exception as error:  # Blender would call it again at every redraw
        _fault.append(str(error))
        print(f"AnyMoCap: the names of joints cannot be drawn: {type(error).__name__}: {error}")


CLASSES: tuple[type, ...] = ()


def register() -> None:
    """Hang the handler into all 3D views."""
    _handles.append(bpy.types.SpaceView3D.draw_handler_add(_guarded, (), "WINDOW", "POST_PIXEL"))


def unregister() -> None:
    """Take it down."""
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    _fault.clear()
