"""Build armature and skin on an unrigged mesh from rig.json.

Weights come from Blender's bone heat on one welded copy of all meshes (glTF splits vertices at seams, and heat does
not cross the split); where heat fails, from a watertight voxel remesh of it. They are then carried over to the meshes.
"""

from __future__ import annotations

from pathlib import Path

import bpy  # isort: skip
import bmesh  # isort: skip  # comes with bpy, so after it
import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from mathutils.interpolate import poly_3d_calc
from numpy.typing import NDArray

from ..core.creature import Creature
from ..core.errors import BadInputError
from ..core.rig import RigSpec
from .rig_adopt import CaptureSkeleton, Keypoint, flatness, rest_matrices
from .scene import to_world
from .skin import Skin, read_skin, write_weights

Array = NDArray[np.float64]

ARMATURE = "Armature"
OFF_MESH = 0.04  # of the body: a joint may lie this far outside the mesh
ENCLOSED = 0.9  # of all directions: a point that meets the mesh in this many lies inside
RAYS = 64  # directions
WELD = 1e-4  # of the body: vertices nearer than this are one
VOXEL = 0.012  # of the body: edge of the proxy's voxels
MISSED = 0.02  # of the vertices: with more than this without weights, bone heat has failed
_LATERAL = Vector((1.0, 0.0, 0.0))


def build(
    spec: RigSpec, meshes: list[bpy.types.Object], weights: str, creature: Creature, file: Path
) -> tuple[bpy.types.Object, CaptureSkeleton]:
    """An armature from `spec` and the skin that binds `meshes` to it; an armature they had is removed.

    Args:
        weights: auto (bone heat, the proxy where it fails), proxy, or rigid (one bone a vertex).
        creature: its `rigid` makes all or the named bones' vertices follow one bone alone.

    Raises:
        BadInputError: a joint lies off the mesh, an unknown way of weighting, or no way finds weights.
    """
    if weights not in ("auto", "proxy", "rigid"):
        raise BadInputError(f"The weights {weights!r} are not one of auto, proxy, rigid.", key="weights")
    for mesh in meshes:
        bake_transform(mesh)
    for old in [o for o in bpy.context.scene.objects if o.type != "MESH"]:
        bpy.data.objects.remove(old)
    check_joints(spec, meshes, file)
    armature = build_armature(spec)
    names = tuple(bone.name for bone in spec.bones)
    table, notes = _bind(armature, meshes, weights, names)
    hard = _hard_bones(weights, creature, names)
    skins = []
    for mesh, rows in zip(meshes, table, strict=True):
        skin = Skin(names, harden(rows, [names.index(n) for n in hard]) if hard else rows)
        write_weights(mesh, skin)
        modifier = mesh.modifiers.new("Armature", "ARMATURE")
        modifier.object = armature
        mesh.parent = armature
        skins.append(skin)
    bpy.context.view_layer.update()
    return armature, _skeleton(spec, armature, meshes, skins, notes)


def bake_transform(mesh: bpy.types.Object) -> None:
    """World transform into the mesh's data; no parent, no modifiers, no vertex groups."""
    matrix = mesh.matrix_world.copy()
    mesh.modifiers.clear()
    mesh.vertex_groups.clear()
    mesh.parent = None
    mesh.data.transform(matrix, shape_keys=True)
    if matrix.determinant() < 0:
        mesh.data.flip_normals()
    mesh.matrix_world.identity()
    mesh.data.update()


def check_joints(spec: RigSpec, meshes: list[bpy.types.Object], file: Path) -> None:
    """Hold every joint to lie in the mesh or near its surface.

    Raises:
        BadInputError: names the joint that is farthest off.
    """
    points, triangles = mesh_soup(meshes)
    size = float(np.ptp(points, axis=0).max())
    tree = BVHTree.FromPolygons(points.tolist(), triangles.tolist())
    off = {}
    for name, place in spec.joints.items():
        distance = tree.find_nearest(Vector(place))[3]
        if distance > OFF_MESH * size and enclosure(tree, np.array(place)) < ENCLOSED:
            off[name] = distance
    if off:
        worst = max(off, key=lambda name: off[name])
        raise BadInputError(
            f"The joint {worst!r} is {off[worst]:.3f} m off the mesh ({len(off)} of {len(spec.joints)} are).",
            file=file,
            key=f"joints.{worst}",
            hint="Joints are in metres in prep space: -Y forward, +X left, ground at z = 0. Prep may have turned or "
            "scaled the mesh since the file was written.",
        )


