"""A stage, or a plan of several, at work in this Blender: what the panel shows of it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from ..core.errors import AnyMoCapError, CancelledError
from ..core.project import CreaturePaths
from ..jobs.events import Event
from ..jobs.plan import PlanRun
from ..jobs.stage import Stage
from ..jobs.stage_run import StageRun

Word = Literal["queued", "running", "cancelling", "done", "failed", "cancelled"]
Pace = Literal["busy", "waiting", "ended"]
AT_WORK: tuple[Word, ...] = ("queued", "running", "cancelling")


class RunningStage:
    """One stage for one creature, clip or move.

    Attributes:
        run: None while an earlier stage of its plan is at work.
        plan: the plan that it belongs to, or None.
        word: how it stands.
        fraction: 0..1 of the whole stage.
        done, total, eta_s, note: of the step at work; eta_s in seconds, None when it cannot be told yet.
        error: why it failed.
        started: time.time() of its start; None while it waits.
        told: its end was told to those who wait for it.
    """

    def __init__(
        self,
        paths: CreaturePaths,
        stage: Stage,
        item: str | None,
        run: StageRun | None = None,
        plan: RunningPlan | None = None,
    ) -> None:
        self.paths, self.stage, self.item = paths, stage, item
        self.run, self.plan = run, plan
        self.word: Word = "queued"
        self.fraction, self.done, self.total = 0.0, 0.0, 0.0
        self.eta_s: float | None = None
        self.note = ""
        self.error: AnyMoCapError | None = None
        self.started: float | None = None
        self.told = False

    @property
    def key(self) -> tuple[Path, str, str, str | None]:
        """What it makes; two with one key make the same files."""
        return (self.paths.root, self.paths.name, self.stage.name, self.item)

    @property
    def at_work(self) -> bool:
        """Whether it runs or waits for its turn."""
        return self.word in AT_WORK

    @property
    def log(self) -> Path | None:
        """The job's log; None before it has begun."""
        return self.run.job.log if self.run is not None and self.run.job is not None else None

    def begin(self) -> None:
        """It is this stage's turn."""
        if self.word == "queued":
            self.word, self.started = "running", time.time()

    def take(self, event: Event) -> None:
        """Show what an event tells."""
        if event["event"] == "progress":
            self.fraction = event["fraction"]
            self.done, self.total = event["done"], event["total"]
            self.eta_s, self.note = event.get("eta_s"), event.get("note") or ""

    def end(self, error: AnyMoCapError | None = None) -> None:
        """It is over."""
        if error is None:
            self.word, self.fraction = "done", 1.0
        elif isinstance(error, CancelledError):
            self.word = "cancelled"
        else:
            self.word, self.error = "failed", error
        self.eta_s = None


class RunningRun:
    """One run as a unit of the queue."""

    def __init__(self, run: StageRun) -> None:
        self.stages = [RunningStage(run.paths, run.stage, run.item, run)]
        self.interactive = run.interactive
        self._run = run

    def step(self, until: float) -> Pace:
        """Take the events that are there now, until time.monotonic() passes `until` s."""
        self.stages[0].begin()
        pace, error = _take(self._run, self.stages[0].take, until)
        if pace == "ended":
            self.stages[0].end(error)
        return pace

    def cancel(self, stage: RunningStage) -> None:
        """Ask it to stop."""
        if stage.word == "queued":
            stage.end(CancelledError())
        else:
            stage.word = "cancelling"
            self._run.cancel()

    def close(self) -> None:
        """End it now."""
        self._run.close()


class RunningPlan:
    """A plan as a unit of the queue.

    Attributes:
        label: what the artist asked for.
        stages: one entry for each stage of the plan.
        applies: the motion is to be applied even when its fit turns out to be ready.
    """

    interactive = False

    def __init__(self, plan: PlanRun, label: str = "") -> None:
        self.plan, self.label, self.applies = plan, label, False
        self.stages = [
            RunningStage(plan.paths, plan.registry[planned.stage_name], planned.item, plan=self)
            for planned in plan.planned
        ]
        self._shown = 0

    @property
    def current(self) -> RunningStage | None:
        """The stage at work; None before the first and after the last."""
        return next((stage for stage in self.stages if stage.word in ("running", "cancelling")), None)

    @property
    def error(self) -> AnyMoCapError | None:
        """Why it stopped."""
        return next((stage.error for stage in self.stages if stage.error is not None), None)

    @property
    def at_work(self) -> bool:
        """Whether any of its stages runs or waits."""
        return any(stage.at_work for stage in self.stages)

    def step(self, until: float) -> Pace:
        """Take the events that are there now, until time.monotonic() passes `until` s."""
        self._follow()
        pace, error = _take(self.plan, self._take, until)
        self._follow()
        if pace == "ended":
            self._end(error)
        return pace

    def cancel(self, stage: RunningStage) -> None:
        """Stop at this stage: it and the ones after it are not run."""
        index = self.stages.index(stage)
        self.plan.cut(index)
        for later in self.stages[index:]:
            if later.word == "queued":
                later.end(CancelledError())
        if stage.word == "running":
            stage.word = "cancelling"
            self.plan.cancel()

    def close(self) -> None:
        """End it now."""
        self.plan.close()

    def _take(self, event: Event) -> None:
        self._follow()
        self.stages[self.plan.index].take(event)

    def _follow(self) -> None:
        """What the plan has passed is done; what it has come to runs."""
        for stage in self.stages[self._shown : self.plan.index]:
            stage.begin()
            stage.end()
        self._shown = self.plan.index
        if self._shown < len(self.stages):
            self.stages[self._shown].run = self.plan.current
            self.stages[self._shown].begin()

    def _end(self, error: AnyMoCapError | None) -> None:
        if self._shown < len(self.stages) and self.stages[self._shown].word != "cancelled":
            self.stages[self._shown].end(error)
        for stage in self.stages:
            if stage.word == "queued":
                stage.end(CancelledError())


def _take(events: StageRun | PlanRun, take: Callable[[Event], None], until: float) -> tuple[Pace, AnyMoCapError | None]:
    """Feed events to `take` until there is none, `until` has passed, or the run has ended."""
    feed: Iterator[Event | None] = iter(events)
    try:
        for event in feed:
            if event is None:
                return "waiting", None
            take(event)
            if time.monotonic() > until:
                return "busy", None
    except AnyMoCapError as error:
        return "ended", error
    except Exception as error:  # a timer that raises is never called again: all else at work would stand still
        traceback.print_exc()
        return "ended", AnyMoCapError(
            f"{type(error).__name__}: {error}", hint="This is a fault of AnyMoCap; the system console has the details."
        )
    return "ended", None
