"""Poses of the capture skeleton on a live armature, and Actions sampled back into capture poses.

The capture skeleton (core.rig.RigInfo) lives in prep space: metres, facing -Y, orthonormal rest matrices, its
own hierarchy. The armature keeps its own units, orientation and hierarchy: feet that hang on the armature's
root as IK targets, a control bone above the capture root. World poses are the common ground: they are
computed once by core.kinematics and turned into the matrix_basis of each bone in the hierarchy that the
armature really has."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ..core.errors import BadInputError
from ..core.kinematics import Skeleton, continuous_euler, matrix_to_euler, matrix_to_quaternion
from ..core.rig import RigInfo
from .action_playback import find_action, playing, scene_fps
from .armature_space import Similarity, capture_bone, orthonormal, prep_similarity, read_pose

Array = NDArray[np.float64]

LOOP_TOLERANCE = 0.02  # of the body length: an Action whose last pose is this near its first is a cycle


@dataclass(frozen=True)
class LocalBasis:
    """matrix_basis of N bones over T frames, scale 1, in the armature's own hierarchy and units.

    Bones that are not `moving` have a location of exactly zero and need no location keys.
    """

    bones: tuple[str, ...]
    location: Array  # (T, N, 3)
    rotation: Array  # (T, N, 4) wxyz, unit
    moving: tuple[bool, ...]
    carriers: tuple[str, ...]  # uncaptured ancestors of the bones: the values hold with these at rest


def local_basis(
    rig: RigInfo,
    armature: bpy.types.Object,
    trans: Array,
    root_R: Array,
    euler: Array,
    skeleton: Skeleton | None = None,
) -> LocalBasis:
    """Capture poses -> matrix_basis of the capture bones in the armature's own hierarchy.

    Args:
        trans: (T, 3) prep-space head of the root bone, metres.
        root_R: (T, 3, 3) prep-space orientation of the root bone.
        euler: (T, B, 3) basis Euler XYZ, radians; the root's row is ignored.
        skeleton: Skeleton.of(rig), when the caller has it at hand.

    Raises:
        BadInputError: see prep_similarity and _moves.
    """
    pose = (skeleton or Skeleton.of(rig)).forward(trans, root_R, euler)
    wanted = prep_similarity(rig, armature).poses_to_armature(np.asarray(pose.R), np.asarray(pose.p))
    chain = _chain(rig, armature)
    index = {name: i for i, name in enumerate(rig.bones)}
    matrices: dict[str, Array] = {}
    names, locations, rotations, moving = [], [], [], []
    for bone in chain:
        rotscale, place = parent_transform(bone, matrices)
        if bone.name not in index:  # an uncaptured ancestor: at rest relative to its parent
            matrices[bone.name] = np.broadcast_to(place, (len(trans), 4, 4)).copy()
            matrices[bone.name][:, :3, :3] = rotscale
            continue
        b = index[bone.name]
        desired = matrices[bone.name] = wanted[:, b]
        moves = _moves(rig, bone, b)
        basis_R = orthonormal(np.swapaxes(rotscale, -1, -2) @ desired[:, :3, :3])
        location = np.zeros((len(trans), 3))
        if moves:
            location = np.linalg.solve(place[..., :3, :3], (desired[:, :3, 3] - place[..., :3, 3])[..., None])[..., 0]
        names.append(bone.name)
        locations.append(location)
        rotations.append(np.asarray(matrix_to_quaternion(basis_R)))
        moving.append(moves)
    return LocalBasis(
        tuple(names),
        np.stack(locations, 1),
        np.stack(rotations, 1),
        tuple(moving),
        tuple(b.name for b in chain if b.name not in index),
    )


def set_basis(armature: bpy.types.Object, basis: LocalBasis, frame: int) -> None:
    """Put frame `frame` of `basis` on the armature's pose bones, in the rotation mode that each has. No view
    layer update.
    """
    bones = armature.pose.bones
    for name in basis.carriers:
        bones[name].matrix_basis = Matrix()
    for n, name in enumerate(basis.bones):
        location, rotation = Vector(basis.location[frame, n]), Quaternion(basis.rotation[frame, n])
        bones[name].matrix_basis = Matrix.LocRotScale(location, rotation, None)


def set_pose(armature: bpy.types.Object, rig: RigInfo, trans_t: Array, root_R_t: Array, euler_t: Array) -> None:
    """One capture pose ((3,), (3, 3), (B, 3)) on the armature. For many poses: local_basis once, then
    set_basis for each.
    """
    set_basis(armature, local_basis(rig, armature, trans_t[None], root_R_t[None], euler_t[None]), 0)


def _chain(rig: RigInfo, armature: bpy.types.Object) -> list[bpy.types.Bone]:
    """The capture bones and all their ancestors, parents first."""
    needed: dict[str, bpy.types.Bone] = {}
    for name in rig.bones:
        bone = capture_bone(armature, name)
        for link in [*reversed(bone.parent_recursive), bone]:
            needed.setdefault(link.name, link)
    return sorted(needed.values(), key=lambda b: len(b.parent_recursive))


def _moves(rig: RigInfo, bone: bpy.types.Bone, b: int) -> bool:
    """True for the root and for bones whose nearest captured ancestor in the armature isn't their capture parent.

    Raises:
        BadInputError: it is, but connected to its parent, so that Blender ignores its location.
    """
    captured = set(rig.bones)
    above = next((p.name for p in bone.parent_recursive if p.name in captured), None)
    moves = rig.parents[b] < 0 or above != rig.bones[rig.parents[b]]
    if moves and bone.use_connect and bone.parent is not None:
        raise BadInputError(
            f"Bone {bone.name!r} has to move but is connected to its parent {bone.parent.name!r}.",
            hint="In Edit Mode clear Relations > Connected of this bone.",
        )
    return bool(moves)


def parent_transform(bone: bpy.types.Bone, matrices: dict[str, Array]) -> tuple[Array, Array]:
    """Orientation (…, 3, 3) that the basis rotation is applied in and frame (…, 4, 4) that its location is applied in.

    Follows BKE_bone_parent_transform_calc_from_matrices of Blender's armature.cc for parents without scale (ours have
    none), where all inherit_scale modes agree.
    """
    rest = np.array(bone.matrix_local, dtype=np.float64)
    if bone.parent is None:
        return orthonormal(rest[:3, :3]), rest
    parent_rest = np.array(bone.parent.matrix_local, dtype=np.float64)
    parent = matrices[bone.parent.name]
    offset = np.linalg.inv(parent_rest) @ rest
    place = parent @ offset
    inherits = orthonormal((parent if bone.use_inherit_rotation else parent_rest)[..., :3, :3] @ offset[:3, :3])
    if not bone.use_local_location:
        place = place.copy()
        place[..., :3, :3] = parent[..., :3, :3]
    return inherits, place


def sample_action(
    armature: bpy.types.Object, rig: RigInfo, action_name: str, frames: int, fps: float
) -> tuple[Array, Array, Array]:
    """An Action of the armature as a capture motion: rotations below the root, on the spot, looped when too short.

    Frame k is the Action's pose at k / fps seconds (the scene's frame rate says how long the Action is), subframes
    included. When its last pose is its first the Action wraps around, and the ground that the root covers in a cycle
    is taken out evenly; otherwise it runs forth and back, so that no frame jumps. Bone scales and the locations of
    bones below the root are dropped; a bone keeps its aim. The armature, its Action, modes, pose and the scene's frame
    are as before afterwards.

    Returns:
        trans (T, 3) m, root_R (T, 3, 3), euler (T, B, 3) rad, continuous over time; root row zero.

    Raises:
        BadInputError: there is no such Action, or it has no keys for this armature's bones.
    """
    scene = bpy.context.scene
    action = find_action(action_name, armature)
    similarity = prep_similarity(rig, armature)
    first, last = (float(f) for f in action.frame_range)
    steps = np.arange(frames) * (scene_fps(scene) / fps)
    with playing(armature, action):
        ends = [_pose_at(scene, armature, rig, similarity, f) for f in (first, last)]
        drift = _cycle_drift(rig, ends)
        period = last - first
        if drift is None:  # forth and back
            times = first + (period - np.abs(period - steps % (2 * period)) if period else 0 * steps)
        else:
            times = first + (steps % period if period else 0 * steps)
        posed = [_pose_at(scene, armature, rig, similarity, float(f)) for f in times]
    world, heads = (np.stack(part) for part in zip(*posed, strict=True))
    trans = heads[:, 0].copy()
    if drift is not None and period:
        trans -= drift * ((times - first) / period)[:, None]
    return trans, world[:, 0], capture_euler(rig.rest[:, :3, :3], rig.parents, world)


def _pose_at(
    scene: bpy.types.Scene, armature: bpy.types.Object, rig: RigInfo, similarity: Similarity, frame: float
) -> tuple[Array, Array]:
    whole = int(np.floor(frame))
    scene.frame_set(whole, subframe=min(frame - whole, 0.99999))
    return read_pose(armature, rig, similarity)


def _cycle_drift(rig: RigInfo, ends: list[tuple[Array, Array]]) -> Array | None:
    """Ground (3,) that the root covers from the first to the last pose when these are the same pose, else None."""
    (_, first), (_, last) = ends
    gap = (last - last[0]) - (first - first[0])
    if np.linalg.norm(gap, axis=1).max() > LOOP_TOLERANCE * rig.body_length:
        return None
    return np.asarray((last[0] - first[0]) * [1.0, 1.0, 0.0])


def capture_euler(rest: Array, parents: NDArray[np.int64], world: Array) -> Array:
    """Orientations (T, B, 3, 3) -> continuous basis Euler (T, B, 3) with the root's row zero.

    Args:
        rest: (B, 3, 3) orthonormal rest orientations in the space of `world`; parents: (B,), -1 for the root.
    """
    euler = np.zeros((*world.shape[:2], 3))
    for b, p in enumerate(parents):
        if p >= 0:
            basis = rest[b].T @ rest[p] @ np.swapaxes(world[:, p], -1, -2) @ world[:, b]
            euler[:, b] = matrix_to_euler(basis)
    return np.asarray(continuous_euler(euler))
