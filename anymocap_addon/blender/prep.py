"""Prep: any mesh file or object -> static.blend: the creature at real size, facing -Y, standing on the ground.

The imported objects (meshes, armature, Actions) keep their data and transforms. The similarity that brings them to
prep space is an Empty above them, so Actions, bind pose and skin stay valid, object-level animation included.
"""

from __future__ import annotations

import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ..core.atomic import replacing
from ..core.checkup.facing_doubt import facing_doubt
from ..core.checkup.orientation import turn_matrix
from ..core.creature import Creature, Prep, PrepFix, save_creature
from ..core.errors import BadInputError
from ..core.project import CreaturePaths
from ..core.stage_context import StageContext
from .action_playback import keep_pose
from .compat import save_blend
from .creature_facts import creature_facts, with_prep
from .creature_fixes import apply_fixes
from .import_mesh import driving_armature, hidden, import_blend, import_file, snapshot_object
from .scene import fresh_scene, world_vertices

PREP_NODE = "anymocap_prep"  # the Empty that carries the similarity
_SINGLE_FILE = {".glb", ".fbx", ".usdc", ".usdz"}  # kinds that need no files beside them
_UNIFORM = 2e-3  # relative difference of an armature's axes that still counts as uniform
_AXES = {"x": 0, "y": 1, "z": 2}


def run(ctx: StageContext) -> dict[str, Any]:
    """The prep stage: see the module. Writes static.blend, and creature.json where there is none.

    Raises:
        BadInputError: no mesh, a broken file, or a creature that cannot be prepared; says what to do.
    """
    creature = _chosen_creature(ctx)
    source = _source(ctx)
    ctx.progress(0, 3, f"importing {source.name}")
    fresh_scene()
    mended = bring(source, ctx.settings.get("object") or "", creature.prep.fixes)
    ctx.progress(1, 3, "size and facing")
    meshes, notes = keep_creature(source)
    doubt = _facing_doubt(creature, meshes, source)
    notes = [*mended, *notes, *([doubt] if doubt else [])]
    for note in notes:
        ctx.log(note)
    size = place(meshes, creature.prep, source)
    ctx.progress(2, 3, "saving")
    with replacing(ctx.paths.static_blend) as temporary:
        bpy.ops.file.pack_all()
        save_blend(temporary)
    if source.suffix.lower() in _SINGLE_FILE and not ctx.paths.model().exists():
        shutil.copyfile(source, ctx.paths.assets / f"model{source.suffix.lower()}")
    if creature != ctx.load_creature() or not ctx.paths.creature_json.exists():
        save_creature(ctx.paths.creature_json, creature)
    ctx.progress(3, 3)
    return {
        "static_blend": str(ctx.paths.static_blend),
        "size_m": [round(float(s), 4) for s in size],
        "asked": {"length_m": creature.prep.length_m, "axis": creature.prep.axis},
        "facing_confirmed": creature.facing_is_confirmed(),
        "meshes": len(meshes),
        "armatures": len(armatures_of(meshes)),
        "vertices": sum(len(m.data.vertices) for m in meshes),
        "notes": notes,
    }


def _facing_doubt(creature: Creature, meshes: list[bpy.types.Object], source: Path) -> str:
    """What is to be said where facing is a guess; before the creature is turned."""
    if creature.facing_is_confirmed():
        return ""
    return facing_doubt(with_prep(creature_facts(meshes, source.name), creature), creature.name)


def bring(source: Path, name: str, fixes: tuple[PrepFix, ...], to_look: bool = False) -> list[str]:
    """Bring the creature into the empty scene and mend it.

    Args:
        name: of the object to take out of a .blend; empty = all.
        to_look: for the check-up: what would be refused comes in, marked.

    Returns:
        What was mended, a sentence each.

    Raises:
        BadInputError: as import_file, import_blend and apply_fixes.
    """
    if source.suffix.lower() == ".blend":
        import_blend(source, name)
    else:
        import_file(source, to_look or any(item.fix == "clean_weights" for item in fixes))
    bpy.context.view_layer.update()
    return apply_fixes(list(bpy.context.scene.objects), fixes)


