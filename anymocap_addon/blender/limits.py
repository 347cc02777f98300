"""Limits of the capture skeleton: from the creature's own Actions where it has some, else by role."""

from __future__ import annotations

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.checkup.side_names import side_stem
from ..core.kinematics import continuous_euler
from ..core.limits import WIDEST, default_limits, mirror_limits, seen_limits, share_between_sides
from ..core.rig import RigSpec
from ..core.roles import Roles
from .action_playback import moving_actions, playing
from .armature_space import orthonormal
from .pose import capture_euler
from .rig_adopt import CaptureSkeleton

Array = NDArray[np.float64]


BonePairs = list[tuple[int, int]]


def adopted_limits(
    armature: bpy.types.Object, skeleton: CaptureSkeleton, roles: Roles, pairs: BonePairs
) -> tuple[Array, list[str]]:
    """(B, 3, 2) limits in radians, and the names of the Actions they come from (none: defaults by role).

    Args:
        pairs: bone indices that mirror each other, left first.
    """
    defaults = default_limits(roles, skeleton.rest, _directions(skeleton))
    actions = moving_actions(armature)
    if not actions:
        return defaults, []
    ranges = [_range_in(armature, action, skeleton) for action in actions]
    low = np.min([r[0] for r in ranges], axis=0)
    high = np.max([r[1] for r in ranges], axis=0)
    limits = share_between_sides(seen_limits(low, high, defaults), skeleton.rest, pairs)
    limits[0] = 0.0
    return np.clip(limits, -WIDEST, WIDEST), [a.name for a in actions]


def spec_limits(spec: RigSpec, skeleton: CaptureSkeleton, roles: Roles, pairs: BonePairs) -> Array:
    """(B, 3, 2) limits in radians from rig.json: by bone name, else by stem, else by role.

    A stem's limits are written for the left side (+X); the right side takes their mirror image, whose signs follow
    from the two rest matrices.
    """
    limits = default_limits(roles, skeleton.rest, _directions(skeleton))
    partner = dict(pairs) | {right: left for left, right in pairs}
    for b, name in enumerate(skeleton.bones):
        if name in spec.limits_deg:
            limits[b] = np.radians(spec.limits_deg[name])
            continue
        stem = side_stem(name)
        if stem not in spec.limits_deg:
            continue
        written = np.radians(spec.limits_deg[stem])
        if roles.side[b] < 0 and b in partner:
            written = mirror_limits(written, skeleton.rest[partner[b], :3, :3], skeleton.rest[b, :3, :3])
        limits[b] = written
    limits[0] = 0.0
    return limits


def _directions(skeleton: CaptureSkeleton) -> Array:
    """(B, 3) unit vectors from head to tip; a bone without extent keeps its own Y axis."""
    way = skeleton.tips - skeleton.rest[:, :3, 3]
    length = np.linalg.norm(way, axis=1, keepdims=True)
    return np.where(length > 1e-6, way / np.maximum(length, 1e-12), skeleton.rest[:, :3, 1])


def _range_in(armature: bpy.types.Object, action: bpy.types.Action, skeleton: CaptureSkeleton) -> tuple[Array, Array]:
    """(B, 3) lowest and highest basis angles of an Action, every frame of it, in the capture hierarchy."""
    scene = bpy.context.scene
    first, last = (round(float(f)) for f in action.frame_range)
    posed = []
    with playing(armature, action):
        for frame in range(first, last + 1):
            scene.frame_set(frame)
            posed.append(np.array([armature.pose.bones[name].matrix for name in skeleton.bones], np.float64))
    world = orthonormal(np.stack(posed)[..., :3, :3])
    rest = np.array([armature.data.bones[name].matrix_local for name in skeleton.bones], np.float64)
    euler = _tightest(capture_euler(orthonormal(rest[:, :3, :3]), skeleton.parents, world))
    return euler.min(0), euler.max(0)


def _tightest(smooth: Array) -> Array:
    """(T, B, 3) of the triples that give the same rotations those that span less for a bone: the continuous ones, or
    in every frame the one nearest to rest.
    """
    nearest = np.concatenate([np.asarray(continuous_euler(frame[None])) for frame in smooth])
    span_smooth, span_nearest = (np.ptp(euler, axis=0).sum(-1) for euler in (smooth, nearest))
    return np.where((span_smooth <= span_nearest)[None, :, None], smooth, nearest)
