"""Rig: adopt the creature's armature or build one, paint the limbs -> rigged.blend and rig_info.json."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.atomic import replacing
from ..core.bone_map import BoneMap, load_edits, save_bone_map
from ..core.creature import Creature, save_creature
from ..core.errors import BadInputError
from ..core.found_paint import recoloured, was_found
from ..core.rest_bones import Bones
from ..core.rig import RigInfo, RigSpec, load_rig_spec, save_rig_info
from ..core.role_edits import edited_roles
from ..core.roles import Roles, facing_doubt, find_contacts, find_roles
from ..core.side_pairs import find_pairs
from ..core.stage_context import StageContext
from .compat import open_blend, save_blend
from .limits import adopted_limits, spec_limits
from .paint import check_paint, limb_paint, limbs_with_faces, mean_base_colour, paint_mesh
from .prep import armatures_of, rest_bounds, rest_only
from .rig_adopt import CaptureSkeleton, adopt, free_bones, main_armature
from .rig_build import build

Array = NDArray[np.float64]
_AXES = {"x": 0, "y": 1, "z": 2}


def run(ctx: StageContext) -> dict[str, Any]:
    """The rig stage: see the module.

    Raises:
        BadInputError: nothing was prepped, no armature and no rig.json, or a rig that does not fit; says what to do.
    """
    creature = ctx.load_creature()
    spec = load_rig_spec(ctx.paths.rig_json) if _mode(ctx) == "build" else None
    ctx.progress(0, 4, "opening")
    open_blend(ctx.paths.static_blend)
    meshes = [o for o in bpy.context.scene.objects if o.type == "MESH"]
    ctx.progress(1, 4, "building the skin" if spec else "finding the skeleton")
    armature, skeleton = _skeleton(ctx, spec, creature, meshes)
    low, high = rest_bounds(meshes)
    bones = role_bones(skeleton, low, high)
    roles = edited_roles(bones, find_roles(bones), creature.roles, ctx.paths.creature_json)
    ctx.progress(2, 4, "limits")
    limits, origin = _limits(armature, skeleton, roles, spec, float((high - low).max()))
    rig = rig_info(creature, armature, skeleton, roles, limits, low, high)
    ctx.progress(3, 4, "limb paint")
    notes = [*skeleton.notes, facing_doubt(bones), _unused(ctx, creature, spec is None)]
    notes += [] if creature.paint else ["Limbs and their colours were found and written to creature.json."]
    limbs = limbs_with_faces(with_driven(rig.bone_groups, skeleton.bone_map), armature, meshes)
    bare = sorted(set(rig.bone_groups) - set(limbs))
    rig = replace(rig, bone_groups={name: rig.bone_groups[name] for name in rig.bone_groups if name in limbs})
    notes += [f"No face follows {', '.join(bare)} most, so it is not painted."] if bare else []
    known = rig.bones if skeleton.bone_map is None else tuple(bone.name for bone in skeleton.bone_map.bones)
    creature, painted = _paint(ctx, creature, known, limbs, armature, meshes)
    with replacing(ctx.paths.rigged_blend) as temporary:
        save_blend(temporary)
    save_rig_info(ctx.paths.rig_info, rig)
    if skeleton.bone_map is not None:
        save_bone_map(ctx.paths.bone_map, skeleton.bone_map)
    ctx.progress(4, 4)
    for note in filter(None, notes):
        ctx.log(note)
    return {
        "mode": "build" if spec else "adopt",
        "bones": rig.B,
        "joints": rig.J,
        "root": rig.bones[0],
        "limbs": {name: len(members) for name, members in rig.bone_groups.items()},
        "painted_faces": painted,
        "contacts": [rig.keypoints[j] for j in rig.contacts],
        "limits_from": origin,
        "notes": [note for note in notes if note],
    }


def _skeleton(
    ctx: StageContext, spec: RigSpec | None, creature: Creature, meshes: list[bpy.types.Object]
) -> tuple[bpy.types.Object, CaptureSkeleton]:
    """Armature and capture skeleton: built from `spec`, or adopted where there is none."""
    if spec is not None:
        return build(spec, meshes, ctx.settings.get("weights") or "auto", creature, ctx.paths.rig_json)
    armature = main_armature(meshes, armatures_of(meshes))
    rest_only(armature)
    edits_file = ctx.paths.bone_map
    return armature, adopt(armature, meshes, load_edits(edits_file), edits_file)


def _limits(
    armature: bpy.types.Object, skeleton: CaptureSkeleton, roles: Roles, spec: RigSpec | None, size: float
) -> tuple[Array, list[str]]:
    """(B, 3, 2) limits in radians and where they come from. Leaves an adopted armature at rest, free to be posed."""
    pairs = bone_pairs(skeleton, roles, size)
    if spec is not None:
        return spec_limits(spec, skeleton, roles, pairs), ["rig.json", "roles"] if spec.limits_deg else ["roles"]
    limits, actions = adopted_limits(armature, skeleton, roles, pairs)
    rest_only(armature)
    free_bones(armature, skeleton.bones)
    return limits, actions or ["roles"]


def _mode(ctx: StageContext) -> str:
    """adopt or build; auto builds where the artist wrote a rig.json, else adopts."""
    mode = ctx.settings.get("mode") or "auto"
    if mode == "auto":
        return "build" if ctx.paths.rig_json.exists() else "adopt"
    if mode not in ("adopt", "build"):
        raise BadInputError(f"The mode {mode!r} is not one of auto, adopt, build.", key="mode")
    return str(mode)


def _unused(ctx: StageContext, creature: Creature, adopted: bool) -> str:
    """A sentence when what was asked of the skin does not apply to a skin that came with the file."""
    asked = creature.rigid or ctx.settings.get("weights", "auto") != "auto"
    return "The creature's own skin was kept: weights and `rigid` are for built skins." if adopted and asked else ""


def role_bones(skeleton: CaptureSkeleton, low: Array, high: Array) -> Bones:
    """The capture skeleton as the search for body parts sees it; `low`, `high`: corners of the rest mesh, metres."""
    return Bones(
        names=skeleton.bones,
        parents=skeleton.parents,
        heads=skeleton.rest[:, :3, 3],
        tips=skeleton.tips,
        low=low,
        high=high,
        flatness=skeleton.flatness,
    )


def bone_pairs(skeleton: CaptureSkeleton, roles: Roles, size: float) -> list[tuple[int, int]]:
    """Bones that mirror each other (left, right): by the middles between head and tip."""
    middles = (skeleton.rest[:, :3, 3] + skeleton.tips) / 2
    return [(int(left), int(right)) for left, right in find_pairs(middles, size, skeleton.bones, roles.rank)]


def rig_info(
    creature: Creature,
    armature: bpy.types.Object,
    skeleton: CaptureSkeleton,
    roles: Roles,
    limits: Array,
    low: Array,
    high: Array,
) -> RigInfo:
    """Everything the later stages need to know of the capture skeleton."""
    bone_of = np.array([k.bone for k in skeleton.keypoints], np.int64)
    offsets = np.array([k.offset for k in skeleton.keypoints])
    rest = skeleton.rest[bone_of]
    joints = rest[:, :3, 3] + (rest[:, :3, :3] @ offsets[:, :, None])[..., 0]
    joint_part = [roles.part[b] for b in bone_of]
    groups = {part: tuple(j for j, p in enumerate(joint_part) if p == part) for part in sorted(set(joint_part))}
    names = tuple(k.name for k in skeleton.keypoints)
    contacts = _contacts(creature, skeleton, names, joints)
    if contacts is None:
        contacts = find_contacts(joints, [roles.role[b] for b in bone_of], joint_part, float(high[2] - low[2]))
    bones = armature.data.bones
    return RigInfo(
        creature=creature.name,
        armature=armature.name,
        to_prep=np.array(armature.matrix_world, np.float64),
        bones=skeleton.bones,
        parents=skeleton.parents,
        armature_parents=tuple(bones[n].parent.name if bones[n].parent else None for n in skeleton.bones),
        rest=skeleton.rest,
        lengths=skeleton.lengths,
        limits_rad=limits,
        keypoints=names,
        keypoint_bone=bone_of,
        keypoint_end=np.array([k.end for k in skeleton.keypoints], np.int64),
        contacts=contacts,
        pairs=find_pairs(joints, float((high - low).max()), names, roles.rank[bone_of]),
        joint_groups=groups,
        bone_groups=roles.limb_bones(skeleton.bones),
        body_length=float((high - low)[_AXES[creature.prep.axis]]),
        keypoint_offset=offsets,
        bone_roles=roles.role,
        bone_parts=roles.part,
    )


def _contacts(
    creature: Creature, skeleton: CaptureSkeleton, names: tuple[str, ...], joints: Array
) -> tuple[int, ...] | None:
    """What creature.json says touches the ground: keypoints, or of each foot bone its lowest keypoint; else None.

    Raises:
        BadInputError: it names a keypoint or bone that the rig lacks.
    """
    for name in creature.contacts:
        if name not in names:
            raise BadInputError(
                f"The rig has no keypoint {name!r}.", key="contacts", hint=f"Keypoints: {', '.join(names)}."
            )
    if creature.contacts:
        return tuple(sorted(names.index(name) for name in creature.contacts))
    found = set()
    for bone in creature.feet:
        if bone not in skeleton.bones:
            raise BadInputError(
                f"The rig has no bone {bone!r}.", key="feet", hint=f"Bones: {', '.join(skeleton.bones)}."
            )
        b = skeleton.bones.index(bone)
        riding = [j for j, k in enumerate(skeleton.keypoints) if k.bone == b]
        riding = riding or [j for j, k in enumerate(skeleton.keypoints) if k.bone == skeleton.parents[b]]
        if riding:
            found.add(min(riding, key=lambda j: float(joints[j, 2])))
    return tuple(sorted(found)) if creature.feet else None


def with_driven(limbs: dict[str, tuple[str, ...]], bone_map: BoneMap | None) -> dict[str, tuple[str, ...]]:
    """The bones of each limb and the driven bones that follow them: their skin is painted too."""
    if bone_map is None:
        return limbs
    driven = [bone for bone in bone_map.bones if bone.state == "driven" and bone.follows]
    return {
        limb: (*members, *(bone.name for bone in driven if bone.follows[0] in members))
        for limb, members in limbs.items()
    }


def _paint(
    ctx: StageContext,
    creature: Creature,
    bones: tuple[str, ...],
    limbs: dict[str, tuple[str, ...]],
    armature: bpy.types.Object,
    meshes: list[bpy.types.Object],
) -> tuple[Creature, dict[str, int]]:
    """Paint the meshes. A creature.json whose paint is empty, or as an earlier run found it, gets the found limbs,
    colours and words; one that names its own paint stays as it is.
    """
    found = not creature.paint or was_found(creature.paint, ctx.paths.rig_info)
    paint = recoloured(creature.paint, limbs) if found else creature.paint
    paint = limb_paint(limbs, mean_base_colour(meshes)) if paint is None else paint
    check_paint(paint, bones, ctx.paths.creature_json)
    if paint != creature.paint:
        creature = replace(creature, paint=paint)
        save_creature(ctx.paths.creature_json, creature)
    faces = {group.name: 0 for group in creature.paint}
    for mesh in meshes:
        for name, count in paint_mesh(mesh, armature, creature.paint).faces.items():
            faces[name] += count
    bare = [name for name, count in faces.items() if count == 0]
    if bare:
        raise BadInputError(
            f"The bones of {bare[0]!r} move no faces, so nothing was painted.",
            file=ctx.paths.creature_json,
            key="paint",
            hint="Name bones that move the mesh, or remove the group.",
        )
    return creature, faces
