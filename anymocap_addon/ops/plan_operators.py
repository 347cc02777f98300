"""Operators that run several stages one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy

from ..core.stage_record import load_record
from ..jobs.plan import Planned, PlanRun, stale_plan
from ..jobs.reader_test import STAGES, TEST_CLIP, reader_test_plan
from ..jobs.registry import REGISTRY
from ..jobs.stage import Stage
from ..jobs.state import stage_state
from .applied_here import why_not_here
from .foreground import run_to_end
from .reported_errors import ReportsErrors
from .running import HOST
from .said_polls import NeedsCreature
from .scene_settings import creature_paths, scene_paths
from .stage_request import asked_settings, changes_this_scene
from .states import why_blocked

if TYPE_CHECKING:
    from bpy.types import Context

_CAPTURE = ("take", "gate", "detect", "fit", "preview")


class _PlanOperator(NeedsCreature, ReportsErrors):
    """In a window the plan waits in the queue and runs in the background, else it runs to its end here."""

    bl_label: str

    def planned(self, context: Context) -> list[Planned]:
        """The stages to run.

        Raises:
            AnyMoCapError: something is missing from the start.
        """
        raise NotImplementedError

    def invoke(self, context: Context, event: Any) -> set[str]:
        return self.guarded(lambda: self._start(context))

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: run_to_end(self._new_plan(context, self.planned(context))))

    def _start(self, context: Context) -> None:
        planned = self.planned(context)
        # What changes the scene is no part of the background: it follows as an undo step of its own.
        plan = self._new_plan(context, [one for one in planned if not one.here])
        running = HOST.start_plan(plan, self.bl_label)
        running.applies = any(one.here and _is_due(context, one) for one in planned)
        word = "waits for its turn" if HOST.waits(running.stages[0]) else "started"
        self.report({"INFO"}, f"{self.bl_label} {word}")  # type: ignore[attr-defined]

    def _new_plan(self, context: Context, planned: list[Planned]) -> PlanRun:
        return PlanRun(creature_paths(context), planned, pool=HOST.pool)


class ANYMOCAP_OT_run_stale(_PlanOperator, bpy.types.Operator):
    """Run every stage of the creature and of its clip that is missing or stale, in order"""

    bl_idname = "anymocap.run_stale"
    bl_label = "Bring All Up to Date"

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        paths = scene_paths(context.scene)
        return "This creature is at work already" if paths is not None and HOST.at_work(paths) else ""

    def planned(self, context: Context) -> list[Planned]:
        clip, paths = context.scene.anymocap.clip, creature_paths(context)

        def settings_of(stage: Stage, item: str | None) -> dict[str, Any]:
            first = load_record(paths, stage.name, item) is None
            return asked_settings(context, stage, item, gather=first)

        planned = stale_plan(REGISTRY, paths, [clip] if clip else [], settings_of)
        return [replace(one, here=_is_live(one)) for one in planned]


class ANYMOCAP_OT_capture(_PlanOperator, bpy.types.Operator):
    """Check the clip, read it, fit the skeleton's motion to it, and make ready what the overlay shows"""

    bl_idname = "anymocap.capture"
    bl_label = "Capture"

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        clip = context.scene.anymocap.clip
        if not clip:
            return "Choose a clip first"
        return _why_busy(context, _CAPTURE, clip) or why_blocked(context, REGISTRY["detect"])

    def planned(self, context: Context) -> list[Planned]:
        clip, paths = context.scene.anymocap.clip, creature_paths(context)
        stages = [REGISTRY[name] for name in _CAPTURE if REGISTRY[name].starts_by_itself(paths, clip)]
        return [Planned(stage.name, asked_settings(context, stage, clip), clip) for stage in stages]


class ANYMOCAP_OT_test_reader(_PlanOperator, bpy.types.Operator):
    """Render a motion whose truth is known, read and fit it, and score the result"""

    bl_idname = "anymocap.test_reader"
    bl_label = "Test the Reader"

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        paths = scene_paths(context.scene)
        if paths is not None and not paths.reader_pt.exists():
            return "Train the reader first"
        return _why_busy(context, STAGES, TEST_CLIP)

    def planned(self, context: Context) -> list[Planned]:
        return reader_test_plan(
            REGISTRY, creature_paths(context), lambda stage, item: asked_settings(context, stage, item)
        )


def _is_due(context: Context, planned: Planned) -> bool:
    """Whether what changes the scene has to be done even when nothing before it has changed."""
    settings = planned.settings() if callable(planned.settings) else planned.settings
    stage = REGISTRY[planned.stage_name]
    state = stage_state(REGISTRY, creature_paths(context), stage, planned.item, stage.check(settings))
    return state.word != "ready" or bool(why_not_here(context.scene))


def _is_live(planned: Planned) -> bool:
    settings = planned.settings() if callable(planned.settings) else planned.settings
    return changes_this_scene(REGISTRY[planned.stage_name], settings)


def _why_busy(context: Context, stages: tuple[str, ...], clip: str) -> str:
    paths = scene_paths(context.scene)
    if paths is None:
        return ""
    at_work = [stage for stage in HOST.at_work(paths) if stage.stage.name in stages and stage.item == clip]
    return f"{at_work[0].stage.label} is at work" if at_work else ""


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_run_stale, ANYMOCAP_OT_capture, ANYMOCAP_OT_test_reader)
