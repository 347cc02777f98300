"""Which bones the constraints and drivers of an armature read, bone by bone."""

from __future__ import annotations

from dataclasses import dataclass

import bpy

from .own_actions import bone_of

NEGLIGIBLE = 1e-4  # influence below which a constraint does nothing
_TRANSFORMS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale", "rotation_mode")


@dataclass(frozen=True)
class IkGoal:
    """An IK constraint: its chain, tip first, and what pulls it. None: it is no bone of this armature."""

    owner: str
    constraint: str
    chain: tuple[str, ...]
    target: str | None
    pole: str | None


def at_work(constraint: bpy.types.Constraint) -> bool:
    """Whether the constraint moves its owner now."""
    return not constraint.mute and constraint.is_valid and constraint.influence > NEGLIGIBLE


def ik_goals(armature: bpy.types.Object, only_at_work: bool = True) -> list[IkGoal]:
    """All IK constraints of the armature."""
    goals = []
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type == "IK" and (at_work(constraint) or not only_at_work):
                goals.append(_goal(armature, bone, constraint))
    return goals


def _goal(armature: bpy.types.Object, bone: bpy.types.PoseBone, constraint: bpy.types.Constraint) -> IkGoal:
    chain = [bone, *bone.parent_recursive]
    if not constraint.use_tail:
        chain = chain[1:]
    if constraint.chain_count:
        chain = chain[: constraint.chain_count]
    target = constraint.subtarget if constraint.target == armature else ""
    pole = constraint.pole_subtarget if constraint.pole_target == armature else ""
    return IkGoal(bone.name, constraint.name, tuple(b.name for b in chain), target or None, pole or None)


def bone_sources(armature: bpy.types.Object) -> dict[str, tuple[str, ...]]:
    """Bone -> bones of the same armature that move it by constraints at work (IK apart) and by drivers of its
    transform; empty where something else moves it. Bones that nothing moves are not listed.
    """
    found: dict[str, list[str]] = {}
    for bone in armature.pose.bones:
        for constraint in bone.constraints:
            if constraint.type != "IK" and at_work(constraint):
                read = [name for target, name in constraint_targets(constraint) if target == armature and name]
                if read:
                    found.setdefault(bone.name, []).extend(read)
    for curve in transform_drivers(armature):
        found.setdefault(bone_of(curve.data_path), []).extend(_read_by(curve.driver, armature))
    return {name: tuple(dict.fromkeys(read)) for name, read in found.items()}


def transform_drivers(armature: bpy.types.Object) -> list[bpy.types.FCurve]:
    """Drivers at work on transform channels of pose bones."""
    data = armature.animation_data
    curves = [] if data is None else [d for d in data.drivers if not d.mute and d.is_valid]
    return [d for d in curves if d.data_path.startswith("pose.bones[") and d.data_path.endswith(_TRANSFORMS)]


def constraint_targets(constraint: bpy.types.Constraint) -> list[tuple[bpy.types.Object | None, str]]:
    """(object, bone) of each target."""
    if constraint.type == "ARMATURE":
        return [(t.target, t.subtarget) for t in constraint.targets if t.weight > NEGLIGIBLE]
    if not hasattr(constraint, "target"):
        return []
    return [(constraint.target, getattr(constraint, "subtarget", ""))]


def _read_by(driver: bpy.types.Driver, armature: bpy.types.Object) -> list[str]:
    names = []
    for variable in driver.variables:
        for target in variable.targets:
            if target.id != armature:
                continue
            if variable.type == "SINGLE_PROP":
                names.append(bone_of(target.data_path))
            elif target.bone_target:
                names.append(target.bone_target)
    return [name for name in names if name in armature.data.bones]
