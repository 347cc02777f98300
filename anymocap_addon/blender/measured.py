"""Where Blender puts the joints of a keyed armature, against where the motion has them."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np
from mathutils import Matrix, Quaternion, Vector
from numpy.typing import NDArray

from ..core.errors import AnyMoCapError
from ..core.motion import Motion
from ..core.rig import RigInfo
from .armature_space import Similarity, read_joints
from .isolated import isolated_scene
from .pose import LocalBasis

Array = NDArray[np.float64]


def played(armature: bpy.types.Object, frames: Array) -> Iterator[tuple[int, bpy.types.Object]]:
    """(t, the evaluated armature) at each of the scene frames (T,), without moving the artist's current frame."""
    with isolated_scene([armature]) as scene:
        layer = scene.view_layers[0]
        for t, frame in enumerate(frames):
            whole = int(np.floor(frame))
            scene.frame_set(whole, subframe=float(min(frame - whole, 0.99999)))
            yield t, armature.evaluated_get(layer.depsgraph)


def measured_joints(armature: bpy.types.Object, rig: RigInfo, similarity: Similarity, frames: Array) -> Array:
    """(T, J, 3) keypoints in prep-space metres at scene frames (T,), from Blender's evaluated pose."""
    return measured_poses(armature, rig, similarity, frames, [])[0]


def measured_poses(
    armature: bpy.types.Object, rig: RigInfo, similarity: Similarity, frames: Array, names: list[str]
) -> tuple[Array, dict[str, Array]]:
    """The same, and the pose matrices (T, 4, 4) in armature space of the bones `names`."""
    joints = np.empty((len(frames), rig.J, 3))
    matrices = np.empty((len(names), len(frames), 4, 4))
    for t, posed in played(armature, frames):
        joints[t] = read_joints(posed, rig, similarity)
        for n, name in enumerate(names):
            matrices[n, t] = posed.pose.bones[name].matrix
    return joints, dict(zip(names, matrices, strict=True))


def bone_error_mm(
    armature: bpy.types.Object, basis: LocalBasis, similarity: Similarity, frames: Array, bones: frozenset[str]
) -> float:
    """How far the ends of `bones` are from where their own keys put them, each bone by itself: the largest, mm.

    For a motion on some bones only: what the others do and what constraints add is the artist's.
    """
    chosen = [(n, name) for n, name in enumerate(basis.bones) if name in bones]
    worst = 0.0
    for t, posed in played(armature, frames):
        for n, name in chosen:
            bone = posed.pose.bones[name]
            place, turn = Vector(basis.location[t, n]), Quaternion(basis.rotation[t, n])
            end = Vector((0.0, bone.bone.length, 0.0))
            gap = (bone.matrix_basis @ end) - (Matrix.LocRotScale(place, turn, None) @ end)
            worst = max(worst, gap.length)
    return worst * similarity.scale * 1000


def disturbed(
    armature: bpy.types.Object, rig: RigInfo, joints: Array, motion: Motion, onto: str, doubts: tuple[str, ...] = ()
) -> AnyMoCapError:
    """Why the joints (T, J, 3) of a keyed armature aren't the motion's, as well as it can be told.

    Args:
        onto: the way it was keyed; doubts: what that way cannot reach, where it is known.
    """
    off_mm = np.linalg.norm(joints - motion.joints, axis=-1).max(0) * 1000
    worst = int(off_mm.argmax())
    bones = [armature.pose.bones[name] for name in rig.bones]
    active = [(bone.name, c.type.replace("_", " ").title()) for bone in bones for c in bone.constraints if not c.mute]
    cause, hint = _cause(armature, [f"{bone} ({kind})" for bone, kind in active], onto)
    if doubts:
        cause = f"{cause} {' '.join(doubts[:3])}"
    return AnyMoCapError(
        f"Armature {armature.name!r} does not follow its keys: joint {rig.keypoints[worst]!r} is "
        f"{off_mm[worst]:.1f} mm off. {cause}",
        hint=hint,
    )


def bones_disturbed(armature: bpy.types.Object, error_mm: float) -> AnyMoCapError:
    """Why bones that were keyed by themselves don't follow."""
    cause, hint = _cause(armature, [], "deform")
    return AnyMoCapError(
        f"Armature {armature.name!r} does not follow its keys: a bone is {error_mm:.1f} mm off. {cause}", hint=hint
    )


def _cause(armature: bpy.types.Object, constrained: list[str], onto: str) -> tuple[str, str]:
    drivers = [d.data_path for d in armature.animation_data.drivers if not d.mute]
    if constrained and onto == "bake":
        return f"Its bones have constraints: {', '.join(constrained[:6])}.", "Mute them, then apply again."
    if constrained:
        what = "Its controls do not reach that pose" if onto == "controls" else "Constraints move its bones"
        return f"{what}: {', '.join(constrained[:6])}.", "Set Onto to Bake, or mute them, then apply again."
    if drivers:
        return f"Drivers move its bones: {', '.join(drivers[:4])}.", "Mute them, then apply again."
    return "Something besides the keys moves its bones.", "Check NLA tracks, parents of bones and their scale."
