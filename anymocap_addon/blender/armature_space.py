"""Between the artist's armature space and prep space, and what is read from a posed armature."""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInputError
from ..core.rig import RigInfo

Array = NDArray[np.float64]

REST_TOLERANCE = 2e-3  # of the body length: more than this and the armature isn't the one that the rig was made from


@dataclass(frozen=True)
class Similarity:
    """x_prep = scale * rotation @ x_armature + offset."""

    scale: float
    rotation: Array
    offset: Array

    def points_to_prep(self, points: Array) -> Array:
        """(..., 3) armature space -> (..., 3) prep space in metres."""
        return np.asarray(self.scale * points @ self.rotation.T + self.offset)

    def poses_to_armature(self, rotations: Array, points: Array) -> Array:
        """Prep-space orientations (..., 3, 3) and heads (..., 3) -> pose matrices (..., 4, 4), armature space."""
        out = np.zeros((*rotations.shape[:-2], 4, 4))
        out[..., :3, :3] = self.rotation.T @ rotations
        out[..., :3, 3] = (points - self.offset) @ self.rotation / self.scale
        out[..., 3, 3] = 1.0
        return out


def prep_similarity(rig: RigInfo, armature: bpy.types.Object) -> Similarity:
    """The similarity from the armature's object space to prep space, from the two rest poses.

    Found from the rest poses themselves rather than taken from rig.to_prep, so that it holds for the artist's armature
    and for the copy in rigged.blend alike, whatever was done to their object transforms since; the residual tells a
    foreign armature. Rotation: mean of rest_prep @ rest_armature^T, projected on SO(3); scale and offset: least squares
    over the heads.

    Raises:
        BadInputError: a bone is missing, or the armature's rest pose is not the rig's.
    """
    bones = [capture_bone(armature, name) for name in rig.bones]
    local = np.array([b.matrix_local for b in bones], dtype=np.float64)
    rotation = _nearest_rotation(np.einsum("bij,bkj->ik", rig.rest[:, :3, :3], orthonormal(local[:, :3, :3])))
    heads = np.array([b.head_local for b in bones], dtype=np.float64)
    target = rig.rest[:, :3, 3]
    if np.ptp(heads, axis=0).max() < 1e-6 * max(b.length for b in bones):  # one bone: its length gives the scale
        heads = np.concatenate([heads, [bones[0].tail_local]])
        target = np.concatenate([target, target[:1] + rig.rest[:1, :3, 1] * rig.lengths[0]])
    source = (heads - heads.mean(0)) @ rotation.T
    scale = float(np.sum(source * (target - target.mean(0))) / np.sum(source * source))
    result = Similarity(scale, rotation, target.mean(0) - scale * rotation @ heads.mean(0))
    miss = np.linalg.norm(result.points_to_prep(heads) - target, axis=1)
    if scale <= 0 or miss.max() > REST_TOLERANCE * rig.body_length:
        worst = rig.bones[int(miss.argmax()) % rig.B]
        raise BadInputError(
            f"The rest pose of armature '{armature.name}' is not the one of creature '{rig.creature}': "
            f"bone '{worst}' is {miss.max() * 1000:.1f} mm off.",
            hint="Run the rig stage again on this armature, or choose the armature that it was run on.",
        )
    return result


def read_pose(armature: bpy.types.Object, rig: RigInfo, similarity: Similarity) -> tuple[Array, Array]:
    """Prep-space orientations (B, 3, 3), orthonormalised, and heads (B, 3) of the capture bones as they are posed now.

    `armature` may be the evaluated object; the caller updates the view layer.
    """
    matrices = np.array([armature.pose.bones[name].matrix for name in rig.bones], dtype=np.float64)
    return similarity.rotation @ orthonormal(matrices[:, :3, :3]), similarity.points_to_prep(matrices[:, :3, 3])


def read_joints(armature: bpy.types.Object, rig: RigInfo, similarity: Similarity) -> Array:
    """Prep-space keypoints (J, 3) in metres as the armature is posed now, from Blender's own pose matrices."""
    poses = [armature.pose.bones[rig.bones[b]].matrix for b in rig.keypoint_bone]
    matrices = np.array(poses, dtype=np.float64)
    offset = rig.keypoint_offset / similarity.scale
    return similarity.points_to_prep(np.einsum("jab,jb->ja", matrices[:, :3, :3], offset) + matrices[:, :3, 3])


def capture_bone(armature: bpy.types.Object, name: str) -> bpy.types.Bone:
    bone = armature.data.bones.get(name) if armature.type == "ARMATURE" else None
    if bone is None:
        raise BadInputError(
            f"Armature '{armature.name}' has no bone '{name}'.",
            key=name,
            hint="Run the rig stage again: the armature's bones were renamed or removed.",
        )
    return bone


def orthonormal(matrices: Array) -> Array:
    """Gram-Schmidt of (..., 3, 3) that keeps the direction of the Y axis: a bone points along Y, so its aim
    survives shear.
    """
    y = matrices[..., :, 1] / np.linalg.norm(matrices[..., :, 1], axis=-1, keepdims=True)
    x = matrices[..., :, 0]
    x = x - y * np.sum(x * y, axis=-1, keepdims=True)
    x = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return np.stack([x, y, np.cross(x, y)], axis=-1)


def _nearest_rotation(matrix: Array) -> Array:
    u, _, vt = np.linalg.svd(matrix)
    return np.asarray(u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt)
