"""The checkup stage: look at what the artist brought, as a copy in a background Blender or in his own scene."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ..core.checkup.checkup import check_up
from ..core.checkup.facing_picture import draw_facing, sample_surface
from ..core.checkup.file import Checkup, save_checkup
from ..core.checkup.orientation import guess_orientation, turn_matrix
from ..core.creature import Creature
from ..core.project import CreaturePaths
from ..core.stage_context import StageContext
from ..core.stage_record import load_record
from .creature_facts import creature_facts, with_prep
from .import_mesh import driving_armature, hidden, object_family
from .png import write_png
from .prep import bring
from .rest_shown import rest_shown
from .scene import fresh_scene, to_world

POINTS = 120000  # of the surface, for the picture


def run(ctx: StageContext) -> dict[str, Any]:
    """The checkup stage: mends the copy as creature.json says, then writes checkup.json and facing.png.

    Raises:
        BadInputError: the file is missing or broken; says what to do.
    """
    creature = ctx.load_creature()
    source, name = _source(ctx)
    ctx.progress(0, 2, f"importing {source.name}")
    fresh_scene()
    fixed = bring(source, name, creature.prep.fixes, to_look=True)
    ctx.progress(1, 2, "looking")
    found = look(ctx.paths, creature, list(bpy.context.scene.objects), name or source.name, fixed)
    for finding in found.findings:
        if finding.level != "pass":
            ctx.log(f"{finding.subject}: {finding.text} {finding.hint}".strip())
    ctx.progress(2, 2)
    return {"failures": found.failures, "warnings": found.warnings, "rules": len(found.findings)}


def look_here(paths: CreaturePaths, creature: Creature, name: str) -> Checkup:
    """Check the creature that the object called `name` of the open scene belongs to; the scene stays as it is."""
    family = object_family(bpy.data.objects[name])
    armatures = {o for o in family if o.type == "ARMATURE"}
    near = [o for a in armatures for o in a.children_recursive if o.type == "MESH"]  # loose parts hang below it
    return look(paths, creature, list(dict.fromkeys([*family, *near])), name, ())


def look(
    paths: CreaturePaths, creature: Creature, objects: list[bpy.types.Object], source: str, fixed: Sequence[str]
) -> Checkup:
    """Facts, findings and picture of these objects, written to checkup.json and facing.png."""
    facts = with_prep(creature_facts(objects, source), creature)
    found = Checkup(source, check_up(facts), guess_orientation(facts), tuple(fixed))
    save_checkup(paths.checkup_json, found)
    draw_picture(paths.facing_png, objects, creature)
    return found


def draw_picture(path: Path, objects: list[bpy.types.Object], creature: Creature) -> None:
    """Draw facing.png; a creature without faces has none."""
    meshes = [o for o in objects if o.type == "MESH" and not hidden(o) and len(o.data.polygons)]
    if any(driving_armature(mesh) is not None for mesh in meshes):
        meshes = [mesh for mesh in meshes if driving_armature(mesh) is not None]
    with rest_shown({a for mesh in meshes if (a := driving_armature(mesh)) is not None}):
        triangles = [_triangles(mesh) for mesh in meshes]
    points, normals = sample_surface(np.concatenate([np.zeros((0, 3, 3)), *triangles]), POINTS)
    if len(points):
        turn = turn_matrix(creature.prep.rotz_deg, creature.prep.up)
        write_png(path, draw_facing(points @ turn.T, normals @ turn.T))


def _triangles(mesh: bpy.types.Object) -> Any:
    """(T, 3, 3) corners in world space as the mesh shows itself."""
    evaluated = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
    data = evaluated.to_mesh()
    data.calc_loop_triangles()
    points = np.empty(len(data.vertices) * 3, np.float32)
    data.vertices.foreach_get("co", points)
    corners = np.empty(len(data.loop_triangles) * 3, np.int32)
    data.loop_triangles.foreach_get("vertices", corners)
    evaluated.to_mesh_clear()
    return to_world(mesh, points.reshape(-1, 3).astype(np.float64))[corners.reshape(-1, 3)]


def _source(ctx: StageContext) -> tuple[Path, str]:
    """The file to look at and the object in it: as set, as prep took them, or the creature's own."""
    mesh, name = ctx.settings.get("mesh") or "", ctx.settings.get("object") or ""
    if mesh:
        return Path(mesh).expanduser(), name
    record = load_record(ctx.paths, "prep")
    taken = record.settings if record is not None else {}
    if taken.get("mesh"):
        return Path(ctx.paths.root, taken["mesh"]), taken.get("object") or ""
    return ctx.paths.model(), ""
