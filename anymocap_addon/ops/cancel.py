"""Cancel what is at work or queued."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from .running import HOST
from .said_polls import SaidPoll
from .scene_settings import scene_paths

if TYPE_CHECKING:
    from bpy.types import Context


class ANYMOCAP_OT_cancel(SaidPoll, bpy.types.Operator):
    """Stop this work. What is finished stays, and the stage goes on from there when it is run again"""

    bl_idname = "anymocap.cancel"
    bl_label = "Cancel"

    stage: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Stage", description="Name of the stage to stop; empty = all of the creature", options={"SKIP_SAVE"}
    )
    item: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Clip", description="Only for this clip or move; empty = for all", options={"SKIP_SAVE"}
    )

    @classmethod
    def why_not(cls, context: Context) -> str:
        paths = scene_paths(context.scene)
        return "" if paths is not None and HOST.at_work(paths) else "Nothing of this creature is at work"

    def execute(self, context: Context) -> set[str]:
        wanted = [
            running
            for running in HOST.at_work(scene_paths(context.scene))
            if self.stage in ("", running.stage.name) and self.item in ("", running.item)
        ]
        if not wanted:
            self.report({"WARNING"}, "It is not at work any more")
            return {"CANCELLED"}
        for running in reversed(wanted):
            HOST.cancel(running)
        return {"FINISHED"}


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_cancel,)
