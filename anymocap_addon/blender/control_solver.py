"""Keys of the controls of a rig that bring its captured bones to where a motion has them.

The plan says what each control must do; here it becomes matrices and, bone by bone in the armature's hierarchy, values
to key. What hangs on bones that the plan does not know (mechanism bones with constraints of their own) is learnt from
the pose that Blender makes of the keys, and the keys are mended by it.
"""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.kinematics import Skeleton, matrix_to_quaternion
from ..core.motion import Motion
from ..core.rig import RigInfo
from .armature_space import orthonormal, prep_similarity
from .bone_sources import at_work
from .control_plan import ControlPlan, Demand
from .pose import LocalBasis, parent_transform

Array = NDArray[np.float64]

_STILL = 1e-5  # of the armature's size: locations below it are none
_POLE_REACH = 0.5  # of the chain's length: a pole is at least this far from it


class ControlSolver:
    """One motion on one armature.

    `basis()` gives the values to key; `learn()` takes what Blender made of them.
    """

    def __init__(self, rig: RigInfo, armature: bpy.types.Object, motion: Motion, plan: ControlPlan) -> None:
        self.armature, self.plan = armature, plan
        self.bones = armature.data.bones
        pose = Skeleton.of(rig).forward(motion.trans, motion.root_R, motion.euler)
        matrices = prep_similarity(rig, armature).poses_to_armature(np.asarray(pose.R), np.asarray(pose.p))
        self.frames = len(matrices)
        self.wanted: dict[str, Array] = {name: matrices[:, b] for b, name in enumerate(rig.bones)}
        self.rest = {bone.name: np.array(bone.matrix_local, np.float64) for bone in self.bones}
        self.size = float(np.ptp([bone.head_local for bone in self.bones], axis=0).max())
        self.seen: dict[str, Array] = {}
        self.last: dict[str, Array] = {}

    def basis(self) -> LocalBasis:
        """Values of all keyed bones, for `write_keys`."""
        placed: dict[str, Array] = {}
        names, locations, rotations, moving = [], [], [], []
        for bone in sorted(self.bones, key=lambda b: len(b.parent_recursive)):
            if bone.name not in self.plan.keyed:
                self._place_unkeyed(bone, placed)
                continue
            matrix = self._values(bone, placed)
            location = matrix[:, :3, 3]
            names.append(bone.name)
            locations.append(location)
            rotations.append(np.asarray(matrix_to_quaternion(matrix[:, :3, :3])))
            moving.append(bool(np.abs(location).max() > 0.0))
            self.last[bone.name] = matrix
        carriers = tuple(sorted(self.plan.influences - set(names)))
        return LocalBasis(tuple(names), np.stack(locations, 1), np.stack(rotations, 1), tuple(moving), carriers)

    def learn(self, seen: dict[str, Array]) -> None:
        """Args:
        seen: bone -> (T, 4, 4) pose matrices in armature space that Blender made of the last `basis`.
        """
        self.seen = seen

    def _place_unkeyed(self, bone: bpy.types.Bone, placed: dict[str, Array]) -> None:
        """A bone without keys: where it is wanted (constraints bring it there), else where it was seen relative to
        what it hangs on, else at rest on its parent.
        """
        demands = self.plan.demands.get(bone.name)
        if demands is not None and all(any(part) for part in zip(*((d.rotation, d.location) for d in demands))):
            placed[bone.name] = self._wanted(bone.name)
            return
        turn, place = parent_transform(bone, placed)
        matrix = np.broadcast_to(place, (self.frames, 4, 4)).copy()
        matrix[:, :3, :3] = turn
        placed[bone.name] = matrix
        if bone.name not in self.seen or not self._has_own_mind(bone):
            return
        above = next((p.name for p in bone.parent_recursive if p.name in placed and p.name in self.seen), None)
        moved = self.seen[bone.name]
        placed[bone.name] = moved if above is None else placed[above] @ np.linalg.inv(self.seen[above]) @ moved
        placed[bone.name][:, :3, :3] = orthonormal(placed[bone.name][:, :3, :3])

    def _has_own_mind(self, bone: bpy.types.Bone) -> bool:
        return any(at_work(c) for c in self.armature.pose.bones[bone.name].constraints)

    def _values(self, bone: bpy.types.Bone, placed: dict[str, Array]) -> Array:
        """(T, 4, 4) values of a keyed bone; its place in the pose goes to `placed`."""
        turn, place = parent_transform(bone, placed)
        rotates, moves = self.plan.keyed[bone.name]
        asked = self._wanted(bone.name)
        matrix = np.tile(np.eye(4), (self.frames, 1, 1))
        if rotates:
            matrix[:, :3, :3] = orthonormal(np.swapaxes(turn, -1, -2) @ asked[:, :3, :3])
        if moves and not (bone.use_connect and bone.parent is not None):
            gap = asked[:, :3, 3] - np.asarray(place)[..., :3, 3]
            location = np.linalg.solve(np.broadcast_to(place, (self.frames, 4, 4))[:, :3, :3], gap[..., None])[..., 0]
            if np.abs(location).max() > _STILL * self.size:
                matrix[:, :3, 3] = location
        if self._bent_by_own_constraint(bone):
            matrix = self._mended(bone.name, asked, rotates, moves)
        there = np.broadcast_to(place, (self.frames, 4, 4)).copy()
        there[:, :3, 3] += (there[:, :3, :3] @ matrix[:, :3, 3, None])[..., 0]
        there[:, :3, :3] = turn @ matrix[:, :3, :3]
        full = self.plan.demands[bone.name][0].how == "self" or (rotates and moves)
        placed[bone.name] = asked if full else there
        return matrix

    def _bent_by_own_constraint(self, bone: bpy.types.Bone) -> bool:
        """A control with a constraint that adds to its keys (Child Of and the like), seen at least once."""
        constraints = self.armature.pose.bones[bone.name].constraints
        added = any(at_work(c) and c.type == "CHILD_OF" for c in constraints)
        return added and bone.name in self.seen and bone.name not in self.plan.solved

    def _mended(self, name: str, asked: Array, rotates: bool, moves: bool) -> Array:
        """The last values, moved by what they missed."""
        change = np.linalg.inv(self.seen[name]) @ asked
        matrix = self.last[name] @ change
        matrix[:, :3, :3] = orthonormal(matrix[:, :3, :3]) if rotates else np.eye(3)
        if not moves:
            matrix[:, :3, 3] = 0.0
        return np.asarray(matrix)

    def _wanted(self, name: str) -> Array:
        """(T, 4, 4) where a bone is asked to be; only what is asked of it (rotation, location) means something."""
        if name not in self.wanted:
            matrix = np.tile(np.eye(4), (self.frames, 1, 1))
            for demand in self.plan.demands[name]:
                asked = self._asked(name, demand)
                if demand.rotation:
                    matrix[:, :3, :3] = asked[:, :3, :3]
                if demand.location:
                    matrix[:, :3, 3] = asked[:, :3, 3]
            self.wanted[name] = matrix
        return self.wanted[name]

    def _asked(self, name: str, demand: Demand) -> Array:
        source = self._wanted(demand.source)
        if demand.how == "copy":
            return source
        if demand.how in ("deform", "aim"):
            rigid = np.linalg.inv(self.rest[demand.source]) @ self.rest[name]
            rigid[:3, :3] = orthonormal(rigid[:3, :3])
            return np.asarray(source @ rigid)
        if demand.how == "ik":
            return self._ik_end(demand)
        return self._pole(name, demand)

    def _ik_end(self, demand: Demand) -> Array:
        """The end of the chain, turned as its last bone."""
        matrix = self._wanted(demand.source).copy()
        matrix[:, :3, 3] += matrix[:, :3, 1] * self.bones[demand.source].length
        return np.asarray(matrix)

    def _pole(self, name: str, demand: Demand) -> Array:
        """The pole in the plane in which Blender's solver would bend the chain, as far off as at rest.

        The solver turns the chain about the line from its start to its goal until the first bone's X axis, turned by
        the pole angle about that bone, lies on the pole's side.
        """
        assert demand.goal is not None
        first, tip = demand.goal.chain[-1], demand.goal.chain[0]
        constraint = self.armature.pose.bones[demand.goal.owner].constraints[demand.goal.constraint]
        angle = float(constraint.pole_angle)

        def frame(start: Array, end: Array) -> tuple[Array, Array, Array]:
            base = start[..., :3, 3]
            goal = end[..., :3, 3] + end[..., :3, 1] * self.bones[tip].length
            way = (goal - base) / np.linalg.norm(goal - base, axis=-1, keepdims=True)
            up = start[..., :3, 0] * np.cos(angle) + start[..., :3, 2] * np.sin(angle)
            up = up - way * np.sum(up * way, axis=-1, keepdims=True)
            return base, way, up / np.linalg.norm(up, axis=-1, keepdims=True)

        base, way, _ = frame(self.rest[first], self.rest[tip])
        step = self.rest[name][:3, 3] - base
        along = float(step @ way)
        length = sum(self.bones[bone].length for bone in demand.goal.chain)
        aside = max(float(np.linalg.norm(step - along * way)), _POLE_REACH * length)
        base, way, up = frame(self._wanted(first), self._wanted(tip))
        matrix = np.tile(np.eye(4), (self.frames, 1, 1))
        matrix[:, :3, 3] = base + along * way + aside * up
        return matrix
