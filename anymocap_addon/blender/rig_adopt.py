"""Adopt the armature that came with a creature: find its capture skeleton, keypoints and body parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.bone_map import BoneMap, Edits
from ..core.capture_edits import edited_tree
from ..core.capture_tree import ArmatureBones, CaptureTree, find_capture_tree
from ..core.driven_bones import Followed, find_driven
from ..core.errors import BadInputError
from .armature_space import orthonormal
from .bone_map_of import bone_map_of
from .bone_sources import bone_sources, ik_goals, transform_drivers
from .own_actions import bone_of
from .scene import to_world, world_vertices
from .skin import Skin, armature_meshes, complete_weights, fold_groups

Array = NDArray[np.float64]

FOLLOWS = 0.5  # skin weight from which a vertex counts as a bone's own
TIP_SLICE = 0.9  # a tip is the mean of the skin beyond this share of its reach
TIP_ANGLE = np.radians(35.0)  # a bone's own tail is kept when it lies this near the middle of its skin ...
TIP_RANGE = (0.5, 1.25)  # ... and its length is this share of the skin's reach
COINCIDENT = 0.012  # of the body, some 7 px of a picture: keypoints nearer to an earlier one are left out
OFF_MESH = 0.12  # of the body: heads farther from any vertex are not seen, so they are no keypoints


@dataclass(frozen=True)
class Keypoint:
    """A point of the skeleton that the reader learns to see: on a bone's `end`, at `offset` (3,) in its frame, m."""

    name: str
    bone: int
    end: int
    offset: Array


@dataclass(frozen=True)
class CaptureSkeleton:
    """The capture skeleton of an armature at rest in prep space.

    Attributes:
        bones: B names; parents: (B,); rest: (B, 4, 4); lengths: (B,) m: as in core.rig.RigInfo.
        tips: (B, 3) far end of each bone, metres; flatness: (B,) of its skin, see core.rest_bones.Bones.
        keypoints: J points. notes: what was decided, for the log.
        bone_map: what became of each bone of an adopted armature; None for a built one.
    """

    bones: tuple[str, ...]
    parents: NDArray[np.int64]
    rest: Array
    lengths: Array
    tips: Array
    flatness: Array
    keypoints: tuple[Keypoint, ...]
    notes: tuple[str, ...]
    bone_map: BoneMap | None = None


def main_armature(meshes: list[bpy.types.Object], armatures: list[bpy.types.Object]) -> bpy.types.Object:
    """The armature that moves the most vertices.

    Raises:
        BadInputError: there is none, or some meshes follow another one.
    """
    if not armatures:
        raise BadInputError(
            "The creature has no armature.",
            key="mode",
            hint="Write a rig.json for it (see docs/formats.md) and run rig with mode=build.",
        )
    main = max(armatures, key=lambda a: sum(len(m.data.vertices) for m in armature_meshes(a, meshes)))
    others = [m.name for m in meshes if m not in armature_meshes(main, meshes)]
    if others:
        raise BadInputError(
            f"The meshes {', '.join(sorted(others))} follow another armature than {main.name!r}.",
            hint="Join the armatures (Object > Join), or hide those meshes, and run prep again.",
        )
    return main


