"""How far a bone of the tried rig may turn: edited with a preview, the bone swinging as the numbers change."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.limits import mirror_limits
from ..core.rig import RigInfo
from ..core.skeleton_edits import partners

Array = NDArray[np.float64]

AXES = "xyz"
_WIDEST = math.pi

_quiet: list[str] = []  # numbers that are being set without what their change does


def _changed(axis: int, end: str) -> Callable[[Any, Any], None]:
    """What a change of one number does: the bone goes there, and the other side follows."""

    def update(ranges: Any, context: Any) -> None:
        if _quiet:
            return
        if end != "swing":
            _set_quietly(ranges, f"swing_{AXES[axis]}", -1.0 if end == "low" else 1.0)
        bone = bone_of(ranges)
        _pose(bone)
        if ranges.both_sides and (partner := _partner(bone)) is not None:
            _follow(bone, partner)

    return update


def _set_quietly(ranges: Any, name: str, value: float) -> None:
    """Set a number without what its change does."""
    _quiet.append(name)
    try:
        setattr(ranges, name, value)
    finally:
        _quiet.pop()


def bone_of(ranges: Any) -> Any:
    """The pose bone that holds `ranges`."""
    return ranges.id_data.pose.bones[ranges.bone]  # Blender knows no path from such a group back to its bone


def limits_of(bone: Any) -> Array:
    """(3, 2) low and high of a pose bone's turns, radians."""
    ranges = bone.anymocap_ranges
    return np.array([[getattr(ranges, f"{end}_{axis}") for end in ("low", "high")] for axis in AXES])


def _pose(bone: Any) -> None:
    """Put the bone where its sliders say: -1 its lowest, 0 rest, 1 its highest."""
    ranges = bone.anymocap_ranges
    angles = []
    for axis in AXES:
        swing = getattr(ranges, f"swing_{axis}")
        angles.append(abs(swing) * getattr(ranges, f"{'low' if swing < 0 else 'high'}_{axis}"))
    bone.rotation_mode = "XYZ"
    bone.rotation_euler = angles


def _partner(bone: Any) -> Any:
    return bone.id_data.pose.bones.get(bone.anymocap_ranges.partner)


def _follow(bone: Any, partner: Any) -> None:
    """The partner gets the mirror image of the bone's ranges and of its pose."""
    here, there = (np.array(b.bone.matrix_local)[:3, :3] for b in (bone, partner))
    _fill(partner, mirror_limits(limits_of(bone), here, there))
    turned = np.array(bone.rotation_euler)
    mirrored = mirror_limits(np.stack([turned, turned], 1), here, there)[:, 0]
    for axis, angle, (low, high) in zip(AXES, mirrored, limits_of(partner), strict=True):
        end = low if angle < 0 else high
        share = 0.0 if abs(end) < 1e-9 else abs(float(angle) / float(end))
        _set_quietly(partner.anymocap_ranges, f"swing_{axis}", math.copysign(min(share, 1.0), float(angle)))
    partner.rotation_mode = "XYZ"
    partner.rotation_euler = mirrored


def _fill(bone: Any, limits: Array) -> None:
    for axis, (low, high) in zip(AXES, limits, strict=True):
        _set_quietly(bone.anymocap_ranges, f"low_{axis}", float(low))
        _set_quietly(bone.anymocap_ranges, f"high_{axis}", float(high))


def fill_ranges(armature: Any, rig: RigInfo) -> None:
    """Give every bone of the tried rig its limits and its partner, and free it to be turned."""
    pairs = partners(rig)
    for b, name in enumerate(rig.bones):
        bone = armature.pose.bones[name]
        bone.rotation_mode = "XYZ"
        _fill(bone, rig.limits_rad[b])
        bone.anymocap_ranges.bone, bone.anymocap_ranges.partner = name, pairs.get(name, "")


def rest_all(armature: Any) -> None:
    """Every bone back to rest."""
    for bone in armature.pose.bones:
        for axis in AXES:
            _set_quietly(bone.anymocap_ranges, f"swing_{axis}", 0.0)
        bone.rotation_mode = "XYZ"
        bone.rotation_euler, bone.location, bone.scale = (0.0,) * 3, (0.0,) * 3, (1.0,) * 3


def _number(axis: int, end: str) -> Any:
    turn = f"about the bone's own {AXES[axis].upper()}"
    if end == "swing":
        return bpy.props.FloatProperty(
            name=AXES[axis].upper(),
            description=f"Swing the bone {turn}: -1 its lowest turn, 0 rest, 1 its highest",
            min=-1.0,
            max=1.0,
            update=_changed(axis, end),
        )
    low = end == "low"
    return bpy.props.FloatProperty(
        name="Lowest" if low else "Highest",
        description=f"{'Lowest' if low else 'Highest'} turn {turn}; the bone shows it",
        subtype="ANGLE",
        min=-_WIDEST,
        max=_WIDEST,
        update=_changed(axis, end),
    )


def _annotations() -> dict[str, Any]:
    numbers = {f"{end}_{AXES[axis]}": _number(axis, end) for axis in range(3) for end in ("low", "high", "swing")}
    both = bpy.props.BoolProperty(
        name="Both Sides",
        description="The bone on the other side may turn alike, and swings along",
        default=True,
    )
    names = {
        "bone": bpy.props.StringProperty(name="Bone", description="The bone itself"),
        "partner": bpy.props.StringProperty(name="Other Side", description="The bone on the other side, if any"),
    }
    return {**numbers, **names, "both_sides": both}


ANYMOCAP_PG_ranges = type(
    "ANYMOCAP_PG_ranges",
    (bpy.types.PropertyGroup,),
    {"__doc__": "Limits of a bone, and where between them it is shown.", "__annotations__": _annotations()},
)
CLASSES: tuple[type, ...] = (ANYMOCAP_PG_ranges,)


def register() -> None:
    """Give every pose bone its ranges."""
    bpy.types.PoseBone.anymocap_ranges = bpy.props.PointerProperty(type=ANYMOCAP_PG_ranges)


def unregister() -> None:
    """Take them away again."""
    del bpy.types.PoseBone.anymocap_ranges
