"""How the captured bones of an artist's rig are reached through its controls.

Each constraint that moves a captured bone is read backwards: what it would have to read so that the bone ends where
the motion has it. That is asked of the bone it reads, and so on, until bones are reached that nothing but keys moves:
the controls. The plan holds for any motion; `control_solver` fills it with one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import bpy
import numpy as np

from .bone_sources import IkGoal, at_work, constraint_targets, ik_goals, transform_drivers
from .own_actions import bone_of

FULL = 1.0 - 1e-3  # influence from which a constraint decides alone
_HARMLESS = {"LIMIT_ROTATION", "LIMIT_LOCATION", "LIMIT_SCALE", "LIMIT_DISTANCE", "COPY_SCALE", "MAINTAIN_VOLUME"}
_AIMING = {"DAMPED_TRACK", "TRACK_TO", "LOCKED_TRACK", "STRETCH_TO"}
_SAME_SPACE = {("WORLD", "WORLD"), ("POSE", "POSE")}


@dataclass(frozen=True)
class Demand:
    """What a bone must do so that `source` goes where it is wanted.

    Attributes:
        how: "self" (a captured bone), "copy" (same matrix), "deform" (an Armature constraint: same change from rest),
            "aim" (its head stays where it lies in the frame of `source` at rest), "ik" (its head is the end of
            `source`), "pole".
        rotation, location: what of its matrix is asked for.
    """

    source: str
    how: str
    rotation: bool
    location: bool
    goal: IkGoal | None = None


@dataclass
class ControlPlan:
    """Attributes:
    demands: bone -> what is asked of it, the captured bones included; sources before the bones that they ask.
    keyed: bones that get keys, with (rotation, location).
    influences: bones that move captured bones and have to be at rest where they get no keys.
    solved: bones that IK bends: what they are seen to do is not their keys alone.
    reasons: what cannot be reached, a sentence each.
    """

    demands: dict[str, list[Demand]] = field(default_factory=dict)
    keyed: dict[str, tuple[bool, bool]] = field(default_factory=dict)
    influences: set[str] = field(default_factory=set)
    solved: set[str] = field(default_factory=set)
    reasons: list[str] = field(default_factory=list)


def disturbers(armature: bpy.types.Object, bones: Iterable[str]) -> list[str]:
    """Constraints and drivers at work that move `bones` or what these hang on: "bone (Kind)", each once."""
    pose = armature.pose.bones
    carried = {b.name for name in bones for b in (pose[name], *pose[name].parent_recursive)}
    found = [
        f"{name} ({c.type.replace('_', ' ').title()})"
        for name in sorted(carried)
        for c in pose[name].constraints
        if at_work(c) and c.type not in _HARMLESS
    ]
    found += [f"{g.owner} (Ik)" for g in ik_goals(armature) if g.owner not in carried and carried & set(g.chain)]
    found += [
        f"{bone_of(d.data_path)} (driver)" for d in transform_drivers(armature) if bone_of(d.data_path) in carried
    ]
    return list(dict.fromkeys(found))


def plan_controls(armature: bpy.types.Object, captured: tuple[str, ...]) -> ControlPlan:
    """The controls of `armature` that put its captured bones where they are wanted."""
    planner = _Planner(armature)
    for name in captured:
        planner.ask(name, Demand(name, "self", True, True))
    planner.work()
    planner.find_influences(captured)
    return planner.plan


class _Planner:
    def __init__(self, armature: bpy.types.Object) -> None:
        self.armature = armature
        self.bones = armature.pose.bones
        self.plan = ControlPlan()
        self.waiting: list[str] = []
        self.goals = ik_goals(armature)
        self.driven = {bone_of(curve.data_path) for curve in transform_drivers(armature)}

    def ask(self, bone: str, demand: Demand) -> None:
        known = self.plan.demands.setdefault(bone, [])
        if any(d.how == "self" for d in known) or len(known) > 1:
            return  # a captured bone knows its place; others are asked for it once or twice and agree or can't
        known.append(demand)
        self.waiting.append(bone)

    def work(self) -> None:
        while self.waiting:
            self._one(self.waiting.pop(0))
        for goal in self.goals:
            self._goal(goal)
            while self.waiting:
                self._one(self.waiting.pop(0))

    def _one(self, name: str) -> None:
        needs_rotation = any(d.rotation for d in self.plan.demands[name])
        needs_location = any(d.location for d in self.plan.demands[name])
        if name in self.driven:
            self.plan.reasons.append(f"A driver moves bone {name!r}.")
        for constraint in reversed(self.bones[name].constraints):
            if not at_work(constraint) or not (needs_rotation or needs_location):
                continue
            rotated, located = self._through(name, constraint, needs_rotation, needs_location)
            needs_rotation, needs_location = needs_rotation and not rotated, needs_location and not located
        if needs_rotation or needs_location:
            before = self.plan.keyed.get(name, (False, False))
            self.plan.keyed[name] = (before[0] or needs_rotation, before[1] or needs_location)

    def _through(
        self, name: str, constraint: bpy.types.Constraint, rotation: bool, location: bool
    ) -> tuple[bool, bool]:
        """Ask the bone that a constraint reads. Returns which needs (rotation, location) are met by that."""
        kind = constraint.type
        if kind in _HARMLESS or kind in ("IK", "CHILD_OF"):
            return False, False
        targets = constraint_targets(constraint)
        outside = [t.name for t, _ in targets if t is not None and t != self.armature]
        why = self._why_not(constraint, outside, len(targets))
        if why:
            shown = kind.replace("_", " ").title()
            self.plan.reasons.append(f"Bone {name!r} has a constraint ({shown}) that {why}.")
            return False, False
        target = targets[0][1]
        if kind in _AIMING:
            self.ask(target, Demand(name, "aim", False, True))
            return False, False
        gives = {"COPY_ROTATION": (True, False), "COPY_LOCATION": (False, True)}.get(kind, (True, True))
        given = (gives[0] and rotation, gives[1] and location)
        if any(given):
            self.ask(target, Demand(name, "deform" if kind == "ARMATURE" else "copy", *given))
        return given if constraint.influence >= FULL else (False, False)  # a blend of equal poses is that pose

    def _why_not(self, constraint: bpy.types.Constraint, outside: list[str], targets: int) -> str:
        """Why a constraint can't be read backwards; empty when it can."""
        kind = constraint.type
        if outside:
            return f"follows the object {outside[0]!r}"
        if kind in _AIMING:
            return ""
        if kind not in ("COPY_TRANSFORMS", "COPY_ROTATION", "COPY_LOCATION", "ARMATURE"):
            return "cannot be solved for its target"
        if kind == "ARMATURE" and constraint.influence < FULL:
            return "works in part only"
        if targets != 1:
            return f"follows {targets} bones at once"
        if kind == "ARMATURE":
            return ""
        if (constraint.owner_space, constraint.target_space) not in _SAME_SPACE:
            return "works in a local space"
        return "" if _whole(constraint) else "copies in part only"

    def _goal(self, goal: IkGoal) -> None:
        """IK that bends bones of which something is asked: ask its target and pole."""
        asked = [name for name in goal.chain if name in self.plan.demands]
        if not asked:
            return
        constraint = self.bones[goal.owner].constraints[goal.constraint]
        shown = f"The IK of bone {goal.owner!r}"
        if goal.target is None or (constraint.pole_target is not None and goal.pole is None):
            self.plan.reasons.append(f"{shown} follows an object outside of the armature.")
            return
        for name in goal.chain[: goal.chain.index(asked[0])]:  # uncaptured ends of the chain go with it
            self.ask(name, Demand(asked[0], "deform", True, True))
        asked = [name for name in goal.chain if name in self.plan.demands]
        if len(asked) < len(goal.chain):
            free = next(name for name in goal.chain if name not in self.plan.demands)
            self.plan.reasons.append(f"{shown} bends {free!r} too, which is not captured.")
            return
        self.plan.solved.update(goal.chain)
        turns = bool(constraint.use_rotation)
        self.ask(goal.target, Demand(goal.chain[0], "ik", turns, True, goal))
        if goal.pole is not None:
            self.ask(goal.pole, Demand(goal.chain[-1], "pole", False, True, goal))

    def find_influences(self, captured: tuple[str, ...]) -> None:
        """Everything that moves captured bones: what they hang on, what constraints and IK read."""
        found, waiting = set(), [*captured, *self.plan.demands]
        while waiting:
            name = waiting.pop()
            if name in found or name not in self.bones:
                continue
            found.add(name)
            bone = self.bones[name]
            waiting += [b.name for b in bone.parent_recursive]
            for constraint in bone.constraints:
                if at_work(constraint):
                    waiting += [sub for t, sub in constraint_targets(constraint) if t == self.armature and sub]
            for goal in self.goals:
                if name in goal.chain:
                    waiting += [sub for sub in (goal.target, goal.pole) if sub]
        self.plan.influences = found


def _whole(constraint: bpy.types.Constraint) -> bool:
    """Whether a copy constraint replaces all of what it copies."""
    if constraint.type == "COPY_TRANSFORMS":
        return bool(constraint.mix_mode == "REPLACE" and constraint.head_tail == 0.0)
    axes = np.array([(getattr(constraint, f"use_{a}"), getattr(constraint, f"invert_{a}")) for a in "xyz"])
    if not axes[:, 0].all() or axes[:, 1].any():
        return False
    if constraint.type == "COPY_ROTATION":
        return bool(constraint.mix_mode == "REPLACE")
    return bool(not constraint.use_offset and constraint.head_tail == 0.0)