def _chosen_creature(ctx: StageContext) -> Creature:
    """creature.json with what the settings say about size and facing; those that are not set stay."""
    creature = ctx.load_creature()
    chosen: dict[str, Any] = {}
    if ctx.settings.get("length_m"):
        chosen["length_m"] = float(ctx.settings["length_m"])
    if ctx.settings.get("rotz_deg") is not None:
        chosen["rotz_deg"] = float(ctx.settings["rotz_deg"])
    if ctx.settings.get("axis"):
        chosen["axis"] = ctx.settings["axis"]
    if ctx.settings.get("up"):
        chosen["up"] = ctx.settings["up"]
    prep = replace(creature.prep, **chosen)
    if prep.axis not in _AXES:
        raise BadInputError(f"The axis {prep.axis!r} is not one of x, y, z.", key="axis")
    if not (prep.length_m > 0 and math.isfinite(prep.length_m) and math.isfinite(prep.rotz_deg)):
        raise BadInputError(f"A length of {prep.length_m} m is not possible.", key="length_m", hint="Use more than 0.")
    return replace(creature, prep=prep)


def gather(paths: CreaturePaths, given: dict[str, Any]) -> dict[str, Any]:
    """Settings for the background: an object of the artist's open scene is first written to a .blend of its own.

    The artist's objects are only read.

    Raises:
        BadInputError: the scene holds no object of that name.
    """
    snapshot = paths.static_blend.with_name("source.blend")
    # The former run's snapshot is taken anew, unless another file is open by now.
    again = given.get("mesh") == str(snapshot) and given.get("object") in bpy.data.objects
    if not given.get("object") or (given.get("mesh") and not again):
        return given
    snapshot_object(given["object"], snapshot)
    return {**given, "mesh": str(snapshot)}


def _source(ctx: StageContext) -> Path:
    """The file to import."""
    mesh, name = ctx.settings.get("mesh") or "", ctx.settings.get("object") or ""
    if name and not mesh:
        raise BadInputError(
            f"The object {name!r} is named without the .blend that holds it.", key="mesh", hint="Name the .blend too."
        )
    return Path(mesh).expanduser() if mesh else ctx.paths.model()


def keep_creature(source: Path) -> tuple[list[bpy.types.Object], list[str]]:
    """Remove from the scene all that is not the creature.

    Kept are the visible meshes with faces, their armatures and all parents of both; where a mesh follows an
    armature, meshes that follow none are scenery.

    Returns:
        The meshes, each with data of its own, and notes on what was left out.

    Raises:
        BadInputError: no mesh is left, or a mesh has coordinates that are not finite.
    """
    scene = bpy.context.scene
    everything = [o for o in scene.objects if o.type == "MESH"]
    meshes = [o for o in everything if not hidden(o) and len(o.data.polygons)]
    skinned = [o for o in meshes if driving_armature(o) is not None]
    notes = []
    if skinned:
        scenery = sorted(o.name for o in meshes if o not in skinned)
        if scenery:
            notes.append(f"Left out, because no armature moves them: {', '.join(scenery)}.")
        meshes = skinned
    if not meshes:
        counted = ", ".join(f"{o.name} ({len(o.data.vertices)} vertices)" for o in everything) or "none"
        raise BadInputError(
            f"holds no visible mesh with vertices and faces (meshes found: {counted}).",
            file=source,
            hint="Export the creature's mesh with it, and unhide it.",
        )
    keep = set(meshes)
    for mesh in meshes:
        armature = driving_armature(mesh)
        keep |= {armature} if armature is not None else set()
    for member in list(keep):
        while member.parent is not None:
            member = member.parent
            keep.add(member)
    for obj in list(bpy.data.objects):
        if obj not in keep:
            bpy.data.objects.remove(obj)
    for mesh in meshes:
        _own_plain_data(mesh, source)
    return meshes, notes


def _own_plain_data(obj: bpy.types.Object, source: Path) -> None:
    """Give `obj` a mesh of its own with all modifiers but the armature's applied, and check its coordinates."""
    others = [m for m in obj.modifiers if m.type != "ARMATURE"]
    if any(m.show_viewport for m in others):
        shown = {m.name: m.show_viewport for m in obj.modifiers if m.type == "ARMATURE"}
        for name in shown:
            obj.modifiers[name].show_viewport = False
        depsgraph = bpy.context.evaluated_depsgraph_get()
        baked = bpy.data.meshes.new_from_object(
            obj.evaluated_get(depsgraph), preserve_all_data_layers=True, depsgraph=depsgraph
        )
        baked.name = obj.data.name
        obj.data = baked
        for name, show in shown.items():
            obj.modifiers[name].show_viewport = show
    elif obj.data.users > 1:
        obj.data = obj.data.copy()
    for modifier in others:
        obj.modifiers.remove(modifier)
    points = np.empty(len(obj.data.vertices) * 3, np.float32)
    obj.data.vertices.foreach_get("co", points)
    bad = ~np.isfinite(points.reshape(-1, 3)).all(1)
    if bad.any():
        raise BadInputError(
            f"Mesh {obj.name!r} has {int(bad.sum())} vertices whose coordinates are not finite.",
            file=source,
            hint="Delete them (Mesh > Clean Up) and export again.",
        )