def adopt(
    armature: bpy.types.Object, meshes: list[bpy.types.Object], edits: Edits | None = None, edits_file: Path | str = ""
) -> CaptureSkeleton:
    """The capture skeleton of `armature`, which moves `meshes`; both at rest, world space is prep space.

    Weights of control bones above the capture root are added to the root's, few vertices without weights take
    their neighbour's; both are told in the notes.

    Args:
        edits: the artist's changes, from `edits_file`.

    Raises:
        BadInputError: bad weights, no bone moves any vertex, or an edit that does not fit the armature.
    """
    notes: list[str] = []
    skins = []
    for mesh in meshes:
        skin, completed = complete_weights(mesh, armature)
        skins.append(skin)
        if completed:
            notes.append(f"{mesh.name}: {completed} vertices without weights now follow their nearest neighbour.")
    points = [world_vertices(mesh) for mesh in meshes]
    every = np.concatenate(points)
    bones = _armature_bones(armature, skins, points, float(np.ptp(every, axis=0).max()))
    tree, bone_map = _chosen_tree(armature, bones, edits or {}, edits_file)
    notes += _tree_notes(bones, tree)
    folded = [bones.names[b] for b in tree.folded]
    if folded:
        fold_groups(meshes, folded, bones.names[tree.order[0]])
    names = tuple(bones.names[b] for b in tree.order)
    rest, lengths = rest_matrices(armature, names)
    at = {b: i for i, b in enumerate(tree.order)}
    parents = np.array([at.get(tree.parent[b], -1) for b in tree.order], np.int64)
    own_skin = tuple(bones.skin[b] for b in tree.order)
    tips = far_ends(rest, lengths, parents, own_skin)
    keypoints = adopted_keypoints(names, parents, rest, lengths, tips, every)
    notes += _constraint_notes(armature, names)
    flat = np.array([flatness(skin) for skin in own_skin])
    return CaptureSkeleton(names, parents, rest, lengths, tips, flat, keypoints, tuple(notes), bone_map)


def _chosen_tree(
    armature: bpy.types.Object, bones: ArmatureBones, edits: Edits, file: Path | str
) -> tuple[CaptureTree, BoneMap]:
    """The capture skeleton without the bones that follow others, with the artist's changes."""
    driven: Followed = find_driven(bones, bone_sources(armature))
    free = bones.mass.copy()
    free[list(driven)] = 0.0
    tree = edited_tree(bones, find_capture_tree(replace(bones, mass=free)), edits, file)
    driven = {b: read for b, read in driven.items() if b not in tree.parent}
    return tree, bone_map_of(armature, bones, tree, driven, edits)


def _armature_bones(armature: bpy.types.Object, skins: list[Skin], points: list[Array], size: float) -> ArmatureBones:
    ordered = sorted(armature.data.bones, key=lambda b: len(b.parent_recursive))
    names = tuple(b.name for b in ordered)
    index = {name: i for i, name in enumerate(names)}
    mass = np.zeros(len(names))
    clouds: list[list[Array]] = [[] for _ in names]
    for skin, cloud in zip(skins, points, strict=True):
        for column, bone in enumerate(skin.bones):
            weights = skin.weights[:, column]
            mass[index[bone]] += weights.sum()
            clouds[index[bone]].append(cloud[weights >= min(FOLLOWS, 0.9 * max(float(weights.max()), 1e-9))])
    return ArmatureBones(
        names=names,
        parents=np.array([index[b.parent.name] if b.parent else -1 for b in ordered], np.int64),
        heads=to_world(armature, np.array([b.head_local for b in ordered], np.float64)),
        tails=to_world(armature, np.array([b.tail_local for b in ordered], np.float64)),
        mass=mass,
        skin=tuple(np.concatenate([np.zeros((0, 3)), *cloud]) for cloud in clouds),
        size=size,
    )


def rest_matrices(armature: bpy.types.Object, names: tuple[str, ...]) -> tuple[Array, Array]:
    """(B, 4, 4) orthonormal rest matrices and (B,) lengths in prep space, metres."""
    to_prep = np.array(armature.matrix_world, np.float64)
    scale = float(np.cbrt(np.linalg.det(to_prep[:3, :3])))
    local = np.array([armature.data.bones[name].matrix_local for name in names], np.float64)
    rest = to_prep @ local
    rest[:, :3, :3] = orthonormal(rest[:, :3, :3])
    return rest, scale * np.array([armature.data.bones[name].length for name in names])


def far_ends(rest: Array, lengths: Array, parents: NDArray[np.int64], skin: tuple[Array, ...]) -> Array:
    """(B, 3) where each bone ends: at its farthest child, or for a leaf at its own tail where the skin agrees with
    it, else at the end of the skin. glTF files store no tails, importers make them up.
    """
    tips = np.zeros((len(rest), 3))
    for b in range(len(rest)):
        head = rest[b, :3, 3]
        children = np.flatnonzero(parents == b)
        if len(children):
            heads = rest[children, :3, 3]
            tips[b] = heads[np.linalg.norm(heads - head, axis=1).argmax()]
        else:
            tips[b] = _leaf_end(head, rest[b, :3, 1], float(lengths[b]), skin[b])
    return tips


