"""The check-up's fix of parts that no armature moves: they follow the bone that moves the skin nearest to them."""

from __future__ import annotations

import bpy
import numpy as np

from .fixed_objects import TINY_WEIGHT, Objects, deforms, local_points, raw_weights, shown_meshes
from .import_mesh import driving_armature, hidden
from .scene import to_world


def bind_parts(objects: Objects) -> list[str]:
    """Meshes that no armature moves follow, as a whole, the bone that moves the skin nearest to them."""
    bpy.context.view_layer.update()
    everything = [o for o in bpy.context.scene.objects if o.type == "MESH" and not hidden(o)]
    skins = [(mesh, armature) for mesh in everything if (armature := driving_armature(mesh)) is not None]
    notes = []
    for part in shown_meshes(objects):
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
    middle = to_world(part, local_points(part)).mean(0)
    best: tuple[float, bpy.types.Object, str] | None = None
    for mesh, armature in skins:
        names = [g.name for g in mesh.vertex_groups]
        weights = np.nan_to_num(raw_weights(mesh))
        weights[:, [not deforms(armature, name) for name in names]] = 0.0
        moved = np.flatnonzero(weights.sum(1) > TINY_WEIGHT) if names else np.zeros(0, int)
        if not len(moved):
            continue
        away = np.linalg.norm(to_world(mesh, local_points(mesh))[moved] - middle, axis=1)
        if best is None or away.min() < best[0]:
            best = (float(away.min()), armature, names[int(weights[moved[away.argmin()]].argmax())])
    return None if best is None else best[1:]
