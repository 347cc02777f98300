"""The scene's range and frame rate brought onto the clip's, when the artist asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from .current_capture import clip_clock, current_view, loaded_view
from .said_polls import SaidPoll

if TYPE_CHECKING:
    from bpy.types import Context, Scene


def rate_offer(context: Context) -> str:
    """What to tell an artist whose scene runs at another rate than the clip, or empty. Reads no file."""
    view = current_view(context)
    if view is None or clip_clock(context.scene, view).same_rate:
        return ""
    render = context.scene.render
    return f"Clip {_words(view.fps)} fps, scene {_words(render.fps / render.fps_base)} fps: keys fall between frames"


def set_scene_rate(scene: Scene, fps: float) -> None:
    """Let a scene run at `fps` frames a second, as whole frames over a base: 23.976 is 24 over 1.001."""
    whole = max(1, round(fps))
    scene.render.fps = whole
    scene.render.fps_base = whole / fps


class _NeedsClip(SaidPoll):
    @classmethod
    def why_not(cls, context: Context) -> str:
        return "Read a clip first" if current_view(context) is None and not bpy.app.background else ""


class ANYMOCAP_OT_scene_range(_NeedsClip, bpy.types.Operator):
    """Set the scene's first and last frame to the clip's"""

    bl_idname = "anymocap.scene_range"
    bl_label = "Set Scene Range to the Clip"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Context) -> set[str]:
        view = loaded_view(context)
        if view is None:
            self.report({"WARNING"}, "Read a clip first")
            return {"CANCELLED"}
        scene = context.scene
        first, last = clip_clock(scene, view).scene_range()
        if first < 0:
            self.report({"WARNING"}, f"The clip begins at frame {first}; a scene's range begins at 0 or later")
        scene.use_preview_range = False
        scene.frame_start, scene.frame_end = max(first, 0), max(last, 0)
        scene.frame_set(min(max(scene.frame_current, scene.frame_start), scene.frame_end))
        return {"FINISHED"}


class ANYMOCAP_OT_scene_rate(_NeedsClip, bpy.types.Operator):
    """Let the scene run at the clip's frame rate, so that every frame of the clip is one of the scene. Keys that are
    there stay on their frames: apply the motion again"""

    bl_idname = "anymocap.scene_rate"
    bl_label = "Use the Clip's Frame Rate"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Context) -> set[str]:
        view = loaded_view(context)
        if view is None:
            self.report({"WARNING"}, "Read a clip first")
            return {"CANCELLED"}
        set_scene_rate(context.scene, view.fps)
        return {"FINISHED"}


def _words(fps: float) -> str:
    return f"{fps:.3f}".rstrip("0").rstrip(".")


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_scene_range, ANYMOCAP_OT_scene_rate)