def enclosure(tree: BVHTree, point: Array) -> float:
    """Share of the directions in which a ray from `point` (3,) meets the surface: 1 deep inside, below 0.9 outside.

    Unlike a winding number it bears the holes and flipped faces of generated meshes. Directions: a Fibonacci sphere.
    """
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(RAYS)
    z = 1.0 - (2.0 * np.arange(RAYS) + 1.0) / RAYS
    radius = np.sqrt(1.0 - z * z)
    directions = np.stack([radius * np.cos(turn), radius * np.sin(turn), z], 1)
    return float(np.mean([tree.ray_cast(Vector(point), Vector(d))[0] is not None for d in directions]))


def build_armature(spec: RigSpec) -> bpy.types.Object:
    """The armature of `spec`. Each bone's X axis is as lateral as it can be, so X bends it forth and back and Z
    sideways, on both sides of the body alike; bones that point sideways themselves have Z up, and those with an `up`
    have Z there.
    """
    armature = bpy.data.objects.new(ARMATURE, bpy.data.armatures.new(ARMATURE))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bones: dict[str, bpy.types.EditBone] = {}
    for bone in spec.bones:
        made = armature.data.edit_bones.new(bone.name)
        made.head, made.tail = spec.joints[bone.head], spec.joints[bone.tail]
        along = (made.tail - made.head).normalized()
        by_direction = _LATERAL.cross(along) if abs(along.x) < 0.8 else Vector((0.0, 0.0, 1.0))
        made.align_roll(by_direction if bone.up is None else Vector(bone.up))
        if bone.parent is not None:
            made.parent = bones[bone.parent]
        bones[bone.name] = made
    bpy.ops.object.mode_set(mode="OBJECT")
    missing = [bone.name for bone in spec.bones if bone.name not in armature.data.bones]
    if missing:
        raise BadInputError(
            f"Blender refuses the bone {missing[0]!r}.", key="bones", hint="Bone names may hold up to 63 bytes."
        )
    for bone in armature.pose.bones:
        bone.rotation_mode = "QUATERNION"
    return armature


def _bind(
    armature: bpy.types.Object, meshes: list[bpy.types.Object], weights: str, names: tuple[str, ...]
) -> tuple[list[Array], list[str]]:
    """(V, B) weights for each mesh, and what was done."""
    for way in ("heat", "proxy"):
        if way == "heat" and weights == "proxy":
            continue
        source = welded_copy(meshes) if way == "heat" else remeshed(welded_copy(meshes))
        try:
            found = heat_weights(armature, source, names)
            missed = float((found.sum(1) < 0.5).mean())
            if missed <= MISSED:
                note = {"heat": "Automatic weights.", "proxy": "Weights from a voxel-remeshed proxy."}[way]
                return [carry_over(source, found, mesh) for mesh in meshes], [note]
        finally:
            data = source.data
            bpy.data.objects.remove(source)
            bpy.data.meshes.remove(data)
    raise BadInputError(
        f"No skin weights could be found: {missed * 100:.0f} % of the proxy's vertices got none.",
        key="weights",
        hint="Check that the joints lie inside the mesh, or weight it by hand and run rig with mode=adopt.",
    )


def welded_copy(meshes: list[bpy.types.Object]) -> bpy.types.Object:
    """One mesh of all `meshes`, vertices at the same place welded."""
    work = bmesh.new()
    for mesh in meshes:
        work.from_mesh(mesh.data)
    size = max(max(v.co) - min(v.co) for v in work.verts) if work.verts else 1.0
    bmesh.ops.remove_doubles(work, verts=work.verts[:], dist=WELD * size)
    data = bpy.data.meshes.new("weights")
    work.to_mesh(data)
    work.free()
    copy = bpy.data.objects.new("weights", data)
    bpy.context.scene.collection.objects.link(copy)
    return copy


def remeshed(obj: bpy.types.Object) -> bpy.types.Object:
    """`obj` as one watertight surface of voxels."""
    modifier = obj.modifiers.new("Remesh", "REMESH")
    modifier.mode = "VOXEL"
    modifier.voxel_size = VOXEL * float(max(obj.dimensions)) or VOXEL
    depsgraph = bpy.context.evaluated_depsgraph_get()
    data = bpy.data.meshes.new_from_object(obj.evaluated_get(depsgraph))
    old, obj.data = obj.data, data
    obj.modifiers.clear()
    bpy.data.meshes.remove(old)
    return obj


