"""Limb paint: each limb in its own colour over the creature's own, as the colour attribute `legpaint`.

A face belongs to the limb that holds most of its skin weight, so the edge of the paint is crisp. Low meshes carry
little of their texture in corner colours: `detailed_copies` makes finer ones for drawing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import bpy  # isort: skip
import bmesh  # isort: skip  # comes with bpy, so after it
import numpy as np
from numpy.typing import NDArray

from ..core.creature import PaintGroup
from ..core.errors import BadInputError
from ..core.palette import choose_colours
from .base_colour import corner_base_colours
from .scene import PAINT, RiggedScene
from .skin import read_skin

Array = NDArray[np.float64]

OPACITY = 0.6  # of the paint over the creature's own colour
MAJORITY = 0.5  # of a face's skin weight that makes it a limb's
EDGE = 0.012  # of the body length: detailed copies have edges of about this
MOST_TRIANGLES = 60_000  # of all detailed copies together


@dataclass(frozen=True)
class Painted:
    """How many faces of each limb were painted."""

    faces: dict[str, int]


def limb_paint(limbs: dict[str, tuple[str, ...]], mean_colour: Array) -> tuple[PaintGroup, ...]:
    """A colour and its word for each limb (name -> bones), apart from each other and from the creature's colour."""
    colours = choose_colours(len(limbs), mean_colour, OPACITY)
    return tuple(
        PaintGroup(name, word, colour, bones)
        for (name, bones), (word, colour) in zip(limbs.items(), colours, strict=True)
    )


def limbs_with_faces(
    limbs: dict[str, tuple[str, ...]], armature: bpy.types.Object, meshes: list[bpy.types.Object]
) -> dict[str, tuple[str, ...]]:
    """Those of the limbs that some face follows most; a fin whose faces all follow the body more cannot be painted."""
    groups = tuple(PaintGroup(name, "", (0.0, 0.0, 0.0), bones) for name, bones in limbs.items())
    owners = np.concatenate([face_groups(mesh, armature, groups) for mesh in meshes])
    return {group.name: group.bones for g, group in enumerate(groups) if (owners == g).any()}


def check_paint(groups: tuple[PaintGroup, ...], bones: tuple[str, ...], file: object) -> None:
    """Hold creature.json's paint to the rig.

    Raises:
        BadInputError: a group names a bone that the rig lacks, or no bone.
    """
    for group in groups:
        unknown = [bone for bone in group.bones if bone not in bones]
        if unknown or not group.bones:
            what = f"names the bone {unknown[0]!r}, which the rig lacks" if unknown else "names no bones"
            raise BadInputError(
                f"The group {group.name!r} {what}.",
                file=str(file),
                key="paint",
                hint=f"Bones of the rig: {', '.join(bones)}.",
            )


def paint_mesh(obj: bpy.types.Object, armature: bpy.types.Object, groups: tuple[PaintGroup, ...]) -> Painted:
    """Write `legpaint` (BYTE_COLOR, CORNER, sRGB) on the mesh of `obj`."""
    mesh = obj.data
    colours = corner_base_colours(obj)
    owner = face_groups(obj, armature, groups)
    totals = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", totals)
    of_corner = np.repeat(owner, totals)
    for g, group in enumerate(groups):
        at = of_corner == g
        colours[at] = colours[at] * (1 - OPACITY) + np.array(group.colour) * OPACITY
    if PAINT in mesh.color_attributes:
        mesh.color_attributes.remove(mesh.color_attributes[PAINT])
    attribute = mesh.color_attributes.new(PAINT, "BYTE_COLOR", "CORNER")
    rgba = np.concatenate([colours, np.ones((len(colours), 1))], 1)
    attribute.data.foreach_set("color_srgb", rgba.astype(np.float32).ravel())
    mesh.color_attributes.active_color = attribute
    return Painted({group.name: int((owner == g).sum()) for g, group in enumerate(groups)})


def face_groups(obj: bpy.types.Object, armature: bpy.types.Object, groups: tuple[PaintGroup, ...]) -> NDArray[np.int64]:
    """(F,) index of the group that each face belongs to, -1 for none."""
    mesh = obj.data
    skin = read_skin(obj, armature)
    of_vertex = np.stack([skin.of(group.bones) for group in groups], 1) if groups else np.zeros((len(mesh.vertices), 0))
    totals = np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", totals)
    vertex = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", vertex)
    starts = np.concatenate([[0], np.cumsum(totals)[:-1]])
    if not len(groups) or not len(totals):
        return np.full(len(totals), -1, np.int64)
    share = np.add.reduceat(of_vertex[vertex], starts, axis=0) / totals[:, None]
    best = share.argmax(1)
    return np.where(share.max(1) > MAJORITY, best, -1)


def mean_base_colour(meshes: list[bpy.types.Object]) -> Array:
    """(3,) mean sRGB colour of the creature, by face area."""
    total, area = np.zeros(3), 0.0
    for obj in meshes:
        mesh = obj.data
        totals = np.empty(len(mesh.polygons), np.int32)
        mesh.polygons.foreach_get("loop_total", totals)
        areas = np.empty(len(mesh.polygons), np.float32)
        mesh.polygons.foreach_get("area", areas)
        weight = np.repeat(areas / np.maximum(totals, 1), totals).astype(np.float64)
        weight *= float(obj.matrix_world.to_scale()[0]) ** 2
        total += weight @ corner_base_colours(obj)
        area += float(weight.sum())
    return total / max(area, 1e-12)


def detailed_copies(rigged: RiggedScene, groups: tuple[PaintGroup, ...], edge: float = EDGE) -> RiggedScene:
    """The same creature with finer meshes for drawing, hidden in place of the originals; only in memory.

    Faces are cut, not smoothed: the shape stays, texture and paint get the resolution that corner colours need.
    """
    faces = sum(_triangle_count(m) for m in rigged.meshes)
    copies = []
    for obj in rigged.meshes:
        cuts = _cuts(obj, edge * rigged.rig.body_length, MOST_TRIANGLES / max(faces, 1))
        if cuts == 0:
            copies.append(obj)
            continue
        copy = obj.copy()
        copy.data = obj.data.copy()
        copy.name = f"{obj.name}_detail"
        for collection in obj.users_collection:
            collection.objects.link(copy)
        _subdivide(copy.data, cuts)
        paint_mesh(copy, rigged.armature, groups)
        obj.hide_render = obj.hide_viewport = True
        copies.append(copy)
    return replace(rigged, meshes=tuple(copies))


def _triangle_count(obj: bpy.types.Object) -> int:
    return sum(len(p.vertices) - 2 for p in obj.data.polygons)


def _cuts(obj: bpy.types.Object, edge: float, growth: float) -> int:
    """Cuts an edge so that the mean edge falls to `edge` metres without more than `growth` times the triangles."""
    mesh = obj.data
    points = np.array([v.co[:] for v in mesh.vertices]) * abs(obj.matrix_world.to_scale()[0])
    ends = np.array([e.vertices[:] for e in mesh.edges])
    mean = float(np.linalg.norm(points[ends[:, 0]] - points[ends[:, 1]], axis=1).mean()) if len(ends) else 0.0
    wanted = int(np.ceil(mean / edge)) - 1
    return max(0, min(wanted, int(np.sqrt(growth)) - 1, 6))


def _subdivide(mesh: bpy.types.Mesh, cuts: int) -> None:
    work = bmesh.new()
    work.from_mesh(mesh)
    bmesh.ops.subdivide_edges(work, edges=work.edges[:], cuts=cuts, use_grid_fill=True)
    work.to_mesh(mesh)
    work.free()
