"""Actions across Blender 4.2 (fcurves on the Action), 4.4 (slots) and 5.0 (fcurves in channelbags only)."""

from __future__ import annotations

from typing import Any

import bpy

from ..core.errors import BadInputError


def assign_action(owner: bpy.types.Object, action: bpy.types.Action | None) -> None:
    """Make `action` the active one of `owner`, with the slot that fits it: since 4.4 an assignment may choose none."""
    data = owner.animation_data or owner.animation_data_create()
    data.action = action
    if action is None or not hasattr(data, "action_slot") or data.action_slot is not None:
        return
    suitable = list(data.action_suitable_slots) or [s for s in action.slots if s.target_id_type == "OBJECT"]
    if suitable:
        data.action_slot = suitable[0]


def object_slot(action: bpy.types.Action, owner: bpy.types.Object) -> Any:
    """The slot of `action` that drives `owner`: the one in use, else of its name, else the first; None before 4.4."""
    if not hasattr(action, "slots"):
        return None
    data = owner.animation_data
    if data is not None and data.action == action and data.action_slot is not None:
        return data.action_slot
    slots = [s for s in action.slots if s.target_id_type in {"OBJECT", "UNSPECIFIED"}]
    named = [s for s in slots if s.name_display == owner.name]
    return next(iter(named + slots), None)


def action_fcurves(action: bpy.types.Action, owner: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The F-curves with which `action` drives `owner`, in Blender's order."""
    if not hasattr(action, "layers") or not hasattr(action, "slots"):
        return list(action.fcurves)
    slot = object_slot(action, owner)
    if slot is None:
        return []
    bags = [strip.channelbag(slot) for layer in action.layers for strip in layer.strips if strip.type == "KEYFRAME"]
    return [curve for bag in bags if bag is not None for curve in bag.fcurves]


def writable_curves(action: bpy.types.Action, owner: bpy.types.Object) -> Any:
    """The F-curve collection of `action` for `owner` (layer, strip, slot and channelbag are made when
    missing) and its groups.

    Returns an object with .fcurves and .groups: a channelbag, or before 4.4 the Action itself.

    Raises:
        BadInputError: the Action's strip is of a kind that holds no keys.
    """
    if not hasattr(action, "layers") or not hasattr(action, "slots"):
        return action
    slot = object_slot(action, owner) or action.slots.new("OBJECT", owner.name)
    layer = action.layers[0] if action.layers else action.layers.new("AnyMoCap")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    if strip.type != "KEYFRAME":
        raise BadInputError(f"Action {action.name!r} holds no keyframe strip.", hint="Choose another Action name.")
    return strip.channelbag(slot, ensure=True)
