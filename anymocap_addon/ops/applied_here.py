"""Whether the motion that was applied is still on the armature: an undo takes it away, and no record knows of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import bpy

from ..blender.own_actions import MOTION_PROPERTY
from .scene_settings import scene_paths

if TYPE_CHECKING:
    from bpy.types import Scene


def why_not_here(scene: Scene) -> str:
    """Why the scene's armature does not play the motion of the scene's clip, for the artist; empty when it does.

    For a clip whose apply is done: it was undone, done in another file, or the artist has chosen another Action.
    """
    paths, settings = scene_paths(scene), scene.anymocap
    if paths is None or settings.armature is None:
        return ""
    mark = f"{paths.name}/{settings.clip}"
    if any(action.get(MOTION_PROPERTY) == mark for action in _played(settings.armature)):
        return ""
    if any(action.get(MOTION_PROPERTY) == mark for action in bpy.data.actions):
        return "The motion's Action is in this file, but the armature plays another"
    return "The motion is not in this file: it was undone, or applied in another file"


def _played(armature: bpy.types.Object) -> Iterator[bpy.types.Action]:
    data = armature.animation_data
    if data is None:
        return
    actions = [data.action, *(strip.action for track in data.nla_tracks for strip in track.strips)]
    yield from (action for action in actions if action is not None)
