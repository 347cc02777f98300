"""Stages at work in this Blender: stepped by one timer, ended when the add-on is disabled or Blender quits."""

from __future__ import annotations

import bpy

from ..core.errors import AnyMoCapError
from ..jobs.events import Event
from ..jobs.stage_run import StageRun
from .preference_values import host_pool

_STEP_EVERY_S = 0.1


class RunningStage:
    """A run with what the panel shows of it."""

    def __init__(self, run: StageRun) -> None:
        self.run = run
        self.progress: Event | None = None
        self.error: AnyMoCapError | None = None
        self.ended = False

    def step(self) -> None:
        """Take the events that are there now; never blocks."""
        try:
            for event in self.run:
                if event is None:
                    return
                if event["event"] == "progress":
                    self.progress = event
        except AnyMoCapError as error:
            self.error = error
        self.ended = True


class StageHost:
    """The stages and warm workers of this Blender process."""

    def __init__(self) -> None:
        self.pool = host_pool()
        self.stages: list[RunningStage] = []
        self.timer = self._tick  # one object: Blender knows a timer by its identity, and a method is new at each look

    def start(self, run: StageRun) -> RunningStage:
        """Let the timer step a run."""
        stage = RunningStage(run)
        self.stages = [other for other in self.stages if not other.ended] + [stage]
        if not bpy.app.timers.is_registered(self.timer):
            # persistent: loading a .blend leaves the stages running
            bpy.app.timers.register(self.timer, first_interval=0.0, persistent=True)
        return stage

    def _tick(self) -> float | None:
        at_work = [stage for stage in self.stages if not stage.ended]
        for stage in at_work:
            stage.step()
        return _STEP_EVERY_S if at_work else None

    def close(self) -> None:
        """End everything; the stages stay resumable."""
        if bpy.app.timers.is_registered(self.timer):
            bpy.app.timers.unregister(self.timer)
        for stage in self.stages:
            stage.run.close()
        self.stages.clear()
        self.pool.close()


HOST = StageHost()
CLASSES: tuple[type, ...] = ()


def unregister() -> None:
    """End what is at work; it stays resumable."""
    HOST.close()
