"""A whole small creature, rig_info.json and rigged.blend, without the stages that make one."""

from __future__ import annotations

import itertools
from pathlib import Path

import bmesh
import bpy
import numpy as np
from mathutils import Matrix

from anymocap_addon.core.creature import Creature, PaintGroup, save_creature
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.project import Project
from anymocap_addon.core.rig import RigInfo, save_rig_info
from anymocap_addon.core.stage_context import StageContext
from anymocap_addon.jobs.registry import REGISTRY

THICKNESS = 0.05
COLOURS = ((0.9, 0.5, 0.1), (0.8, 0.8, 0.2), (0.95, 0.2, 0.2), (0.1, 0.8, 0.3), (0.2, 0.3, 0.9), (0.8, 0.2, 0.7))


def context(root: Path, stage: str, settings: dict | None = None, shard: tuple[int, int] = (0, 1)) -> StageContext:
    """A step's context for the creature called "small"."""
    project = Project(root)
    given = {"clip": "any"} if settings is None and REGISTRY[stage].per == "clip" else settings or {}
    values = REGISTRY[stage].check(given)
    return StageContext(project=project, paths=project.creature("small"), settings=values, shard=shard)


def framed(rig: RigInfo) -> Creature:
    """The creature with the layout that holds its joints, so that a test need not run the ref stage."""
    joints = rig.rest_joints()
    layout = Layout.framing(joints.min(0) - 0.04, joints.max(0) + 0.04, 0.15)
    return Creature(name="small", layout=layout, paint=painted(rig))


def painted(rig: RigInfo) -> tuple[PaintGroup, ...]:
    """Every bone in its own colour."""
    colours = itertools.cycle(COLOURS)
    return tuple(PaintGroup(bone, bone, next(colours), (bone,)) for bone in rig.bones)


def write_small_creature(root: Path, rig: RigInfo, creature: Creature | None = None) -> None:
    """Every bone of `rig` as a box of its own colour, skinned to it alone."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature = _armature(rig)
    mesh = _boxes(rig)
    mesh.parent = armature
    mesh.modifiers.new("Armature", "ARMATURE").object = armature
    paths = Project(root).creature("small")
    paths.rigged_blend.parent.mkdir(parents=True, exist_ok=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(paths.rigged_blend), check_existing=False)
    save_rig_info(paths.rig_info, rig)
    save_creature(paths.creature_json, creature or Creature(name="small"))


def _armature(rig: RigInfo) -> bpy.types.Object:
    data = bpy.data.armatures.new(rig.armature)
    armature = bpy.data.objects.new(rig.armature, data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    for b, name in enumerate(rig.bones):
        bone = data.edit_bones.new(name)
        bone.tail = (0, rig.lengths[b], 0)
        bone.matrix = Matrix(rig.rest[b].tolist())
        if rig.parents[b] >= 0:
            bone.parent = data.edit_bones[rig.bones[rig.parents[b]]]
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def _boxes(rig: RigInfo) -> bpy.types.Object:
    work = bmesh.new()
    owner = []
    for b in range(rig.B):
        shape = Matrix(rig.rest[b].tolist()) @ Matrix.Translation((0, rig.lengths[b] / 2, 0))
        shape = shape @ Matrix.Diagonal((THICKNESS, rig.lengths[b], THICKNESS, 1))
        owner += [b] * len(bmesh.ops.create_cube(work, size=1.0, matrix=shape)["verts"])
    data = bpy.data.meshes.new("small")
    work.to_mesh(data)
    work.free()
    mesh = bpy.data.objects.new("small", data)
    bpy.context.scene.collection.objects.link(mesh)
    for b, name in enumerate(rig.bones):
        mesh.vertex_groups.new(name=name).add([v for v, o in enumerate(owner) if o == b], 1.0, "REPLACE")
    paint = data.color_attributes.new("legpaint", "BYTE_COLOR", "CORNER")
    corners = [COLOURS[owner[loop.vertex_index] % len(COLOURS)] for loop in data.loops]
    rgba = np.column_stack([np.array(corners, np.float32), np.ones(len(corners), np.float32)])
    paint.data.foreach_set("color_srgb", rgba.ravel())
    return mesh
