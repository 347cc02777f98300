"""A clear look at a creature that was just brought in: nothing stands where it stands, and the views show it whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from bpy.types import Context, Object

Box = tuple[NDArray[np.float64], NDArray[np.float64]]
_DISTANCE = 2.4  # of a view, in diagonals of the creature's box
_ASIDE = (0.05, 0.06)  # how far it stands right of and above the middle, shares of the distance: beside the overlay


def creature_box(context: Context, armature: Object) -> Box | None:
    """Lowest and highest corner (3,) in world space of the meshes that follow the armature; None without any."""
    context.view_layer.update()
    boxes = [_world_box(obj) for obj in context.view_layer.objects if _follows(obj, armature)]
    return (np.min([box[0] for box in boxes], 0), np.max([box[1] for box in boxes], 0)) if boxes else None


def hide_in_the_way(context: Context, armature: Object) -> list[str]:
    """Hide visible meshes (a new file's cube) whose boxes cut the creature's; returns their names."""
    box = creature_box(context, armature)
    hidden: list[str] = []
    if box is None:
        return hidden
    for obj in context.view_layer.objects:
        if obj.type != "MESH" or _follows(obj, armature) or not obj.visible_get():
            continue
        low, high = _world_box(obj)
        if (low < box[1]).all() and (high > box[0]).all():
            obj.hide_set(True)
            hidden.append(obj.name)
    return hidden


def show_whole(context: Context, armature: Object) -> None:
    """Let every 3D view of the window that is not a camera's show the creature whole, in its own colours."""
    box = creature_box(context, armature)
    if box is None or bpy.app.background or context.window is None:
        return
    for area in context.window.screen.areas:
        if area.type != "VIEW_3D" or area.spaces.active.region_3d.view_perspective == "CAMERA":
            continue
        view, shading = area.spaces.active.region_3d, area.spaces.active.shading
        distance = _DISTANCE * float(np.linalg.norm(box[1] - box[0]))
        right, up = np.array(view.view_rotation.to_matrix()).T[:2]
        view.view_location = (box[0] + box[1]) / 2 - distance * (_ASIDE[0] * right + _ASIDE[1] * up)
        view.view_distance = distance
        if shading.color_type == "MATERIAL":  # Blender's default; what an artist has chosen stays
            shading.color_type = "TEXTURE"


def _follows(obj: Object, armature: Object) -> bool:
    return bool(obj.type == "MESH" and (obj.parent == armature or obj.find_armature() == armature))


def _world_box(obj: Object) -> Box:
    to_world = np.array(obj.matrix_world)
    corners = np.array(obj.bound_box) @ to_world[:3, :3].T + to_world[:3, 3]
    return corners.min(0), corners.max(0)
