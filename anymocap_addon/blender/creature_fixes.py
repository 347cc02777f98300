"""The safe fixes of the check-up: each is one function on the creature's objects, in the artist's scene (within an
operator with undo) or on prep's copy. A fix that finds nothing to mend does nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import bmesh
import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..core.checkup.size_rules import scale_of
from ..core.creature import PrepFix
from ..core.errors import BadInputError
from .action_slots import action_fcurves
from .gltf_weights import BAD_WEIGHT
from .import_mesh import driving_armature, hidden
from .scene import to_world

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
Objects = list[bpy.types.Object]
Fix = Callable[[Objects], list[str]]

FOUR = 4
_TINY = 1e-6
_LOCATION = re.compile(r'pose\.bones\["(.+)"\]\.location$')


def apply_fixes(objects: Objects, fixes: Iterable[PrepFix]) -> list[str]:
    """Make fixes one after the other.

    Args:
        objects: the creature's; a fix with names is made on those alone.

    Returns:
        What was done, a sentence each.

    Raises:
        BadInputError: there is no fix of that name, or an object is linked and cannot be changed.
    """
    notes: list[str] = []
    for item in fixes:
        if item.fix not in FIXES:
            raise BadInputError(
                f"There is no fix {item.fix!r}.", key="prep.fixes", hint=f"Fixes: {', '.join(sorted(FIXES))}."
            )
        chosen = [o for o in objects if not item.names or o.name in item.names or _has_bone(o, item.names)]
        for obj in chosen:
            if obj.library is not None or (obj.data is not None and obj.data.library is not None):
                raise BadInputError(
                    f"{obj.name!r} is linked from another file and cannot be changed here.",
                    hint="Open that file, or make it local (Object > Relations > Make Local).",
                )
        notes += FIXES[item.fix](chosen)
        bpy.context.view_layer.update()
    return notes


def _has_bone(obj: bpy.types.Object, names: tuple[str, ...]) -> bool:
    return obj.type == "ARMATURE" and any(name in obj.pose.bones for name in names)


def _meshes(objects: Objects) -> Objects:
    return [o for o in objects if o.type == "MESH" and not hidden(o)]


def _armatures(objects: Objects) -> Objects:
    return [o for o in objects if o.type == "ARMATURE"]


# Scale


def apply_scale(objects: Objects) -> list[str]:
    """Bring scales that are not uniform or negative into the data; what hangs below stays where it is."""
    notes = []
    bpy.context.view_layer.update()
    # Armatures first: a mesh below a stretched one could not be made plain without leaving it.
    for obj in [*_armatures(objects), *_meshes(objects)]:
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


# Weights


def clean_weights(objects: Objects) -> list[str]:
    """Vertices whose weights are not numbers get those of their nearest sound neighbour."""
    return _mend(
        objects, "whose weights were not numbers", lambda weights, marked: marked | ~np.isfinite(weights).all(1)
    )


def fill_weights(objects: Objects) -> list[str]:
    """Vertices that no bone moves get the weights of their nearest neighbour."""
    return _mend(objects, "without weights", lambda weights, marked: ~(weights.sum(1) > _TINY))


def _mend(objects: Objects, what: str, find: Callable[[Array, Mask], Mask]) -> list[str]:
    notes = []
    for mesh in _meshes(objects):
        armature = driving_armature(mesh)
        if armature is None or not mesh.vertex_groups:
            continue
        columns = [g.index for g in mesh.vertex_groups if _deforms(armature, g.name)]
        weights = _raw_weights(mesh)
        bad = find(weights[:, columns], _marked(mesh))
        sound = ~bad & np.isfinite(weights).all(1) & (weights[:, columns].sum(1) > _TINY)
        if not bad.any():
            continue
        if not sound.any():
            raise BadInputError(f"No vertex of {mesh.name!r} has sound weights.", hint="Bind the mesh anew.")
        _take_from_nearest(mesh, weights, bad, sound)
        notes.append(f"{mesh.name}: {int(bad.sum())} vertices {what} follow their nearest neighbour.")
    return notes


def _deforms(armature: bpy.types.Object, name: str) -> bool:
    bone = armature.data.bones.get(name)
    return bone is not None and bone.use_deform


def _marked(mesh: bpy.types.Object) -> Mask:
    """Vertices that the import marked as bad in the file; the mark is taken off."""
    marked = np.zeros(len(mesh.data.vertices), np.bool_)
    attribute = mesh.data.attributes.get(BAD_WEIGHT)
    if attribute is not None:
        attribute.data.foreach_get("value", marked)
        mesh.data.attributes.remove(attribute)
    return marked


def _raw_weights(mesh: bpy.types.Object) -> Array:
    """(V, G) weights over all vertex groups as they are."""
    weights = np.zeros((len(mesh.data.vertices), len(mesh.vertex_groups)))
    for vertex in mesh.data.vertices:
        for element in vertex.groups:
            if element.group < weights.shape[1]:
                weights[vertex.index, element.group] = element.weight
    return weights


def _take_from_nearest(mesh: bpy.types.Object, weights: Array, bad: Mask, sound: Mask) -> None:
    points = np.array([v.co[:] for v in mesh.data.vertices])
    known = np.flatnonzero(sound)
    for vertex in np.flatnonzero(bad):
        source = weights[known[np.linalg.norm(points[known] - points[vertex], axis=1).argmin()]]
        for group in mesh.vertex_groups:
            group.remove([int(vertex)])
            if source[group.index] > _TINY:
                group.add([int(vertex)], float(source[group.index]), "REPLACE")


def limit_weights(objects: Objects) -> list[str]:
    """Every vertex keeps its four strongest bones, with the same sum of weights."""
    notes = []
    for mesh in _meshes(objects):
        armature = driving_armature(mesh)
        if armature is None:
            continue
        deforming = {g.index: g for g in mesh.vertex_groups if _deforms(armature, g.name)}
        cut = sum(_keep_four(vertex, deforming) for vertex in mesh.data.vertices)
        if cut:
            notes.append(f"{mesh.name}: {cut} vertices keep their four strongest bones.")
    return notes


def _keep_four(vertex: bpy.types.MeshVertex, deforming: dict[int, bpy.types.VertexGroup]) -> bool:
    held = [(e.weight, e.group) for e in vertex.groups if e.group in deforming and e.weight > _TINY]
    if len(held) <= FOUR:
        return False
    held.sort(reverse=True)
    factor = sum(w for w, _ in held) / sum(w for w, _ in held[:FOUR])
    for weight, group in held[:FOUR]:
        deforming[group].add([vertex.index], weight * factor, "REPLACE")
    for _, group in held[FOUR:]:
        deforming[group].remove([vertex.index])
    return True


# Parts


def bind_parts(objects: Objects) -> list[str]:
    """Meshes that no armature moves follow, as a whole, the bone that moves the skin nearest to them."""
    bpy.context.view_layer.update()
    everything = [o for o in bpy.context.scene.objects if o.type == "MESH" and not hidden(o)]
    skins = [(mesh, armature) for mesh in everything if (armature := driving_armature(mesh)) is not None]
    notes = []
    for part in _meshes(objects):
        if driving_armature(part) is not None or not len(part.data.vertices):
            continue
        found = _nearest_bone(part, skins)
        if found is None:
            continue
        armature, bone = found
        part.vertex_groups.clear()
        part.vertex_groups.new(name=bone).add(list(range(len(part.data.vertices))), 1.0, "REPLACE")
        part.modifiers.new("Armature", "ARMATURE").object = armature
        notes.append(f"{part.name} follows {bone}.")
    return notes


def _nearest_bone(
    part: bpy.types.Object, skins: list[tuple[bpy.types.Object, bpy.types.Object]]
) -> tuple[bpy.types.Object, str] | None:
    """The armature and bone that move the vertex nearest to the part's middle."""
    middle = to_world(part, _points(part)).mean(0)
    best: tuple[float, bpy.types.Object, str] | None = None
    for mesh, armature in skins:
        names = [g.name for g in mesh.vertex_groups]
        weights = np.nan_to_num(_raw_weights(mesh))
        weights[:, [not _deforms(armature, name) for name in names]] = 0.0
        moved = np.flatnonzero(weights.sum(1) > _TINY) if names else np.zeros(0, int)
        if not len(moved):
            continue
        away = np.linalg.norm(to_world(mesh, _points(mesh))[moved] - middle, axis=1)
        if best is None or away.min() < best[0]:
            best = (float(away.min()), armature, names[int(weights[moved[away.argmin()]].argmax())])
    return None if best is None else best[1:]