def _leaf_end(head: Array, direction: Array, length: float, skin: Array) -> Array:
    own_tail = head + direction * length
    if len(skin) < 3:
        return np.asarray(own_tail)
    way = skin.mean(0) - head
    distance = float(np.linalg.norm(way))
    if distance < 1e-9:
        return np.asarray(own_tail)
    way = way / distance
    along = (skin - head) @ way
    reach = float(along.max())
    angle = np.arccos(np.clip(float(way @ direction), -1.0, 1.0))
    if angle < TIP_ANGLE and TIP_RANGE[0] * reach <= length <= TIP_RANGE[1] * reach:
        return np.asarray(own_tail)
    return np.asarray(skin[along >= TIP_SLICE * reach].mean(0))


def flatness(skin: Array) -> float:
    """Smallest over middle spread of a cloud (n, 3): near 0 for a wing or fin, near 1 for a limb."""
    if len(skin) < 6:
        return 1.0
    spread = np.linalg.svd(skin - skin.mean(0), compute_uv=False)
    return float(spread[2] / max(float(spread[1]), 1e-12))


def adopted_keypoints(
    names: tuple[str, ...], parents: NDArray[np.int64], rest: Array, lengths: Array, tips: Array, mesh: Array
) -> tuple[Keypoint, ...]:
    """Heads of all bones and tips of the leaves, without doubles and without points away from the mesh (V, 3)."""
    size = float(np.ptp(mesh, axis=0).max())
    found: list[Keypoint] = []
    places: list[Array] = []

    def add(name: str, bone: int, end: int, place: Array) -> None:
        if any(np.linalg.norm(place - other) < COINCIDENT * size for other in places):
            return
        if np.linalg.norm(mesh - place, axis=1).min() > OFF_MESH * size:
            return
        places.append(place)
        offset = rest[bone, :3, :3].T @ (place - rest[bone, :3, 3])
        found.append(Keypoint(name, bone, end, np.zeros(3) if end == 0 else offset))

    for b, name in enumerate(names):
        add(name, b, 0, rest[b, :3, 3])
    for b, name in enumerate(names):
        if not (parents == b).any():
            tip_name = f"{name}_tip"
            add(tip_name if tip_name not in names else f"{name}_end_tip", b, 1, tips[b])
    return tuple(found)


def _tree_notes(bones: ArmatureBones, tree: CaptureTree) -> list[str]:
    notes = []
    for b in tree.moved:
        host = bones.names[tree.parent[b]]
        above = bones.names[bones.parents[b]] if bones.parents[b] >= 0 else "no bone"
        notes.append(f"{bones.names[b]} hangs on {above} in the armature; it is captured as the end of {host}.")
    if tree.folded:
        folded = ", ".join(bones.names[b] for b in tree.folded)
        notes.append(f"Stray weights of {folded} were added to {bones.names[tree.order[0]]}.")
    return notes


def _constraint_notes(armature: bpy.types.Object, names: tuple[str, ...]) -> list[str]:
    """Constraints of captured bones are muted in rigged.blend, where poses are set on the bones themselves."""
    constrained = [n for n in names if any(not c.mute for c in armature.pose.bones[n].constraints)]
    return [f"Constraints are muted on {', '.join(constrained)}."] if constrained else []


def free_bones(armature: bpy.types.Object, names: tuple[str, ...]) -> None:
    """Let the captured bones go where they are posed: constraints and drivers of them and of the bones that they hang
    on are muted, and IK that bends them. Called after limits were read from the Actions.
    """
    bones = armature.pose.bones
    carried = {b.name for name in names for b in (bones[name], *bones[name].parent_recursive)}
    for name in carried:
        for constraint in bones[name].constraints:
            constraint.mute = True
    for goal in ik_goals(armature):
        if carried & set(goal.chain):
            bones[goal.owner].constraints[goal.constraint].mute = True
    for curve in transform_drivers(armature):
        if bone_of(curve.data_path) in carried:
            curve.mute = True