def heat_weights(armature: bpy.types.Object, obj: bpy.types.Object, names: tuple[str, ...]) -> Array:
    """(V, B) automatic weights of Blender for `obj`; rows of zeros where it found none."""
    for other in bpy.context.scene.objects:
        other.select_set(other in (armature, obj))
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.parent_set(type="ARMATURE_AUTO")  # reports failure as a warning only: the weights are looked at
    found = read_skin(obj, armature)
    table = np.zeros((len(obj.data.vertices), len(names)))
    for column, bone in enumerate(found.bones):
        table[:, names.index(bone)] = found.weights[:, column]
    return table


def carry_over(source: bpy.types.Object, weights: Array, mesh: bpy.types.Object) -> Array:
    """(V, B) weights of `mesh` from the nearest faces of `source` (weights (S, B)), interpolated, rows sum to 1."""
    good = weights.sum(1) > 0.5
    polygons = [list(p.vertices) for p in source.data.polygons if all(good[v] for v in p.vertices)]
    points = [v.co.copy() for v in source.data.vertices]
    tree = BVHTree.FromPolygons(points, polygons)
    table = np.zeros((len(mesh.data.vertices), weights.shape[1]))
    for vertex in mesh.data.vertices:
        place, _, index, _ = tree.find_nearest(vertex.co)
        corners = polygons[index]
        shares = poly_3d_calc([points[c] for c in corners], place)
        table[vertex.index] = np.array(shares) @ weights[corners]
    table[table < 1e-3] = 0.0
    return np.asarray(table / table.sum(1, keepdims=True))


def harden(weights: Array, hard: list[int]) -> Array:
    """Rows whose heaviest bone is among `hard` follow that bone alone."""
    best = weights.argmax(1)
    chosen = np.isin(best, hard)
    result = weights.copy()
    result[chosen] = np.eye(weights.shape[1])[best[chosen]]
    return result


def _hard_bones(weights: str, creature: Creature, names: tuple[str, ...]) -> tuple[str, ...]:
    if weights == "rigid" or creature.rigid is True:
        return names
    if creature.rigid is False:
        return ()
    unknown = [name for name in creature.rigid if name not in names]
    if unknown:
        raise BadInputError(f"The rig has no bone {unknown[0]!r}.", key="rigid", hint=f"Bones: {', '.join(names)}.")
    return tuple(creature.rigid)


def mesh_soup(meshes: list[bpy.types.Object]) -> tuple[Array, NDArray[np.int64]]:
    """All vertices (V, 3) in world space and triangles (T, 3) of the meshes."""
    points, triangles, start = [], [], 0
    for mesh in meshes:
        co = np.array([v.co[:] for v in mesh.data.vertices])
        mesh.data.calc_loop_triangles()
        triangles.append(np.array([t.vertices[:] for t in mesh.data.loop_triangles], np.int64) + start)
        points.append(to_world(mesh, co))
        start += len(co)
    return np.concatenate(points), np.concatenate(triangles)


def _skeleton(
    spec: RigSpec,
    armature: bpy.types.Object,
    meshes: list[bpy.types.Object],
    skins: list[Skin],
    notes: list[str],
) -> CaptureSkeleton:
    """All bones of rig.json are captured; every joint is a keypoint, on the bone that it begins or else ends."""
    names = tuple(bone.name for bone in spec.bones)
    index = {name: b for b, name in enumerate(names)}
    rest, lengths = rest_matrices(armature, names)
    points = [to_world(mesh, np.array([v.co[:] for v in mesh.data.vertices])) for mesh in meshes]
    clouds = [
        np.concatenate([cloud[skin.weights[:, b] >= 0.5] for cloud, skin in zip(points, skins, strict=True)])
        for b in range(len(names))
    ]
    keypoints = []
    for joint in spec.joints:
        begins = [b for b, bone in enumerate(spec.bones) if bone.head == joint]
        ends = [b for b, bone in enumerate(spec.bones) if bone.tail == joint]
        if begins:
            keypoints.append(Keypoint(joint, begins[0], 0, np.zeros(3)))
        elif ends:
            keypoints.append(Keypoint(joint, ends[0], 1, np.array([0.0, lengths[ends[0]], 0.0])))
    idle = [names[b] for b, cloud in enumerate(clouds) if not len(cloud)]
    if idle:
        notes = [*notes, f"No vertex mostly follows {', '.join(idle)}."]
    return CaptureSkeleton(
        bones=names,
        parents=np.array([index[b.parent] if b.parent is not None else -1 for b in spec.bones], np.int64),
        rest=rest,
        lengths=lengths,
        tips=np.array([spec.joints[bone.tail] for bone in spec.bones]),
        flatness=np.array([flatness(cloud) for cloud in clouds]),
        keypoints=tuple(keypoints),
        notes=tuple(notes),
    )
