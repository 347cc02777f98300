"""Applies a motion as soon as it is fitted: never in the middle of what the artist does, and as one undo step.

The timer changes no data. It calls the stage's own operator, with UNDO, when no modal operator runs in the window
that shows the scene and the mode is Object or Pose; until then the panel shows Apply.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import bpy

from .armature_id import held_id
from .ready_result import ReadyResult
from .running import HOST
from .running_stage import RunningStage
from .scene_settings import scene_paths

if TYPE_CHECKING:
    from bpy.types import Scene, Window

_LOOK_EVERY_S = 0.3
_MODES = ("OBJECT", "POSE")
_last_look = 0.0


def ready_for(scene: Scene) -> ReadyResult | None:
    """The motion that waits for this scene's armature."""
    paths, settings = scene_paths(scene), scene.anymocap
    if paths is None or settings.armature is None:
        return None
    armature_id = held_id(settings.armature)
    waiting = [ready for ready in HOST.ready if ready.is_of(paths, settings.clip)]
    return next((ready for ready in waiting if ready.armature_id == armature_id), None)


def why_waiting(window: Window) -> str:
    """Why nothing can be applied in this window now; empty when it can."""
    if len(window.modal_operators):
        return "another tool is at work"
    if bpy.app.is_job_running("RENDER"):
        return "a render is at work"
    active = window.view_layer.objects.active
    return "" if active is None or active.mode in _MODES else "leave the mode first"


def note_fitted(running: RunningStage) -> None:
    """A stage has ended: is it a motion that a scene of the open file waits for?"""
    result = running.run.result if running.run is not None else None
    if running.stage.name != "fit" or running.word != "done" or result is None:
        return
    if result.skipped and not (running.plan is not None and running.plan.applies):
        return  # it was applied when it was made, or the artist did not want it
    HOST.ready[:] = [ready for ready in HOST.ready if not ready.is_of(running.paths, running.item)]
    for scene in bpy.data.scenes:
        settings = scene.anymocap
        wanted = settings.apply_when_fitted and settings.armature is not None and settings.clip == running.item
        if wanted and scene_paths(scene) == running.paths:
            HOST.ready.append(ReadyResult(running.paths, settings.clip, held_id(settings.armature)))


def forget_ready(scene: Scene) -> None:
    """The motion of the scene's clip was applied."""
    ready = ready_for(scene)
    if ready is not None:
        HOST.ready.remove(ready)


def apply_ready() -> None:
    """Apply the first motion that can be applied now; called at each tick."""
    global _last_look
    now = time.monotonic()
    if not HOST.ready or now - _last_look < _LOOK_EVERY_S:
        return
    _last_look = now
    for ready in HOST.ready:
        window = None if ready.problem else _window_for(ready)
        if window is not None and not why_waiting(window):
            _apply(window, ready)
            return


def _window_for(ready: ReadyResult) -> Window | None:
    """A window that shows a scene which still wants it."""
    for window in bpy.context.window_manager.windows:
        if window.scene.anymocap.apply_when_fitted and ready_for(window.scene) is ready:
            return window
    return None


def _apply(window: Window, ready: ReadyResult) -> None:
    try:
        with bpy.context.temp_override(window=window):
            if not bpy.ops.anymocap.apply.poll():
                return  # it is not known yet that the motion is there
            # True: an undo step is pushed, as for a button
            bpy.ops.anymocap.apply("EXEC_DEFAULT", True)
    except RuntimeError as error:  # RuntimeError: what an operator reports as an error
        ready.problem = str(error).removeprefix("Error: ").strip()
    HOST.touch()
