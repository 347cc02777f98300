"""The check-up's fixes of skin weights: not numbers, none, more than four."""

from __future__ import annotations

from collections.abc import Callable

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInputError
from .fixed_objects import TINY_WEIGHT, Array, Objects, deforms, raw_weights, shown_meshes
from .gltf_weights import BAD_WEIGHT
from .import_mesh import driving_armature

Mask = NDArray[np.bool_]

FOUR = 4


def clean_weights(objects: Objects) -> list[str]:
    """Vertices whose weights are not numbers get those of their nearest sound neighbour."""
    return _mend(
        objects, "whose weights were not numbers", lambda mesh, weights: _marked(mesh) | ~np.isfinite(weights).all(1)
    )


def fill_weights(objects: Objects) -> list[str]:
    """Vertices that no bone moves get the weights of their nearest neighbour."""
    return _mend(objects, "without weights", lambda _, weights: ~(weights.sum(1) > TINY_WEIGHT))


def _mend(objects: Objects, what: str, find: Callable[[bpy.types.Object, Array], Mask]) -> list[str]:
    notes = []
    for mesh in shown_meshes(objects):
        armature = driving_armature(mesh)
        if armature is None or not mesh.vertex_groups:
            continue
        columns = [g.index for g in mesh.vertex_groups if deforms(armature, g.name)]
        weights = raw_weights(mesh)
        bad = find(mesh, weights[:, columns])
        sound = ~bad & np.isfinite(weights).all(1) & (weights[:, columns].sum(1) > TINY_WEIGHT)
        if not bad.any():
            continue
        if not sound.any():
            raise BadInputError(f"No vertex of {mesh.name!r} has sound weights.", hint="Bind the mesh anew.")
        _take_from_nearest(mesh, weights, bad, sound)
        notes.append(f"{mesh.name}: {int(bad.sum())} vertices {what} follow their nearest neighbour.")
    return notes


def _marked(mesh: bpy.types.Object) -> Mask:
    """Vertices that the import marked as bad in the file; the mark is taken off."""
    marked = np.zeros(len(mesh.data.vertices), np.bool_)
    attribute = mesh.data.attributes.get(BAD_WEIGHT)
    if attribute is not None:
        attribute.data.foreach_get("value", marked)
        mesh.data.attributes.remove(attribute)
    return marked


def _take_from_nearest(mesh: bpy.types.Object, weights: Array, bad: Mask, sound: Mask) -> None:
    points = np.array([v.co[:] for v in mesh.data.vertices])
    known = np.flatnonzero(sound)
    for vertex in np.flatnonzero(bad):
        source = weights[known[np.linalg.norm(points[known] - points[vertex], axis=1).argmin()]]
        for group in mesh.vertex_groups:
            group.remove([int(vertex)])
            if source[group.index] > TINY_WEIGHT:
                group.add([int(vertex)], float(source[group.index]), "REPLACE")


def limit_weights(objects: Objects) -> list[str]:
    """Every vertex keeps its four strongest bones, with the same sum of weights."""
    notes = []
    for mesh in shown_meshes(objects):
        armature = driving_armature(mesh)
        if armature is None:
            continue
        deforming = {g.index: g for g in mesh.vertex_groups if deforms(armature, g.name)}
        cut = sum(_keep_four(vertex, deforming) for vertex in mesh.data.vertices)
        if cut:
            notes.append(f"{mesh.name}: {cut} vertices keep their four strongest bones.")
    return notes


def _keep_four(vertex: bpy.types.MeshVertex, deforming: dict[int, bpy.types.VertexGroup]) -> bool:
    held = [(e.weight, e.group) for e in vertex.groups if e.group in deforming and e.weight > TINY_WEIGHT]
    if len(held) <= FOUR:
        return False
    held.sort(reverse=True)
    factor = sum(w for w, _ in held) / sum(w for w, _ in held[:FOUR])
    for weight, group in held[:FOUR]:
        deforming[group].add([vertex.index], weight * factor, "REPLACE")
    for _, group in held[FOUR:]:
        deforming[group].remove([vertex.index])
    return True
