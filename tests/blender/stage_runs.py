"""Prep and rig stages run in this process, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from anymocap_addon.blender import prep, rig
from anymocap_addon.core.project import Project
from anymocap_addon.core.stage_context import StageContext

PREP: dict[str, Any] = {"mesh": "", "object": "", "length_m": 0.0, "rotz_deg": None, "axis": ""}
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


def world_points() -> np.ndarray:
    """(V, 3) evaluated vertices of all meshes in world space."""
    from anymocap_addon.blender.scene import world_vertices

    bpy.context.view_layer.update()
    return np.concatenate([world_vertices(mesh) for mesh in meshes()])
