"""Skin weights as arrays: which bone moves which vertex."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInputError
from .import_mesh import driving_armature

Array = NDArray[np.float64]

UNWEIGHTED_SHARE = 0.02  # of a mesh's vertices: up to this many without weights take their nearest neighbour's
_BONE_PARENTS = {"BONE"}


@dataclass(frozen=True)
class Skin:
    """weights: (V, N) of one mesh, each row summing to 1, over `bones`: N names of the armature's bones."""

    bones: tuple[str, ...]
    weights: Array

    def of(self, names: tuple[str, ...]) -> Array:
        """(V,) summed weight of the bones in `names`."""
        columns = [i for i, bone in enumerate(self.bones) if bone in names]
        return np.asarray(self.weights[:, columns].sum(1))


def rigid_bone(obj: bpy.types.Object) -> str | None:
    """The bone that `obj` is parented to as a whole, itself or through a parent object."""
    walker = obj
    while walker.parent is not None:
        if walker.parent.type == "ARMATURE":
            return walker.parent_bone if walker.parent_type in _BONE_PARENTS else None
        walker = walker.parent
    return None


def read_skin(obj: bpy.types.Object, armature: bpy.types.Object) -> Skin:
    """Weights of `obj` for the bones of `armature`, as Blender's armature modifier uses them.

    Raises:
        BadInputError: a weight is not finite; names the mesh and the vertex group.
    """
    deforming = [b.name for b in armature.data.bones if b.use_deform]
    if not any(m.type == "ARMATURE" for m in obj.modifiers) and rigid_bone(obj) is not None:
        return Skin((str(rigid_bone(obj)),), np.ones((len(obj.data.vertices), 1)))
    column = {g.index: i for i, g in enumerate(g for g in obj.vertex_groups if g.name in deforming)}
    names = tuple(g.name for g in obj.vertex_groups if g.index in column)
    weights = np.zeros((len(obj.data.vertices), len(names)))
    for vertex in obj.data.vertices:
        for element in vertex.groups:
            if element.group in column:
                weights[vertex.index, column[element.group]] = element.weight
    bad = ~np.isfinite(weights)
    if bad.any():
        group = names[int(bad.any(0).argmax())]
        raise BadInputError(
            f"Mesh {obj.name!r} has {int(bad.any(1).sum())} vertices whose weights are not numbers (NaN) "
            f"in vertex group {group!r}.",
            hint="Select them in Weight Paint mode and set the weight again, then export again.",
        )
    total = weights.sum(1, keepdims=True)
    return Skin(names, np.divide(weights, total, out=np.zeros_like(weights), where=total > 1e-6))


def complete_weights(obj: bpy.types.Object, armature: bpy.types.Object) -> tuple[Skin, int]:
    """The skin of `obj` with every vertex on some bone; few vertices without weights take their neighbour's.

    The neighbour's weights are written to the mesh too, so that it moves in one piece.

    Returns:
        The skin and how many vertices were completed.

    Raises:
        BadInputError: more than 2 % of the vertices have no weights, or a weight is not finite.
    """
    skin = read_skin(obj, armature)
    empty = skin.weights.sum(1) < 0.5
    if not empty.any():
        return skin, 0
    share = float(empty.mean())
    if share > UNWEIGHTED_SHARE:
        raise BadInputError(
            f"Mesh {obj.name!r}: {share * 100:.1f} % of its vertices ({int(empty.sum())} of {len(empty)}) have no "
            "weight for any bone; they would stay behind.",
            hint="In Weight Paint mode use Weights > Assign Automatic From Bones for them, or run rig with mode=build.",
        )
    points = np.array([v.co[:] for v in obj.data.vertices])
    known = np.flatnonzero(~empty)
    weights = skin.weights.copy()
    for vertex in np.flatnonzero(empty):
        nearest = known[np.linalg.norm(points[known] - points[vertex], axis=1).argmin()]
        weights[vertex] = weights[nearest]
    write_weights(obj, Skin(skin.bones, weights), np.flatnonzero(empty))
    return Skin(skin.bones, weights), int(empty.sum())


def write_weights(obj: bpy.types.Object, skin: Skin, vertices: NDArray[np.int64] | None = None) -> None:
    """Set the weights of `vertices` (all without it) to those of `skin`; groups are made as needed."""
    chosen = np.arange(len(skin.weights)) if vertices is None else vertices
    for i, bone in enumerate(skin.bones):
        group = obj.vertex_groups.get(bone) or obj.vertex_groups.new(name=bone)
        values = skin.weights[chosen, i]
        group.remove([int(v) for v in chosen])
        for value in np.unique(values[values > 1e-5]):
            members = chosen[values == value]
            group.add([int(v) for v in members], float(value), "REPLACE")


def fold_groups(meshes: list[bpy.types.Object], sources: list[str], target: str) -> None:
    """Add the weights of the groups `sources` to the group `target` on every mesh, and remove them."""
    for obj in meshes:
        indices = {obj.vertex_groups[name].index for name in sources if name in obj.vertex_groups}
        if not indices:
            continue
        group = obj.vertex_groups.get(target) or obj.vertex_groups.new(name=target)
        for vertex in obj.data.vertices:
            extra = sum(e.weight for e in vertex.groups if e.group in indices)
            if extra > 0:
                group.add([vertex.index], float(extra), "ADD")
        for name in sources:
            if name in obj.vertex_groups:
                obj.vertex_groups.remove(obj.vertex_groups[name])


def armature_meshes(armature: bpy.types.Object, meshes: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """Those of `meshes` that `armature` moves."""
    return [mesh for mesh in meshes if driving_armature(mesh) == armature]
