"""The rigged creature as something to put into one pose after the other."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.creature import Creature
from ..core.kinematics import Skeleton
from ..core.rig import RigInfo
from ..core.stage_context import StageContext
from .action_slots import assign_action
from .armature_space import prep_similarity, read_joints
from .paint import EDGE, detailed_copies
from .pose import local_basis, set_basis
from .scene import RiggedScene, open_rigged

Array = NDArray[np.float64]


class PosedCreature:
    """Capture poses on the armature of an open rigged.blend, and the joints that Blender then has.

    Nothing but its bones' own channels moves the armature here: Actions, NLA and constraints are switched off in this
    process's copy of the file, which is never saved.
    """

    def __init__(self, scene: RiggedScene) -> None:
        self.armature, self.meshes, self.rig = scene.armature, scene.meshes, scene.rig
        self.skeleton = Skeleton.of(scene.rig)
        data = self.armature.animation_data
        if data is not None:
            data.use_nla = False
            assign_action(self.armature, None)
        for bone in self.armature.pose.bones:
            for constraint in bone.constraints:
                constraint.enabled = False
        self.armature.data.pose_position = "POSE"
        self._similarity = prep_similarity(self.rig, self.armature)

    def play(self, trans: Array, root_R: Array, euler: Array) -> Iterator[int]:
        """Put the creature into each of T poses ((T, 3), (T, 3, 3), (T, B, 3)) and yield its number."""
        basis = local_basis(self.rig, self.armature, trans, root_R, euler, self.skeleton)
        for frame in range(len(trans)):
            set_basis(self.armature, basis, frame)
            bpy.context.view_layer.update()
            yield frame

    def joints(self) -> Array:
        """(J, 3) keypoints in metres as Blender has them now."""
        return read_joints(self.armature, self.rig, self._similarity)

    def rest(self, euler: Array | None = None) -> None:
        """The rest pose, or with (B, 3) radians that pose on the resting root."""
        place = self.rig.rest[:1]
        angles = np.zeros((1, self.rig.B, 3)) if euler is None else euler[None]
        for _ in self.play(place[:, :3, 3], place[:, :3, :3], angles):
            pass


def start_euler(creature: Creature, rig: RigInfo) -> Array:
    """(B, 3) radians of creature.json's start_pose; zeros where it names nothing."""
    euler = np.zeros((rig.B, 3))
    for bone, angles_deg in creature.start_pose.items():
        euler[rig.index(bone)] = np.radians(angles_deg)
    return euler


def open_for_drawing(ctx: StageContext, rows: int = 720) -> RiggedScene:
    """rigged.blend with meshes cut finely enough for texture and paint as corner colours in pictures `rows` high.

    Raises:
        BadInputError: as scene.open_rigged.
    """
    return detailed_copies(open_rigged(ctx.paths), ctx.load_creature().paint, EDGE * max(1.0, 720 / rows))
