"""The lynx's armature and skin."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Vector

from .builtin_anatomy import EYE_CENTRE, EYE_RADIUS, bones


def build_armature(name: str) -> bpy.types.Object:
    """The armature object `name`: every bone's local X is world -X, so that bending is a turn about local X on both
    sides."""
    data = bpy.data.armatures.new(name)
    armature = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for bone_name, (parent, head, tail) in bones().items():
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail = head, tail
        bone.align_roll((bone.tail - bone.head).cross(Vector((1.0, 0.0, 0.0))))
        bone.parent = data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return armature


def bind(creature: bpy.types.Object, armature: bpy.types.Object) -> None:
    """Skin: Blender's automatic weights, at most four bones a vertex; the eyes and what lies on the skull follow the
    head alone."""
    bpy.ops.object.select_all(action="DESELECT")
    creature.select_set(True)
    armature.select_set(True)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")
    head = creature.vertex_groups["head"]
    rigid = _on_skull(creature)
    for group in creature.vertex_groups:
        group.remove(rigid)
    head.add(rigid, 1.0, "REPLACE")
    bpy.context.view_layer.objects.active = creature
    bpy.ops.object.vertex_group_limit_total(group_select_mode="ALL", limit=4)
    bpy.ops.object.vertex_group_normalize_all(group_select_mode="ALL", lock_active=False)


def _on_skull(creature: bpy.types.Object) -> list[int]:
    points = np.array([v.co for v in creature.data.vertices])
    mirrored = points * np.where(points[:, :1] < 0, [[-1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0]])
    eyes = np.linalg.norm(mirrored - np.array(EYE_CENTRE), axis=1) < EYE_RADIUS * 1.2
    skull = (points[:, 1] < -0.475) & (points[:, 2] > 0.69) | (points[:, 2] > 0.86)
    return np.flatnonzero(eyes | skull).tolist()
