"""Look at what an artist brought, without changing it: the facts that the check-up's rules judge."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.checkup.facts import (
    ActionFacts,
    ArmatureFacts,
    BoneFacts,
    BoneMotion,
    ConstraintFacts,
    CreatureFacts,
    MeshFacts,
    Rows,
    Vector,
)
from ..core.creature import Creature
from .action_slots import action_fcurves
from .gltf_weights import BAD_WEIGHT
from .import_mesh import driving_armature, hidden
from .rest_shown import rest_shown
from .scene import world_vertices
from .skin import rigid_bone

SURFACE = 400  # points of the surface that are kept
FOUR = 4
_TINY = 1e-6
_CURVE = re.compile(r'pose\.bones\["(.+)"\]\.(\w+)$')
_BONE = re.compile(r'bones\["(.+?)"\]')
_OWN_SHARE = 0.5  # of the bones that an Action names: with fewer it belongs to another creature


def creature_facts(objects: Iterable[bpy.types.Object], source: str) -> CreatureFacts:
    """What the rules look at.

    Args:
        objects: of one creature; hidden ones and those without faces are passed over.
        source: name of the file or object, for the words.
    """
    bpy.context.view_layer.update()  # objects made just now have neither pose nor world matrix before
    every = list(objects)
    meshes = [o for o in every if o.type == "MESH" and not hidden(o) and len(o.data.polygons)]
    moved = {mesh.name: driving_armature(mesh) for mesh in meshes}
    armatures = list(
        dict.fromkeys([o for o in every if o.type == "ARMATURE"] + [a for a in moved.values() if a is not None])
    )
    looked = [_mesh(mesh, moved[mesh.name]) for mesh in meshes]
    points = _rest_points(meshes, armatures)
    low, high = (points.min(0), points.max(0)) if len(points) else (np.zeros(3), np.zeros(3))
    own = [(a, [m for m in meshes if moved[m.name] == a]) for a in armatures]
    main = max(own, key=lambda pair: sum(len(m.data.vertices) for m in pair[1]), default=None)
    return CreatureFacts(
        source=source,
        armatures=tuple(_armature(armature, follow) for armature, follow in own),
        meshes=tuple(looked),
        actions=tuple(_actions(main[0])) if main is not None else (),
        low=_vector(low),
        high=_vector(high),
        surface=tuple(_vector(p) for p in points[:: max(1, -(-len(points) // SURFACE))]),
    )


def with_prep(facts: CreatureFacts, creature: Creature) -> CreatureFacts:
    """The facts with what creature.json says of size and facing."""
    prep = creature.prep
    return replace(
        facts,
        turn_deg=prep.rotz_deg,
        up=prep.up,
        length=prep.length_m,
        axis=prep.axis,
        faces_known=creature.facing_is_confirmed(),
    )


def _vector(values: Any) -> Vector:
    x, y, z = (float(v) for v in values)
    return (x, y, z)


def _rows(matrix: Any) -> Rows:
    return tuple(tuple(float(v) for v in row) for row in matrix)


def _rest_points(meshes: list[bpy.types.Object], armatures: list[bpy.types.Object]) -> NDArray[np.float64]:
    """(V, 3) finite vertices of all meshes at rest, world. What the armatures show is put back."""
    with rest_shown(armatures) as depsgraph:
        points = np.concatenate([np.zeros((0, 3)), *(world_vertices(mesh, depsgraph) for mesh in meshes)])
    return np.asarray(points[np.isfinite(points).all(1)])


def _mesh(mesh: bpy.types.Object, armature: bpy.types.Object | None) -> MeshFacts:
    points = np.empty(len(mesh.data.vertices) * 3, np.float32)
    mesh.data.vertices.foreach_get("co", points)
    keys = mesh.data.shape_keys
    by_bone = rigid_bone(mesh) if armature is not None and not mesh.vertex_groups else None
    weights = _weights(mesh, armature) if armature is not None and by_bone is None else {}
    return MeshFacts(
        name=mesh.name,
        matrix=_rows(mesh.matrix_world),
        vertices=len(mesh.data.vertices),
        faces=len(mesh.data.polygons),
        armature=armature.name if armature is not None else "",
        by_bone=by_bone or "",
        armature_modifiers=sum(m.type == "ARMATURE" for m in mesh.modifiers),
        bad_points=int((~np.isfinite(points.reshape(-1, 3)).all(1)).sum()),
        shape_keys=tuple(k.name for k in keys.key_blocks[1:]) if keys is not None else (),
        driven_keys=len(keys.animation_data.drivers) if keys is not None and keys.animation_data is not None else 0,
        other_modifiers=tuple(m.type for m in mesh.modifiers if m.type != "ARMATURE"),
        linked=not (mesh.is_editable and mesh.data.is_editable),
        override=mesh.override_library is not None,
        data_users=mesh.data.users - int(mesh.data.use_fake_user),
        **weights,
    )


def _bad_in_file(mesh: bpy.types.Object) -> set[int]:
    """Vertices that the import marked: Blender itself holds no trace of what was wrong with their weights."""
    attribute = mesh.data.attributes.get(BAD_WEIGHT)
    return {v for v, item in enumerate(attribute.data) if item.value} if attribute is not None else set()


def _weights(mesh: bpy.types.Object, armature: bpy.types.Object) -> dict[str, Any]:
    """The weight fields of MeshFacts."""
    deforming = {b.name for b in armature.data.bones if b.use_deform}
    groups = {g.index: g.name for g in mesh.vertex_groups}
    used: set[int] = set()
    marked = _bad_in_file(mesh)
    nan = none = many = most = 0
    for vertex in mesh.data.vertices:
        held = [(e.group, e.weight) for e in vertex.groups]
        used.update(g for g, w in held if w > 0)
        real = [w for g, w in held if groups.get(g) in deforming and not w <= _TINY]  # a NaN is kept
        nan += any(not np.isfinite(w) for _, w in held)
        none += not real and vertex.index not in marked
        many += len(real) > FOUR
        most = max(most, len(real))
    strangers = tuple(sorted(groups[g] for g in used if g in groups and groups[g] not in deforming))
    return {
        "nan_weights": nan,
        "no_weights": none,
        "many_weights": many,
        "most_weights": most,
        "bad_in_file": len(marked),
        "strangers": strangers,
    }


def _armature(armature: bpy.types.Object, meshes: list[bpy.types.Object]) -> ArmatureFacts:
    mass = _mass(meshes)
    driven = _driven(armature)
    return ArmatureFacts(
        name=armature.name,
        matrix=_rows(armature.matrix_world),
        bones=tuple(_bone(armature, bone, mass, driven) for bone in armature.pose.bones),
        linked=not (armature.is_editable and armature.data.is_editable),
        override=armature.override_library is not None,
        at_rest=armature.data.pose_position == "REST",
        moves=sum(len(m.data.vertices) for m in meshes),
    )


def _mass(meshes: list[bpy.types.Object]) -> dict[str, float]:
    """Sum of the skin weights on each bone."""
    mass: dict[str, float] = {}
    for mesh in meshes:
        names = {g.index: g.name for g in mesh.vertex_groups}
        alone = rigid_bone(mesh)
        if alone is not None and not names:
            mass[alone] = mass.get(alone, 0.0) + len(mesh.data.vertices)
        for vertex in mesh.data.vertices:
            for element in vertex.groups:
                if element.group in names and np.isfinite(element.weight):
                    name = names[element.group]
                    mass[name] = mass.get(name, 0.0) + element.weight
    return mass


def _driven(armature: bpy.types.Object) -> dict[str, int]:
    """How many drivers each bone has, on its channels, constraints and properties."""
    driven: dict[str, int] = {}
    for owner in (armature, armature.data):
        if owner.animation_data is None:
            continue
        for curve in owner.animation_data.drivers:
            match = _BONE.search(curve.data_path)
            if match:
                driven[match[1]] = driven.get(match[1], 0) + 1
    return driven


def _bone(
    armature: bpy.types.Object, bone: bpy.types.PoseBone, mass: dict[str, float], driven: dict[str, int]
) -> BoneFacts:
    world = armature.matrix_world
    axes = np.array((world @ bone.bone.matrix_local).to_3x3(), np.float64).T
    return BoneFacts(
        name=bone.name,
        parent=bone.parent.name if bone.parent else "",
        head=_vector(world @ bone.bone.head_local),
        tail=_vector(world @ bone.bone.tail_local),
        axes=_rows(axes / np.maximum(np.linalg.norm(axes, axis=1, keepdims=True), 1e-12)),
        weight=mass.get(bone.name, 0.0) if bone.bone.use_deform else 0.0,
        deform=bone.bone.use_deform,
        rotation_mode=bone.rotation_mode,
        locks=_locks(bone),
        constraints=tuple(_constraint(armature, c) for c in bone.constraints),
        drivers=driven.get(bone.name, 0),
        custom_shape=bone.custom_shape.name if bone.custom_shape else "",
        pose_scale=_vector(bone.scale),
    )


def _locks(bone: bpy.types.PoseBone) -> tuple[str, ...]:
    rows = (("location", bone.lock_location), ("rotation", bone.lock_rotation), ("scale", bone.lock_scale))
    return tuple(f"{what} {axis}" for what, locked in rows for axis, on in zip("xyz", locked, strict=True) if on)


def _constraint(armature: bpy.types.Object, constraint: Any) -> ConstraintFacts:
    own = getattr(constraint, "target", None) == armature
    pole_own = getattr(constraint, "pole_target", None) == armature
    return ConstraintFacts(
        kind=constraint.type,
        muted=constraint.mute or constraint.influence <= 0,
        target=getattr(constraint, "subtarget", "") if own else "",
        pole=getattr(constraint, "pole_subtarget", "") if pole_own else "",
        chain=int(getattr(constraint, "chain_count", 0)),
    )


def _actions(armature: bpy.types.Object) -> Iterable[ActionFacts]:
    """The Actions that move this armature's bones, in order of name."""
    own = set(armature.data.bones.keys())
    for action in sorted(bpy.data.actions, key=lambda a: a.name):
        curves = [(m[1], m[2], c) for c in action_fcurves(action, armature) if (m := _CURVE.match(c.data_path))]
        named = {bone for bone, _, _ in curves}
        if not named or len(named & own) < _OWN_SHARE * len(named):
            continue
        first, last = action.frame_range
        motions = [_motion(bone, [(p, c) for b, p, c in curves if b == bone]) for bone in sorted(named & own)]
        yield ActionFacts(
            name=action.name,
            first=float(first),
            last=float(last),
            bones=tuple(m for m in motions if m.moved > 0 or m.scale != (1.0, 1.0)),
            missing=tuple(sorted(named - own)),
        )


def _motion(bone: str, curves: list[tuple[str, Any]]) -> BoneMotion:
    moved, least, most = [0.0], [], []
    for channel, curve in curves:
        if channel not in ("location", "scale") or not len(curve.keyframe_points):
            continue
        keys = np.empty(len(curve.keyframe_points) * 2, np.float32)
        curve.keyframe_points.foreach_get("co", keys)
        values = keys[1::2]
        if channel == "location":
            moved.append(float(np.ptp(values)))
        else:
            least.append(float(values.min()))
            most.append(float(values.max()))
    scale = (min(least), max(most)) if least else (1.0, 1.0)
    return BoneMotion(bone, float(np.linalg.norm(moved)), scale)
