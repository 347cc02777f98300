"""The bone map of an adopted armature: what became of each bone, and why."""

from __future__ import annotations

import bpy

from ..core.bone_map import BoneMap, BoneRole, BoneState, Edits, MappedBone
from ..core.capture_tree import ArmatureBones, CaptureTree
from ..core.driven_bones import Followed
from .bone_sources import IkGoal, ik_goals


def bone_map_of(
    armature: bpy.types.Object, bones: ArmatureBones, tree: CaptureTree, driven: Followed, edits: Edits
) -> BoneMap:
    """Args:
    bones: with the skin of all bones, driven ones included.
    """
    made = _Mapping(armature, bones, tree, driven, edits)
    return BoneMap(armature.name, tuple(made.entry(b) for b in range(len(bones.names))), dict(edits))


class _Mapping:
    def __init__(
        self, armature: bpy.types.Object, bones: ArmatureBones, tree: CaptureTree, driven: Followed, edits: Edits
    ) -> None:
        self.bones, self.tree, self.driven, self.edits = bones, tree, driven, edits
        self.captured = set(tree.order)
        goals = ik_goals(armature, only_at_work=False)
        self.targets = {goal.target: goal for goal in goals if goal.target}
        self.poles = {goal.pole: goal for goal in goals if goal.pole}

    def entry(self, bone: int) -> MappedBone:
        name = self.bones.names[bone]
        role, follows, why = self._part(bone)
        if bone in self.captured:
            parent = self.tree.parent[bone]
            above = self.bones.names[parent] if parent >= 0 else None
            return MappedBone(name, "captured", above, follows, role, self._edited(name) or self._why_captured(bone))
        state: BoneState = "left_out"
        edit = self.edits.get(name)
        if bone in self.driven or (edit is not None and edit.state == "driven"):
            state, role = "driven", role or "helper"
            follows = tuple(self.bones.names[b] for b in self.driven.get(bone, (self._carrier(bone),)) if b >= 0)
            why = f"Follows {' and '.join(follows)}." if follows else "Follows the armature."
        return MappedBone(name, state, None, follows, role, self._edited(name) or why or self._why_left_out(bone))

    def _part(self, bone: int) -> tuple[BoneRole, tuple[str, ...], str]:
        """Role, what it follows, and that in words, of an IK target or pole."""
        name = self.bones.names[bone]
        if name in self.targets:
            end = self._end(self.targets[name])
            return "ik_target", end, f"IK target of {' and '.join(end) or self.targets[name].owner}."
        if name in self.poles:
            end = self._end(self.poles[name])
            return "ik_pole", end, f"IK pole of {' and '.join(end) or self.poles[name].owner}."
        return "", (), ""

    def _end(self, goal: IkGoal) -> tuple[str, ...]:
        """The captured bone nearest to the end of an IK chain."""
        known = (name for name in goal.chain if self.bones.names.index(name) in self.captured)
        return tuple(name for name in [next(known, None)] if name)

    def _carrier(self, bone: int) -> int:
        walker = int(self.bones.parents[bone])
        while walker >= 0 and walker not in self.captured:
            walker = int(self.bones.parents[walker])
        return walker

    def _edited(self, name: str) -> str:
        return "As you chose." if name in self.edits else ""

    def _why_captured(self, bone: int) -> str:
        if self.tree.parent[bone] < 0:
            return "The root of the capture skeleton."
        if bone not in self.tree.moved:
            return ""
        above = int(self.bones.parents[bone])
        hangs = self.bones.names[above] if above >= 0 else "no bone"
        return f"Hangs on {hangs} in the armature; captured as the end of {self.bones.names[self.tree.parent[bone]]}."

    def _why_left_out(self, bone: int) -> str:
        if bone in self.tree.folded:
            return f"Has stray weights only; they were added to {self.bones.names[self.tree.order[0]]}."
        return "Moves no skin."
