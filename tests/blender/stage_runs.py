"""Prep and rig stages run in this process, for tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from anymocap_addon.blender import prep, rig
from anymocap_addon.blender.scene import PAINT, world_vertices
from anymocap_addon.core.project import Project
from anymocap_addon.core.stage_context import StageContext

PREP: dict[str, Any] = {"mesh": "", "object": "", "length_m": 0.0, "rotz_deg": None, "axis": "", "up": ""}
RIG: dict[str, Any] = {"mode": "auto", "weights": "auto"}


def context(root: Path, creature: str, **settings: Any) -> StageContext:
    project = Project(root)
    return StageContext(project, project.creature(creature), settings)


def run_prep(root: Path, creature: str, mesh: Path | str = "", **settings: Any) -> dict[str, Any]:
    return prep.run(context(root, creature, **{**PREP, "mesh": str(mesh), **settings}))


def run_rig(root: Path, creature: str, **settings: Any) -> dict[str, Any]:
    return rig.run(context(root, creature, **{**RIG, **settings}))


def meshes() -> list[bpy.types.Object]:
    return sorted((o for o in bpy.context.scene.objects if o.type == "MESH"), key=lambda o: o.name)


def armature() -> bpy.types.Object:
    return next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")


@dataclass(frozen=True)
class MeshArrays:
    """vertices (V, 3) world, triangles (T, 3), colours (T, 3, 3) sRGB of each triangle's corners."""

    vertices: np.ndarray
    triangles: np.ndarray
    colours: np.ndarray


def mesh_arrays(obj: bpy.types.Object) -> MeshArrays:
    """The evaluated mesh of `obj` with its limb paint."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    mesh.calc_loop_triangles()
    corners = np.array([t.loops[:] for t in mesh.loop_triangles])
    of_corner = np.array([loop.vertex_index for loop in mesh.loops])
    colours = np.empty(len(mesh.loops) * 4, np.float32)
    mesh.color_attributes[PAINT].data.foreach_get("color_srgb", colours)
    arrays = MeshArrays(world_vertices(obj), of_corner[corners], colours.reshape(-1, 4)[corners, :3])
    evaluated.to_mesh_clear()
    return arrays


def world_points() -> np.ndarray:
    """(V, 3) evaluated vertices of all meshes in world space."""
    bpy.context.view_layer.update()
    return np.concatenate([world_vertices(mesh) for mesh in meshes()])
