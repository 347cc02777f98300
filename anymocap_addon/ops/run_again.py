"""Run a stage again although its result is ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ..core.errors import AnyMoCapError
from ..jobs.duration_words import about
from ..jobs.registry import REGISTRY
from ..jobs.stage_run import StageRun
from .foreground import run_to_end
from .running import HOST
from .said_polls import NeedsCreature
from .scene_settings import creature_paths
from .stage_operator import why_not
from .stage_request import asked_settings
from .states import STATES

if TYPE_CHECKING:
    from bpy.types import Context


class ANYMOCAP_OT_run_again(NeedsCreature, bpy.types.Operator):
    """Do this again from the start, although its result is ready; what was made before is replaced"""

    bl_idname = "anymocap.run_again"
    bl_label = "Do It Again"

    stage: bpy.props.StringProperty(name="Stage")  # type: ignore[valid-type]

    def invoke(self, context: Context, event: Any) -> set[str]:
        states = STATES.of(context)
        seconds = states.survey.seconds.get(self.stage) if states is not None and states.survey is not None else None
        takes = f" It takes {about(seconds)}." if seconds is not None else ""
        answer: set[str] = context.window_manager.invoke_confirm(
            self, event, title="Do it again?", message=f"What is there is replaced.{takes}"
        )
        return answer

    def execute(self, context: Context) -> set[str]:
        try:
            if self.stage in REGISTRY and (reason := why_not(context, REGISTRY[self.stage])):
                raise AnyMoCapError(f"{reason}.")
            stage = REGISTRY[self.stage]
            settings = asked_settings(context, stage)
            run = StageRun(creature_paths(context), stage, settings, pool=HOST.pool, force=True)
            if bpy.app.background:
                run_to_end(run)
            else:
                HOST.start(run)
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_run_again,)
