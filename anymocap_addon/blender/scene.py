"""The scene that a stage works on, and its meshes as numpy arrays."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInputError
from ..core.project import CreaturePaths
from ..core.rig import RigInfo, load_rig_info
from .compat import need_background, open_blend

Array = NDArray[np.float64]
PAINT = "legpaint"  # the colour attribute of the limb paint, on every mesh of rigged.blend
_RIG_HINT = "Run the rig stage first."


@dataclass(frozen=True)
class RiggedScene:
    """The rigged creature as objects of the current file."""

    armature: bpy.types.Object
    meshes: tuple[bpy.types.Object, ...]
    rig: RigInfo


def fresh_scene() -> bpy.types.Scene:
    """Replace everything in this background process by one empty scene."""
    need_background("An empty scene")
    # Not read_factory_settings: it resets the preferences too, in which no extension is enabled, and so makes Blender
    # delete the wheels of every extension that the artist has installed.
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return bpy.context.scene


def open_rigged(paths: CreaturePaths) -> RiggedScene:
    """Open rigged.blend as this background process's file.

    Raises:
        BadInputError: rigged.blend or rig_info.json is missing or they do not belong together.
    """
    rig = load_rig_info(paths.rig_info)
    open_blend(paths.rigged_blend)
    return rigged_objects(rig, list(bpy.context.scene.objects), paths.rigged_blend)


def append_rigged(paths: CreaturePaths, collection: bpy.types.Collection) -> RiggedScene:
    """Bring the objects of rigged.blend into the open file, linked into `collection`.

    Raises:
        BadInputError: as open_rigged.
    """
    rig = load_rig_info(paths.rig_info)
    objects = append_objects(paths.rigged_blend)
    for obj in objects:
        collection.objects.link(obj)
    return rigged_objects(rig, objects, paths.rigged_blend)


def append_objects(path: Path, hint: str = _RIG_HINT) -> list[bpy.types.Object]:
    """Append all objects of a .blend file with their data, and all its Actions.

    Args:
        hint: the remedy to name when it cannot be read.

    Raises:
        BadInputError: the file is missing or broken.
    """
    if not path.is_file():
        raise BadInputError("There is no such file.", file=path, hint=hint)
    try:
        with bpy.data.libraries.load(str(path), link=False) as (source, target):
            target.objects = list(source.objects)
            target.actions = list(source.actions)
    except OSError as error:
        raise BadInputError(f"Blender cannot read it: {error}.", file=path, hint=hint) from error
    return [obj for obj in target.objects if obj is not None]


def rigged_objects(rig: RigInfo, objects: list[bpy.types.Object], file: Path) -> RiggedScene:
    """The armature of `rig` and the creature's meshes among `objects`."""
    armatures = [o for o in objects if o.type == "ARMATURE" and o.name.split(".")[0] == rig.armature.split(".")[0]]
    exact = [o for o in armatures if o.name == rig.armature] or armatures
    meshes = [o for o in objects if o.type == "MESH" and PAINT in o.data.color_attributes]
    if not exact or not meshes:
        what = f"no armature {rig.armature!r}" if not exact else f"no mesh with the colour attribute {PAINT!r}"
        raise BadInputError(f"has {what}.", file=file, hint="Run the rig stage again.")
    return RiggedScene(exact[0], tuple(sorted(meshes, key=lambda o: o.name)), rig)


def world_vertices(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph | None = None) -> Array:
    """(V, 3) vertices of the evaluated mesh (modifiers and pose applied) in world space, metres."""
    evaluated = obj.evaluated_get(depsgraph or bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    try:
        return to_world(obj, _vertices(mesh))
    finally:
        evaluated.to_mesh_clear()


def to_world(obj: bpy.types.Object, points: Array) -> Array:
    """(..., 3) object space to world space."""
    matrix = np.array(obj.matrix_world, dtype=np.float64)
    return np.asarray(points @ matrix[:3, :3].T + matrix[:3, 3])


def _vertices(mesh: bpy.types.Mesh) -> Array:
    points = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", points)
    return points.reshape(-1, 3).astype(np.float64)
