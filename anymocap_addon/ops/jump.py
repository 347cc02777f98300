"""Jump to the next frame that needs a look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ..core.clip_clock import ClipClock
from .current_capture import clip_clock, current_view, loaded_view
from .said_polls import SaidPoll

if TYPE_CHECKING:
    from bpy.types import Context


class ANYMOCAP_OT_jump(SaidPoll, bpy.types.Operator):
    """Go to the next frame of the clip whose error is high or whose reading is doubtful, by the clip's own measure"""

    bl_idname = "anymocap.jump"
    bl_label = "Jump to Bad Frame"

    direction: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Direction",
        items=(("NEXT", "Next", "Later in time"), ("PREVIOUS", "Previous", "Earlier in time")),
        default="NEXT",
    )

    @classmethod
    def description(cls, context: Context, properties: bpy.types.OperatorProperties) -> str:
        way = "next" if properties.direction == "NEXT" else "previous"
        return (
            f"Go to the {way} frame of the clip whose error is high or whose reading is doubtful, by the clip's own "
            "measure. Bad frames next to each other are one stop"
        )

    @classmethod
    def why_not(cls, context: Context) -> str:
        view = current_view(context)
        if view is None:
            return "" if bpy.app.background else "Read a clip first"
        return "" if view.bad_runs else "No frame of this clip stands out"

    def execute(self, context: Context) -> set[str]:
        view = loaded_view(context)
        if view is None:
            self.report({"WARNING"}, "Read a clip first")
            return {"CANCELLED"}
        stops = stop_frames(view.bad_runs, clip_clock(context.scene, view))
        here = context.scene.frame_current
        if self.direction == "NEXT":
            frame = next((stop for stop in stops if stop > here), None)
        else:
            frame = next((stop for stop in reversed(stops) if stop < here), None)
        if frame is None:
            way = "after" if self.direction == "NEXT" else "before"
            self.report({"INFO"}, f"No frame {way} this one needs a look" if stops else "No frame needs a look")
            return {"CANCELLED"}
        context.scene.frame_set(frame)
        return {"FINISHED"}


def stop_frames(runs: list[range], clock: ClipClock) -> list[int]:
    """The whole scene frame of each run at which its first bad frame is shown; the nearest, where none shows it."""
    stops = []
    for run in runs:
        nearest = round(clock.scene_frame(run.start))
        shown = [frame for frame in (nearest, nearest + 1) if clock.clip_frame(frame) == run.start]
        stops.append(shown[0] if shown else nearest)
    return sorted(set(stops))


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_jump,)
