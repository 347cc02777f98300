"""The check-up's fix of scales that are not uniform or negative."""

from __future__ import annotations

import re

import bpy
from mathutils import Matrix

from ..core.checkup.size_rules import scale_of
from .action_slots import action_fcurves
from .fixed_objects import Objects, armatures_among, shown_meshes

_LOCATION = re.compile(r'pose\.bones\["(.+)"\]\.location$')


def apply_scale(objects: Objects) -> list[str]:
    """Bring scales that are not uniform or negative into the data; what hangs below stays where it is."""
    notes = []
    bpy.context.view_layer.update()
    # Armatures first: a mesh below a stretched one could not be made plain without leaving it.
    for obj in [*armatures_among(objects), *shown_meshes(objects)]:
        _, uniform, mirrors = scale_of(tuple(tuple(row) for row in obj.matrix_world))
        if mirrors or not uniform:
            _apply_scale(obj)
            notes.append(f"Scale of {obj.name} applied.")
    return notes


def _apply_scale(obj: bpy.types.Object) -> None:
    below = [(child, child.matrix_world.copy()) for child in obj.children]
    world = obj.matrix_world.copy()
    location, turn, _ = world.decompose()
    plain = Matrix.Translation(location) @ turn.to_matrix().to_4x4()
    own = plain.inverted() @ world  # scale, and shear where parents bring it
    if obj.data.users > 1:
        obj.data = obj.data.copy()
    bones = {b.name: b.matrix_local.to_3x3() for b in obj.data.bones} if obj.type == "ARMATURE" else {}
    if obj.type == "MESH":
        obj.data.transform(own, shape_keys=True)
        if own.determinant() < 0:
            obj.data.flip_normals()
        obj.data.update()
    else:
        obj.data.transform(own)
    obj.matrix_world = plain
    bpy.context.view_layer.update()
    if scale_of(tuple(tuple(row) for row in obj.matrix_world))[1] is False:  # a parent is stretched: hang it on nothing
        obj.parent = None
        obj.matrix_world = plain
        bpy.context.view_layer.update()
    if bones:
        _scale_locations(obj, bones, own.to_3x3())
    for child, was in below:
        child.matrix_world = was
    bpy.context.view_layer.update()


def _scale_locations(armature: bpy.types.Object, before: dict[str, Matrix], own: Matrix) -> None:
    """Location keys of bones in the new units, axis by axis."""
    for action in bpy.data.actions:
        for curve in action_fcurves(action, armature):
            match = _LOCATION.match(curve.data_path)
            if match is None or match[1] not in before:
                continue
            now = armature.data.bones[match[1]].matrix_local.to_3x3()
            factor = (now.inverted() @ own @ before[match[1]])[curve.array_index][curve.array_index]
            for key in curve.keyframe_points:
                key.co.y *= factor
                key.handle_left.y *= factor
                key.handle_right.y *= factor
            curve.update()
