"""A RigInfo straight from an armature, so that posing is tested apart from the rig stage."""

from __future__ import annotations

import bpy
import numpy as np

from anymocap_addon.blender.armature_space import orthonormal
from anymocap_addon.core.rig import RigInfo


def rig_of(
    armature: bpy.types.Object,
    root: str,
    to_prep: np.ndarray | None = None,
    reparent: dict[str, str] | None = None,
) -> RigInfo:
    """All bones below `root` (and those named by `reparent`), topological, keypoints at all heads and leaf tails."""
    reparent = reparent or {}
    to_prep = np.array(armature.matrix_world, float) if to_prep is None else to_prep
    parent_of = {b.name: reparent.get(b.name, b.parent.name if b.parent else None) for b in armature.data.bones}
    order = [root]
    for name in order:
        order.extend(n for n, p in parent_of.items() if p == name)
    bones = [armature.data.bones[n] for n in order]
    scale = np.cbrt(np.linalg.det(to_prep[:3, :3]))
    rest = np.tile(np.eye(4), (len(order), 1, 1))
    local = np.array([b.matrix_local for b in bones], float)
    rest[:, :3, :3] = to_prep[:3, :3] / scale @ orthonormal(local[:, :3, :3])
    rest[:, :3, 3] = local[:, :3, 3] @ to_prep[:3, :3].T + to_prep[:3, 3]
    parents = np.array([-1] + [order.index(parent_of[n]) for n in order[1:]])
    lengths = np.array([np.linalg.norm(b.tail_local - b.head_local) for b in bones]) * scale
    leaves = [i for i in range(len(order)) if i not in parents]
    heads = rest[:, :3, 3]
    return RigInfo(
        creature="test",
        armature=armature.name,
        to_prep=to_prep,
        bones=tuple(order),
        parents=parents,
        armature_parents=tuple(b.parent.name if b.parent else None for b in bones),
        rest=rest,
        lengths=lengths,
        limits_rad=np.tile([-np.pi / 2, np.pi / 2], (len(order), 3, 1)),
        keypoints=(*order, *(f"{order[i]}_tail" for i in leaves)),
        keypoint_bone=np.array([*range(len(order)), *leaves]),
        keypoint_end=np.array([0] * len(order) + [1] * len(leaves)),
        contacts=(),
        pairs=np.zeros((0, 2), int),
        joint_groups={},
        bone_groups={},
        body_length=float(np.ptp(heads[:, 1])) or 1.0,
    )


def random_motion(rig: RigInfo, frames: int, seed: int = 0, swing: float = 0.6) -> tuple:
    """Smooth random capture poses: trans (T, 3), root_R (T, 3, 3), euler (T, B, 3)."""
    from anymocap_addon.core.kinematics import rotvec_to_matrix

    rng = np.random.default_rng(seed)
    t = np.arange(frames)[:, None, None] * 2 * np.pi / max(frames, 12)

    def wave(rows: int, size: float) -> np.ndarray:
        a, b, c = rng.normal(0, size, (3, rows, 3))
        return a * np.sin(t) + b * np.cos(2 * t) + 0.3 * c

    euler = np.clip(wave(rig.B, swing), -1.4, 1.4)
    euler[:, 0] = 0
    trans = rig.rest[0, :3, 3] + wave(1, 0.1)[:, 0]
    root_R = rotvec_to_matrix(wave(1, 0.7)[:, 0]) @ rig.rest[0, :3, :3]
    return trans, root_R, euler


def chain_armature(bones: int, length: float = 0.2) -> bpy.types.Object:
    """A chain of bones b0, b1, … that zigzags along -Y, active in the scene."""
    data = bpy.data.armatures.new("chain")
    armature = bpy.data.objects.new("chain", data)
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    head = np.array([0.0, 0.0, 1.0])
    parent = None
    for i in range(bones):
        bone = data.edit_bones.new(f"b{i}")
        bone.head = head
        head = head + length * np.array([0.3 * (-1) ** i, -1.0, 0.2 * (i % 3 - 1)])
        bone.tail = head
        bone.parent = parent
        bone.roll = 0.3 * i
        parent = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return armature


def select_bones(armature: bpy.types.Object, *names: str) -> None:
    """Select these bones alone; since Blender 5.0 the pose keeps the selection."""
    for bone in armature.pose.bones:
        holder = bone if "select" in bone.bl_rna.properties else bone.bone
        holder.select = bone.name in names
