"""What the fixes of the check-up work on: the creature's shown meshes, their points and weights, its armatures."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from .import_mesh import hidden

Array = NDArray[np.float64]
Objects = list[bpy.types.Object]

TINY_WEIGHT = 1e-6


def shown_meshes(objects: Objects) -> Objects:
    """The meshes that are not hidden."""
    return [o for o in objects if o.type == "MESH" and not hidden(o)]


def armatures_among(objects: Objects) -> Objects:
    """The armatures."""
    return [o for o in objects if o.type == "ARMATURE"]


def local_points(mesh: bpy.types.Object) -> Array:
    """(V, 3) vertices in the mesh's own space."""
    points = np.empty(len(mesh.data.vertices) * 3, np.float32)
    mesh.data.vertices.foreach_get("co", points)
    return points.reshape(-1, 3).astype(np.float64)


def deforms(armature: bpy.types.Object, name: str) -> bool:
    """Whether the armature has a bone of this name that moves the skin."""
    bone = armature.data.bones.get(name)
    return bone is not None and bone.use_deform


def raw_weights(mesh: bpy.types.Object) -> Array:
    """(V, G) weights over all vertex groups as they are."""
    weights = np.zeros((len(mesh.data.vertices), len(mesh.vertex_groups)))
    for vertex in mesh.data.vertices:
        for element in vertex.groups:
            if element.group < weights.shape[1]:
                weights[vertex.index, element.group] = element.weight
    return weights
