"""One operator a stage, made from the registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ..jobs.registry import REGISTRY
from ..jobs.stage import Registry, Stage
from ..jobs.stage_run import StageRun
from .apply_ready import apply_ready, forget_ready, note_fitted
from .foreground import run_to_end
from .reported_errors import ReportsErrors
from .running import HOST
from .said_polls import SaidPoll, why_no_creature
from .scene_settings import creature_paths, item_of, scene_paths
from .setting_property import set_values, setting_property
from .stage_request import asked_settings, changes_this_scene, runs_here
from .states import why_blocked

if TYPE_CHECKING:
    from bpy.types import Context


class StageOperator(SaidPoll, ReportsErrors):
    """What the operators of all stages do: in a window the stage runs in the background, else to its end here."""

    stage: Stage
    properties: Any

    @classmethod
    def why_not(cls, context: Context) -> str:
        return why_not(context, cls.stage)

    def invoke(self, context: Context, event: Any) -> set[str]:
        return self.guarded(lambda: self._start(context))

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._run_here(context, self._new_run(context)))

    def _start(self, context: Context) -> None:
        run = self._new_run(context)
        if run.here:
            self._run_here(context, run)
            return
        word = "waits for its turn" if HOST.waits(HOST.start(run)) else "started"
        self.report({"INFO"}, f"{self.stage.label} {word}")  # type: ignore[attr-defined]

    def _run_here(self, context: Context, run: StageRun) -> None:
        scene = context.scene  # the context may show another one after what the stage did
        run_to_end(run)
        if run.here:
            forget_ready(scene)

    def _new_run(self, context: Context) -> StageRun:
        given = set_values(self.properties, self.stage.settings)
        settings = asked_settings(context, self.stage, given=given)
        # What the scene holds is not known to the stage's record: a scene is always changed when asked.
        here = changes_this_scene(self.stage, settings)
        return StageRun(creature_paths(context), self.stage, settings, pool=HOST.pool, here=here, force=here)


def why_not(context: Context, stage: Stage) -> str:
    """Why the stage cannot be started now, for the artist; empty when it can."""
    if reason := why_no_creature(context):
        return reason
    if bpy.app.background:
        return ""  # the rest is about what the panel shows; here the operator may be given other settings
    item = item_of(context, stage)
    if item == "":
        return f"Choose a {stage.per} first"
    paths = scene_paths(context.scene)
    running = HOST.of(paths, stage.name, item) if paths is not None else None
    if running is not None and running.at_work:
        return f"{stage.label} is at work"
    return why_blocked(context, stage)


def make_operators(registry: Registry) -> tuple[type, ...]:
    """Operator classes anymocap.<stage>, in the order of the registry."""
    return tuple(_make_operator(stage) for stage in registry)


def _make_operator(stage: Stage) -> type:
    options = {"REGISTER", "UNDO"} if runs_here(stage) else {"REGISTER"}
    members = {
        "__doc__": f"{stage.help[:1].upper()}{stage.help[1:]}",
        "__annotations__": {setting.name: setting_property(setting) for setting in stage.settings},
        "__module__": __name__,
        "bl_idname": f"anymocap.{stage.name}",
        "bl_label": stage.label,
        "bl_options": options,
        "stage": stage,
    }
    return type(f"ANYMOCAP_OT_{stage.name}", (StageOperator, bpy.types.Operator), members)


CLASSES: tuple[type, ...] = make_operators(REGISTRY)


def register() -> None:
    """A motion that was fitted in the background is applied by this module's operator."""
    HOST.when_ended.append(note_fitted)
    HOST.each_tick.append(apply_ready)


def unregister() -> None:
    """No more."""
    HOST.when_ended.remove(note_fitted)
    HOST.each_tick.remove(apply_ready)
