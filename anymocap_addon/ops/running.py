"""Stages at work in this Blender: queued, stepped by one timer, ended when the add-on is disabled or Blender quits."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from pathlib import Path

import bpy

from ..core.project import CreaturePaths
from ..jobs.plan import PlanRun
from ..jobs.stage_run import StageRun
from ..jobs.watch import ForeignJobs, JobWatch
from .preference_values import host_pool
from .ready_result import ReadyResult
from .redraw import SidebarRedraw
from .running_stage import Pace, RunningPlan, RunningRun, RunningStage

_BUDGET_S = 0.006  # of one tick
_BUSY_EVERY_S = 0.01
_WORK_EVERY_S = 0.1
_IDLE_EVERY_S = 0.5
_FOREIGN_EVERY_S = 1.5
_FORGOTTEN_AFTER_S = 30.0  # a creature that no panel shows any more

Key = tuple[Path, str, str, str | None]


class StageHost:
    """The stages and warm workers of this Blender process. It outlives the open file.

    Attributes:
        changed: raised whenever what a panel shows has changed.
        ready: fitted motions that wait to be applied.
        when_ended: called with each RunningStage that has ended, from the timer.
        each_tick: called at each tick; must be cheap and change none of Blender's data.
    """

    def __init__(self) -> None:
        self.pool = host_pool()
        self.changed = 0
        self.when_ended: list[Callable[[RunningStage], None]] = []
        self.ready: list[ReadyResult] = []
        self.each_tick: list[Callable[[], None]] = []
        self.timer = self._tick  # one object: Blender knows a timer by its identity, and a method is new at each look
        self._units: list[RunningRun | RunningPlan] = []
        self._latest: dict[Key, RunningStage] = {}
        self._foreign: dict[tuple[Path, str], ForeignJobs] = {}
        self._asked: dict[tuple[Path, str], float] = {}
        self._redraw = SidebarRedraw()

    def start(self, run: StageRun) -> RunningStage:
        """Let the timer step a run: an interactive one at once, any other when those before it have ended."""
        return self._add(RunningRun(run)).stages[0]

    def start_plan(self, plan: PlanRun, label: str = "") -> RunningPlan:
        """Let the timer step a plan when the runs before it have ended."""
        running = RunningPlan(plan, label)
        self._add(running)
        return running

    def at_work(self, paths: CreaturePaths | None = None) -> list[RunningStage]:
        """Stages that run or wait, oldest first; of one creature, or of all."""
        stages = [stage for unit in self._units for stage in unit.stages if stage.at_work]
        return [stage for stage in stages if paths is None or stage.paths == paths]

    def of(self, paths: CreaturePaths, stage_name: str, item: str | None = None) -> RunningStage | None:
        """The latest of this session that makes one thing, also when it has ended."""
        return self._latest.get((paths.root, paths.name, stage_name, item))

    def waits(self, running: RunningStage) -> bool:
        """Whether another run has to end first."""
        return running.word == "queued" and all(running not in unit.stages for unit in self._turn())

    def cancel(self, running: RunningStage) -> None:
        """Stop a stage, and of its plan what comes after it. One that waits is gone at once."""
        for unit in self._units:
            if running in unit.stages and running.at_work:
                unit.cancel(running)
        self._tell_ended()
        self.touch()

    def foreign(self, paths: CreaturePaths) -> list[JobWatch]:
        """Jobs of other processes on this creature, as of the last look of the timer."""
        key = (paths.root, paths.name)
        self._asked[key] = time.monotonic()
        if key not in self._foreign:
            self._foreign[key] = ForeignJobs(paths)
        return self._foreign[key].jobs

    def touch(self) -> None:
        """What a panel shows has changed."""
        self.changed += 1

    def open(self) -> None:
        """Let the timer run."""
        self._wake(_IDLE_EVERY_S)

    def close(self) -> None:
        """End everything; the stages stay resumable."""
        if bpy.app.timers.is_registered(self.timer):
            bpy.app.timers.unregister(self.timer)
        for unit in self._units:
            unit.close()
        for held in (self._units, self._latest, self._foreign, self._asked, self.ready):
            held.clear()
        self.pool.close()
        self.touch()

    def _add(self, unit: RunningRun | RunningPlan) -> RunningRun | RunningPlan:
        self._units.append(unit)
        for stage in unit.stages:
            self._latest[stage.key] = stage
        self.touch()
        self._wake(0.0)
        return unit

    def _wake(self, first_s: float) -> None:
        if bpy.app.timers.is_registered(self.timer):
            bpy.app.timers.unregister(self.timer)
        # persistent: loading a .blend leaves the stages running
        bpy.app.timers.register(self.timer, first_interval=first_s, persistent=True)

    def _tick(self) -> float:
        until = time.monotonic() + _BUDGET_S
        paces = [self._step(unit, until) for unit in self._turn()]
        self._tell_ended()
        for hook in (self._look_at_foreign, *self.each_tick):
            _guarded(hook)
        self._redraw.when_changed(self.changed)
        if "busy" in paces:
            return _BUSY_EVERY_S
        return _WORK_EVERY_S if self._units else _IDLE_EVERY_S

    def _turn(self) -> list[RunningRun | RunningPlan]:
        """Whose turn it is: the first of the queue, and all interactive ones."""
        batch = [unit for unit in self._units if not unit.interactive][:1]
        return [*(unit for unit in self._units if unit.interactive), *batch]

    def _step(self, unit: RunningRun | RunningPlan, until: float) -> Pace:
        before = _shown(unit)
        pace = unit.step(until)
        if _shown(unit) != before:
            self.touch()
        return pace

    def _tell_ended(self) -> None:
        ended = [stage for unit in self._units for stage in unit.stages if not (stage.at_work or stage.told)]
        self._units = [unit for unit in self._units if any(stage.at_work for stage in unit.stages)]
        for stage in ended:
            stage.told = True
            for hook in self.when_ended:
                _guarded(hook, stage)

    def _look_at_foreign(self) -> None:
        now = time.monotonic()
        for key, jobs in list(self._foreign.items()):
            if now - self._asked[key] > _FORGOTTEN_AFTER_S:
                del self._foreign[key], self._asked[key]
            elif jobs.look_every(_FOREIGN_EVERY_S):
                self.touch()


def _guarded(hook: Callable[..., None], *arguments: object) -> None:
    """A timer that raises is never called again, and all that is at work would stand still."""
    try:
        hook(*arguments)
    except Exception:
        traceback.print_exc()


def _shown(unit: RunningRun | RunningPlan) -> list[tuple[object, ...]]:
    return [(stage.word, stage.fraction, stage.note, stage.eta_s) for stage in unit.stages]


HOST = StageHost()
CLASSES: tuple[type, ...] = ()


def register() -> None:
    """Let the timer run."""
    HOST.open()


def unregister() -> None:
    """End what is at work; it stays resumable."""
    HOST.close()
