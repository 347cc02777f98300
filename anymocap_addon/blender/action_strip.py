"""An Action as a strip in an armature's NLA."""

from __future__ import annotations

import bpy

from .action_slots import object_slot


def place_strip(armature: bpy.types.Object, action: bpy.types.Action) -> bpy.types.NlaStrip:
    """A strip that plays all of `action` where its keys are, on a track of its own on top.

    A strip that plays it already stays where the artist has put it, and plays the new length.
    """
    data = armature.animation_data
    strip = next((s for track in data.nla_tracks for s in track.strips if s.action == action), None)
    first, last = (float(frame) for frame in action.frame_range)
    if strip is None:
        track = data.nla_tracks.new()
        track.name = action.name
        strip = track.strips.new(action.name, int(first), action)
        strip.frame_start_ui = first
    if hasattr(strip, "action_slot") and strip.action_slot is None:
        strip.action_slot = object_slot(action, armature)
    strip.action_frame_start, strip.action_frame_end = first, last
    return strip
