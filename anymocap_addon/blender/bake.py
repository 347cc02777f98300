"""Constraints that an Action switches off by keys while it plays, so that keys on the bones alone decide.

The keys bring each constraint's own value back after the motion's last frame and hold it before the first; the
constraints themselves are not changed. What a driver sets cannot be keyed: there the constraint is disabled instead.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import bpy
import numpy as np
from numpy.typing import NDArray

from .action_slots import writable_curves
from .bone_sources import at_work, ik_goals, transform_drivers
from .own_actions import bone_of

Array = NDArray[np.float64]

MUTED_PROPERTY = "anymocap_muted"  # on the Action, as JSON: data path of each keyed influence -> the artist's value
_CONSTANT = 0  # bpy: Keyframe.interpolation


def moved_by_constraints(armature: bpy.types.Object, bones: Iterable[str]) -> list[bpy.types.Constraint]:
    """Constraints at work on `bones` or on what these hang on, and IK that bends them."""
    pose = armature.pose.bones
    carried = {b.name for name in bones for b in (pose[name], *pose[name].parent_recursive)}
    found = [c for name in sorted(carried) for c in pose[name].constraints if at_work(c)]
    goals = [g for g in ik_goals(armature) if g.owner not in carried and carried & set(g.chain)]
    return [*found, *(pose[g.owner].constraints[g.constraint] for g in goals)]


def moved_by_drivers(armature: bpy.types.Object, bones: Iterable[str]) -> list[str]:
    """Those of `bones` whose transform a driver sets: keys on them do nothing."""
    driven = {bone_of(curve.data_path) for curve in transform_drivers(armature)}
    return sorted(driven & set(bones))


def key_constraints_off(
    armature: bpy.types.Object, action: bpy.types.Action, constraints: list[bpy.types.Constraint], frames: Array
) -> None:
    """Key `constraints` off from the first to the last of the scene frames (T,)."""
    curves = writable_curves(action, armature)
    driven = {curve.data_path for curve in armature.animation_data.drivers}
    muted: dict[str, float] = {}
    for constraint in constraints:
        path = constraint.path_from_id("influence")
        own = float(constraint.influence)
        if path in driven:
            path, own = constraint.path_from_id("enabled"), 1.0
        curve = curves.fcurves.new(path)
        bone = bone_of(path)
        curve.group = curves.groups.get(bone) or curves.groups.new(bone)
        points = curve.keyframe_points
        points.add(3)
        times = (frames[0] - 1.0, frames[0], frames[-1] + 1.0)
        points.foreach_set("co", np.array([times, (own, 0.0, own)], np.float32).T.ravel())
        points.foreach_set("interpolation", np.full(3, _CONSTANT, np.int32))
        curve.update()
        muted[path] = own
    if muted:
        action[MUTED_PROPERTY] = json.dumps(muted)


def give_influence_back(armature: bpy.types.Object, *actions: bpy.types.Action | None) -> None:
    """Set the artist's own values on constraints that these Actions hold off at the frame shown now."""
    for action in filter(None, actions):
        for path, own in json.loads(action.get(MUTED_PROPERTY, "{}")).items():
            owner, _, channel = path.rpartition(".")
            try:
                constraint = armature.path_resolve(owner)
            except ValueError:
                continue  # the artist has removed it since
            setattr(constraint, channel, bool(own) if channel == "enabled" else own)
