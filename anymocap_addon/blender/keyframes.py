"""Keys of a motion written in bulk on an Action: each bone in the rotation mode that it has.

Keys sit at start_frame + t * scene_fps / fps, so a motion lasts as long in the scene as in its clip whatever
the two rates are; where they differ keys fall between frames. Keys on every frame are LINEAR. Where frames lie
between keys these are BEZIER, with handles that make each channel the cubic through its keys whose slope at a key is
that between its neighbours (Catmull and Rom): so the creature moves as smoothly as in its clip, and the same at every
rate. Locks and constraints are left alone."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np
from mathutils import Euler, Quaternion
from numpy.typing import NDArray

from ..core.clip_clock import ClipClock
from ..core.kinematics import continuous_quaternion
from .action_slots import action_fcurves, assign_action, writable_curves
from .pose import LocalBasis

Array = NDArray[np.float64]

_CHANNELS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
_REST = {
    "location": (0.0, 0.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
    "rotation_quaternion": (1.0, 0.0, 0.0, 0.0),
    "rotation_axis_angle": (0.0, 0.0, 1.0, 0.0),
    "rotation_euler": (0.0, 0.0, 0.0),
}
_ALIGNED, _AUTO_CLAMPED = 3, 4  # bpy: Keyframe.handle_left_type
_LINEAR, _BEZIER = 1, 2  # bpy: Keyframe.interpolation


def key_frames(count: int, fps: float, scene_fps: float, start_frame: float) -> Array:
    """(count,) scene frames of `count` motion frames."""
    return ClipClock(start_frame, scene_fps, fps, count).key_frames()


def write_keys(
    armature: bpy.types.Object,
    action: bpy.types.Action,
    basis: LocalBasis,
    frames: Array,
    bones: frozenset[str] | None = None,
) -> None:
    """Write `basis` at `frames` (T,) on `action`, which has no keys of these bones, and make it the armature's.

    Channels that the motion needs at rest (control bones above the root, locations and scales below it) get one key at
    rest where something moved them, so that the Action means the same whatever was left there.

    Args:
        bones: only these get keys; None = all.
    """
    assign_action(armature, action)
    curves = writable_curves(action, armature)
    for bone, channel, values in list(_all_channels(armature, basis, bones)):
        path = armature.pose.bones[bone].path_from_id(channel)
        group = curves.groups.get(bone) or curves.groups.new(bone)
        for index, column in enumerate(values.T):
            curve = curves.fcurves.new(path, index=index)
            curve.group = group
            _fill(curve, frames[: len(column)], column)
    assign_action(armature, action)  # the slot exists only now


def rotation_values(quaternions: Array, mode: str) -> Array:
    """(T, 4) wxyz -> keys of rotation mode `mode`, continuous over time: (T, 4) or, for an Euler order, (T, 3)."""
    quaternions = continuous_quaternion(quaternions)
    if mode == "QUATERNION":
        return quaternions
    if mode == "AXIS_ANGLE":
        return _axis_angle(quaternions)
    values = np.empty((len(quaternions), 3))
    previous = Euler((0.0, 0.0, 0.0), mode)
    for t, quaternion in enumerate(quaternions):
        previous = Quaternion(quaternion).to_euler(mode, previous)
        values[t] = previous
    return values


def _axis_angle(quaternions: Array) -> Array:
    """(T, 4) continuous wxyz -> (T, 4) angle and axis: the axis keeps its side, the angle never jumps by a turn."""
    out = np.empty((len(quaternions), 4))
    sizes = np.linalg.norm(quaternions[:, 1:], axis=1)
    turned = np.flatnonzero(sizes > 1e-7)
    axis, angle = np.array([0.0, 1.0, 0.0]), 0.0
    if len(turned):  # the frames before the first turn take its axis
        axis = quaternions[turned[0], 1:] / sizes[turned[0]]
    for t, quaternion in enumerate(quaternions):
        turn = 2.0 * np.arctan2(sizes[t], quaternion[0])
        if sizes[t] > 1e-7:
            found = quaternion[1:] / sizes[t]
            turn, axis = (turn, found) if found @ axis >= 0 else (-turn, -found)
        angle = turn + 2 * np.pi * np.round((angle - turn) / (2 * np.pi))
        out[t] = angle, *axis
    return out


def _all_channels(
    armature: bpy.types.Object, basis: LocalBasis, bones: frozenset[str] | None
) -> Iterator[tuple[str, str, Array]]:
    """(bone, channel, (T, components)) of everything that gets keys."""
    elsewhere = _paths_of_other_actions(armature)
    for name in basis.carriers:
        bone = armature.pose.bones[name]
        channel = _CHANNELS.get(bone.rotation_mode, "rotation_euler")
        if bones is None or name in bones:
            yield from _rest_keys(bone, (channel, "location", "scale"), elsewhere)
    for n, name in enumerate(basis.bones):
        if bones is not None and name not in bones:
            continue
        bone = armature.pose.bones[name]
        mode = bone.rotation_mode
        yield name, _CHANNELS.get(mode, "rotation_euler"), rotation_values(basis.rotation[:, n], mode)
        if basis.moving[n]:
            yield name, "location", basis.location[:, n]
        yield from _rest_keys(bone, ("scale",) if basis.moving[n] else ("location", "scale"), elsewhere)


def _rest_keys(
    bone: bpy.types.PoseBone, channels: tuple[str, ...], elsewhere: set[str]
) -> Iterator[tuple[str, str, Array]]:
    """One key at rest for channels that are off rest now or that another Action of the armature moves.

    The others stay free of keys: they can't disturb the motion and would clutter the artist's dope sheet.
    """
    for channel in channels:
        rest = np.array(_REST[channel])
        if bone.path_from_id(channel) in elsewhere or not np.allclose(getattr(bone, channel), rest, atol=1e-6):
            yield bone.name, channel, rest[None]


def _paths_of_other_actions(armature: bpy.types.Object) -> set[str]:
    return {curve.data_path for action in bpy.data.actions for curve in action_fcurves(action, armature)}


def _fill(curve: bpy.types.FCurve, frames: Array, values: Array) -> None:
    count = len(values)
    steps = np.diff(frames)
    smooth = count > 1 and bool(np.abs(steps - 1.0).max() > 1e-6)
    points = curve.keyframe_points
    points.add(count)
    points.foreach_set("co", np.stack([frames, values], 1).astype(np.float32).ravel())
    points.foreach_set("interpolation", np.full(count, _BEZIER if smooth else _LINEAR, np.int32))
    for side in ("handle_left_type", "handle_right_type"):
        points.foreach_set(side, np.full(count, _ALIGNED if smooth else _AUTO_CLAMPED, np.int32))
    if smooth:
        third, slope = float(steps[0]) / 3, np.gradient(values, frames)
        for side, way in (("handle_left", -third), ("handle_right", third)):
            handles = np.stack([frames + way, values + way * slope], 1)
            points.foreach_set(side, handles.astype(np.float32).ravel())
    curve.update()