def place(meshes: list[bpy.types.Object], prep: Prep, source: Path) -> NDArray[np.float64]:
    """Turn, scale and move the creature as `prep` says, by an Empty above all its top objects.

    Returns:
        (3,) its size in metres at rest.

    Raises:
        BadInputError: it has no extent along the axis, or its armature's scale is not uniform.
    """
    bpy.context.view_layer.update()  # appended objects have no world matrix before
    for armature in armatures_of(meshes):
        check_uniform(armature, source)
        rest_only(armature)
    turn = Matrix(turn_matrix(prep.rotz_deg, prep.up).tolist()).to_4x4()
    low, high = rest_bounds(meshes, turn)
    extent = high - low
    if extent[_AXES[prep.axis]] < 1e-9:
        raise BadInputError(
            f"The creature has no extent along {prep.axis}.", file=source, key="axis", hint="Choose another axis."
        )
    scale = prep.length_m / float(extent[_AXES[prep.axis]])
    middle = (low + high) / 2
    offset = Matrix.Translation((-middle[0] * scale, -middle[1] * scale, -low[2] * scale))
    node = bpy.data.objects.new(PREP_NODE, None)
    bpy.context.scene.collection.objects.link(node)
    node.matrix_world = offset @ Matrix.Scale(scale, 4) @ turn
    for obj in list(bpy.context.scene.objects):
        if obj.parent is None and obj != node:
            obj.parent = node  # matrix_parent_inverse stays the identity: world = node @ what it was
            obj.matrix_parent_inverse = Matrix()
    bpy.context.view_layer.update()
    return extent * scale


def armatures_of(meshes: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """The armatures that move `meshes`, each once."""
    found = [driving_armature(mesh) for mesh in meshes]
    return list(dict.fromkeys(a for a in found if a is not None))


def check_uniform(armature: bpy.types.Object, source: Path) -> None:
    """Refuse an armature that is stretched, sheared or mirrored: its bones could not keep their lengths.

    Raises:
        BadInputError: with the remedy.
    """
    matrix = np.array(armature.matrix_world, dtype=np.float64)[:3, :3]
    scales = np.linalg.norm(matrix, axis=0)
    mean = float(scales.mean())
    shear = np.abs(matrix.T @ matrix / mean**2 - np.eye(3)).max() if mean > 0 else np.inf
    if shear > 2 * _UNIFORM or np.linalg.det(matrix) <= 0:
        raise BadInputError(
            f"Armature {armature.name!r} has a scale that is not uniform or is mirrored "
            f"({', '.join(f'{s:.4g}' for s in armature.matrix_world.to_scale())}).",
            file=source,
            hint="Select armature and meshes, Object > Apply > Scale, and export again.",
        )


def rest_only(armature: bpy.types.Object) -> None:
    """Bring the armature to rest: no Action drives it, its pose is cleared. Its Actions stay in the file."""
    keep_pose(armature)
    data = armature.animation_data
    if data is not None:
        data.action = None
        for track in data.nla_tracks:
            track.mute = True
    for action in bpy.data.actions:
        action.use_fake_user = True
    for bone in armature.pose.bones:
        bone.matrix_basis = Matrix()
    armature.data.pose_position = "POSE"
    bpy.context.view_layer.update()


def rest_bounds(
    meshes: list[bpy.types.Object], turn: Matrix | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(3,) low and high corner of all meshes at rest in world space, after `turn`, metres."""
    armatures = armatures_of(meshes)
    before = [a.data.pose_position for a in armatures]
    for armature in armatures:
        armature.data.pose_position = "REST"
    depsgraph = bpy.context.evaluated_depsgraph_get()
    depsgraph.update()
    points = np.concatenate([world_vertices(mesh, depsgraph) for mesh in meshes])
    for armature, position in zip(armatures, before, strict=True):
        armature.data.pose_position = position
    depsgraph.update()
    if turn is not None:
        points = points @ np.array(turn.to_3x3()).T
    return points.min(0), points.max(0)
