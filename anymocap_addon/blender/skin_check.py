"""Skin stage: put the rigged creature into its test pose and look how the skin bears it -> skin_check.json and .png."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.creature import Creature
from ..core.formats import write_json_file
from ..core.ortho_picture import VIEWS, OrthoPicture, Surface, beside
from ..core.rig import RigInfo
from ..core.skin_quality import STRETCHED, SkinQuality, skin_quality
from ..core.stage_context import StageContext
from .png import write_png
from .posed import PosedCreature
from .rig_build import mesh_soup
from .scene import open_rigged, world_vertices
from .skin import rigid_bone

Array = NDArray[np.float64]

LONGEST = 560  # px of the creature's longest side
SHARE = 0.6  # of its limits: how far each bone turns where creature.json names no test pose
_GOOD, _BAD = np.array([150.0, 165.0, 180.0]), np.array([235.0, 40.0, 30.0])
_TORN, _BARE = np.array([255.0, 190.0, 0.0]), np.array([255.0, 0.0, 220.0])


def run(ctx: StageContext) -> dict[str, Any]:
    """The skin stage: see the module.

    Raises:
        BadInputError: the creature has no rig, or its test pose names a bone that the rig lacks.
    """
    ctx.progress(0, 3, "opening")
    creature = ctx.load_creature()
    scene = open_rigged(ctx.paths)
    posed = PosedCreature(scene)
    posed.rest()
    meshes = list(scene.meshes)
    rest, triangles = _vertices(meshes), mesh_soup(meshes)[1]
    ctx.progress(1, 3, "test pose")
    posed.rest(test_pose(creature, scene.rig))
    bent = _vertices(meshes)
    quality = skin_quality(rest, bent, triangles, np.concatenate([_weight(m, scene.armature) for m in meshes]))
    ctx.progress(2, 3, "drawing")
    write_png(ctx.paths.skin_png, skin_sheet(rest, bent, triangles, quality), level=6)
    findings = quality.findings()
    facts = {
        "vertices": len(rest),
        "bare": int(quality.bare.sum()),
        "torn": int(quality.torn.sum()),
        "stretched_share": round(quality.stretched, 5),
        "worst_stretch": round(float(quality.stretch.max()), 3),
        "pose": {bone: list(angles) for bone, angles in creature.testpose.items()},
        "findings": findings,
    }
    write_json_file(ctx.paths.skin_json, "skin_check", facts)
    for finding in findings:
        ctx.log(finding)
    ctx.progress(3, 3)
    return {**facts, "picture": str(ctx.paths.skin_png)}


def test_pose(creature: Creature, rig: RigInfo) -> Array:
    """(B, 3) radians: creature.json's testpose, else every bone `SHARE` of the way to the wider end of its limits."""
    euler = np.zeros((rig.B, 3))
    if creature.testpose:
        for bone, angles in creature.testpose.items():
            euler[rig.index(bone)] = np.radians(angles)
        return euler
    low, high = rig.limits_rad[..., 0], rig.limits_rad[..., 1]
    euler = SHARE * np.where(high >= -low, high, low)
    euler[0] = 0.0
    return np.asarray(np.clip(euler, -np.radians(60), np.radians(60)))


def skin_sheet(rest: Array, posed: Array, triangles: NDArray[np.int64], quality: SkinQuality) -> NDArray[np.uint8]:
    """(H, W, 3) the test pose from front, side and top: stretched parts red, torn ones amber, bare ones pink."""
    share = np.clip((quality.stretch - 1.3) / (STRETCHED - 1.3), 0, 1)[:, None]
    colours = _GOOD + share * (_BAD - _GOOD)
    colours[quality.torn], colours[quality.bare] = _TORN, _BARE
    low, high = np.minimum(rest.min(0), posed.min(0)), np.maximum(rest.max(0), posed.max(0))
    scale = float((high - low).max()) / LONGEST
    surface = Surface(posed, triangles, colours)
    pictures = []
    for view in VIEWS:
        picture = OrthoPicture(view, low, high, scale)
        picture.surface(surface)
        pictures.append(picture.pixels)
    return beside(pictures)


def _vertices(meshes: list[bpy.types.Object]) -> Array:
    bpy.context.view_layer.update()
    return np.concatenate([world_vertices(mesh) for mesh in meshes])


def _weight(mesh: bpy.types.Object, armature: bpy.types.Object) -> Array:
    """(V,) summed weights of the deforming bones, as they are stored; 1 where the whole object hangs on a bone."""
    if rigid_bone(mesh) is not None:
        return np.ones(len(mesh.data.vertices))
    deforming = {group.index for group in mesh.vertex_groups if _deforms(armature, group.name)}
    return np.array(
        [sum(e.weight for e in vertex.groups if e.group in deforming) for vertex in mesh.data.vertices], np.float64
    )


def _deforms(armature: bpy.types.Object, name: str) -> bool:
    bone = armature.data.bones.get(name)
    return bone is not None and bone.use_deform