def _points(mesh: bpy.types.Object) -> Array:
    points = np.empty(len(mesh.data.vertices) * 3, np.float32)
    mesh.data.vertices.foreach_get("co", points)
    return points.reshape(-1, 3).astype(np.float64)


def drop_bad_points(objects: Objects) -> list[str]:
    """Delete vertices whose coordinates are not finite, with their faces."""
    notes = []
    for mesh in _meshes(objects):
        bad = ~np.isfinite(_points(mesh)).all(1)
        if not bad.any():
            continue
        work = bmesh.new()
        work.from_mesh(mesh.data)
        work.verts.ensure_lookup_table()
        bmesh.ops.delete(work, geom=[work.verts[int(v)] for v in np.flatnonzero(bad)], context="VERTS")
        work.to_mesh(mesh.data)
        work.free()
        mesh.data.update()
        notes.append(f"{mesh.name}: {int(bad.sum())} vertices deleted.")
    return notes


# Pose


def show_pose(objects: Objects) -> list[str]:
    """Armatures show their pose instead of their rest position."""
    resting = [a for a in _armatures(objects) if a.data.pose_position == "REST"]
    for armature in resting:
        armature.data.pose_position = "POSE"
    return [f"{armature.name} shows its pose." for armature in resting]


def clear_bone_scale(objects: Objects) -> list[str]:
    """Bones get the scale 1 in the pose."""
    notes = []
    for armature in _armatures(objects):
        scaled = [b for b in armature.pose.bones if max(abs(s - 1) for s in b.scale) > 1e-3]
        for bone in scaled:
            bone.scale = (1, 1, 1)
        if scaled:
            notes.append(f"{len(scaled)} bones of {armature.name} are no longer scaled.")
    return notes


FIXES: dict[str, Fix] = {
    "apply_scale": apply_scale,
    "clean_weights": clean_weights,
    "fill_weights": fill_weights,
    "limit_weights": limit_weights,
    "bind_parts": bind_parts,
    "drop_bad_points": drop_bad_points,
    "show_pose": show_pose,
    "clear_bone_scale": clear_bone_scale,
}
