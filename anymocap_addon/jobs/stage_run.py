"""A stage at work: checks, background processes, record. The one way in which stages are run."""

from __future__ import annotations

import shutil
import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.errors import AnyMoCapError, BadInputError, CancelledError
from ..core.file_mark import hashing, mark_file
from ..core.project import CreaturePaths, Project
from ..core.stage_context import StageContext
from ..core.stage_record import StageRecord, load_record, save_record
from .cores import process_count
from .events import Event
from .job_folder import JobFolder
from .launch import Kind
from .pool import Pool, Role
from .registry import REGISTRY
from .running_here import RUNNING_HERE, still_runs
from .serving import versions
from .setting_paths import absolute_paths, portable_paths
from .stage import Registry, Stage, Step, load_function
from .start_lock import start_lock
from .state import STAGE_VERSION, creature_values, own_staleness, stage_state, unsure_files
from .step_run import StepRun

_PACKAGE = __package__.rpartition(".")[0]


@dataclass(frozen=True)
class StageResult:
    """What a finished stage leaves.

    Attributes:
        skipped: it was ready, nothing was done.
        figures: what its steps returned, merged; a sharded step's under "shards".
    """

    stage: str
    skipped: bool
    figures: dict[str, Any]
    seconds: float
    outputs: list[Path]


class StageRun:
    """One run of one stage. Iterate it: it yields event dicts, and None when there is nothing new, and never blocks.

    Events are those of the protocol; "progress" carries the stage's whole `fraction` (0..1) besides `done`, `total`,
    `eta_s` and `note` of the step at work; "busy" says that there is more to do at once. After the
    last event `result` is set.

    Args:
        settings: by name; what is left out takes its default.
        force: run although the result is ready.
        here: this process is a Blender that may do the "here" steps itself; they block.
        role: which warm worker serves it; an interactive request supersedes the one before.

    Raises (while iterating):
        BadInputError: a setting or an input is wrong or missing.
        CancelledError: after `cancel()`.
        AnyMoCapError: the stage failed.
    """

    def __init__(
        self,
        paths: CreaturePaths,
        stage: Stage,
        settings: dict[str, Any],
        *,
        pool: Pool,
        registry: Registry = REGISTRY,
        force: bool = False,
        here: bool = False,
        role: Role = "batch",
    ) -> None:
        self.paths, self.stage, self.registry = paths, stage, registry
        self.settings = portable_paths(stage, stage.check(settings), paths.root)
        self.item = stage.item(self.settings)
        self.result: StageResult | None = None
        self.job: JobFolder | None = None
        self._pool, self._force, self.here, self._role = pool, force, here, role
        self._cancelled = False
        self._key = (paths.root, paths.name, stage.name, self.item)
        self._events = self._run()

    def __iter__(self) -> Iterator[Event | None]:
        return self._events

    @property
    def interactive(self) -> bool:
        """Whether it runs at once, beside what is at work."""
        return self._role == "interactive"

    def cancel(self) -> None:
        """Ask it to stop; go on iterating until CancelledError comes."""
        self._cancelled = True

    def close(self) -> None:
        """Stop it now: its processes are killed, the stage stays resumable."""
        self._events.close()

    def _run(self) -> Generator[Event | None, None, None]:
        yield from self._hashed(self._inputs())
        yield from self._hashed(unsure_files(self.registry, self.paths, self.stage, self.settings))
        if not self._force:
            state = stage_state(self.registry, self.paths, self.stage, self.item, self.settings)
            if state.word == "ready" and state.record is not None and not state.record.cleaned:
                figures, outputs = state.record.result, self._outputs()
                self.result = StageResult(self.stage.name, True, figures, state.record.seconds, outputs)
                return
        self._check_inputs()
        began = time.monotonic()
        release = yield from start_lock(self.paths.stage_record(self.stage.name, self.item))
        try:
            former, record = self._begin()
        finally:
            release()
        # A resumed stage has also cost what it took before it was stopped.
        spent_s = former.seconds if former is not None and former.outcome == "cancelled" else 0.0
        try:
            yield self._busy()
            yield from self._steps(record)
            yield from self._hashed([*self._outputs(), *self._inputs()])
            record.seconds = round(spent_s + time.monotonic() - began, 3)
            self._finish(record)
        except BaseException as error:
            record.seconds = round(spent_s + time.monotonic() - began, 3)
            self._fail(record, error)
            raise

    def _begin(self) -> tuple[StageRecord | None, StageRecord]:
        """Say that the stage runs. Returns the record of the run that is gone on with, if any, and that of this one."""
        former = load_record(self.paths, self.stage.name, self.item)
        self._check_not_running(former)
        self._check_not_foreign(former)
        resumed = former is not None and self._resumes(former)
        if not resumed:
            self._forget_partial()
        return former if resumed else None, self._begin_record()

    def _hashed(self, paths: Iterable[Path]) -> Iterator[Event]:
        """Hash files bit by bit: a window stays live over hundreds of megabytes."""
        for _ in hashing(paths):
            yield self._busy()
        yield self._busy()

    def _busy(self) -> Event:
        return {"event": "busy", "stage": self.stage.name}

    def _outputs(self) -> list[Path]:
        return self.stage.outputs(self.paths, self.settings)

    def _check_inputs(self) -> None:
        for path in self.stage.inputs(self.paths, self.settings):
            if path.exists():
                continue
            makers = [
                stage.name
                for stage in self.registry.upstream(self.stage, self.paths, self.settings)
                if path in stage.outputs(self.paths, stage.item_settings(self.item))
            ]
            hint = f"Run the stage '{makers[-1]}' first." if makers else "Check the path."
            raise BadInputError(f"{self.stage.name} needs this file, which does not exist.", file=path, hint=hint)

    def _check_not_running(self, former: StageRecord | None) -> None:
        if former is None or self._force or not still_runs(self.paths, former):
            return
        at_work = RUNNING_HERE.get(self._key)
        if at_work is not None and at_work._role == self._role == "interactive":
            return
        raise AnyMoCapError(
            f"{self.stage.name} is already running (process {former.pid}).",
            hint="Wait for its end, or cancel it there. If it is another program that runs there now, use --force.",
        )

    def _check_not_foreign(self, former: StageRecord | None) -> None:
        """A mesh or a prompt that the artist put there is not written over by a stage that makes one."""
        if former is not None or self.stage.automatic or self._force:
            return
        for path in self._outputs():
            if path.exists():
                raise BadInputError(
                    f"{self.stage.name} would write over this file, which it did not make.",
                    file=path,
                    hint="Choose another name, or use --force.",
                )

    def _resumes(self, former: StageRecord) -> bool:
        """Unfinished work is resumed only when it was for the same inputs and settings."""
        changed = own_staleness(self.stage, self.paths, former, self.settings, with_outputs=False)
        return changed is None and not self._force

    def _forget_partial(self) -> None:
        for path in self.stage.partial(self.paths, self.settings):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def _inputs(self) -> list[Path]:
        inputs = self.stage.inputs(self.paths, self.settings)
        inputs += self.stage.optional_inputs(self.paths, self.settings)
        return [path for path in inputs if path.exists()]

    def _begin_record(self) -> StageRecord:
        record = StageRecord(
            stage=self.stage.name,
            outcome="running",
            clip=self.item,
            settings={**self.stage.recorded(self.settings), **creature_values(self.stage, self.paths)},
            inputs=[mark_file(path, self.paths.root) for path in self._inputs()],
            versions={**versions(), STAGE_VERSION: str(self.stage.version)},
            started=time.strftime("%Y-%m-%dT%H:%M:%S"),
        )
        save_record(self.paths, record)
        details = {"item": self.item, "settings": self.settings, "project": str(self.paths.root)}
        self.job = JobFolder.create(self.paths, self.stage.name, details)
        RUNNING_HERE[self._key] = self
        return record

    def _steps(self, record: StageRecord) -> Iterator[Event | None]:
        whole = sum(step.weight for step in self.stage.steps)
        before = 0.0
        for number, step in enumerate(self.stage.steps):
            step_began = time.monotonic()
            for event in self._step(number, step, record):
                yield self._with_fraction(event, before / whole, step.weight / whole)
            before += step.weight
            record.step_seconds[step.function] = round(time.monotonic() - step_began, 3)

    def _with_fraction(self, event: Event | None, base: float, share: float) -> Event | None:
        if event is None:
            return None
        event = {**event, "stage": self.stage.name}
        if event["event"] == "progress":
            event["fraction"] = base + share * event["fraction"]
        return event

    def _step(self, number: int, step: Step, record: StageRecord) -> Iterator[Event | None]:
        if step.where == "here" and self.here:
            yield from self._step_here(step, record)
            return
        job = self.job
        assert job is not None
        shards = process_count(self.settings.get("processes", 0)) if step.sharded else 1
        request = {
            "stage": self.stage.name,
            "step": number,
            "function": step.function,
            "package": step.package,
            "project": str(self.paths.root),
            "creature": self.paths.name,
            "settings": absolute_paths(self.stage, self.settings, self.paths.root),
            "outputs": [str(path) for path in self._outputs()],
            "supersede": self._role == "interactive",
        }
        kind: Kind = "worker" if step.where == "worker" else "blender"
        run = StepRun(self._pool, job, kind, request, shards, self._role, lambda: self._cancelled)
        yield from run
        record.result.update({"shards": run.results} if step.sharded else run.results[0])

    def _step_here(self, step: Step, record: StageRecord) -> Iterator[Event | None]:
        events: list[Event] = []
        context = StageContext(
            project=Project(self.paths.root),
            paths=self.paths,
            settings=absolute_paths(self.stage, self.settings, self.paths.root),
            report=events.append,
            cancelled=lambda: self._cancelled,
        )
        record.result.update(load_function(step.function, step.package or _PACKAGE)(context) or {})
        for event in events:
            if event["event"] == "progress":
                event = {**event, "fraction": event["done"] / (event["total"] or 1)}
            yield event

    def _finish(self, record: StageRecord) -> None:
        outputs = self._outputs()
        for path in outputs:
            if not path.exists():
                raise AnyMoCapError(
                    f"{self.stage.name} ended without writing this file.",
                    file=path,
                    hint=f"This is a fault of the stage; its log: {self.job.log if self.job else ''}",
                )
        marked = {mark.path for mark in record.inputs}
        own = [mark_file(path, self.paths.root) for path in self._inputs()]
        # What the stage itself made (prep writes the first creature.json, rig adds paint) counts as it made it.
        record.inputs += [mark for mark in own if mark.path not in marked]
        record.settings = {**self.stage.recorded(self.settings), **creature_values(self.stage, self.paths)}
        record.outputs = [mark_file(path, self.paths.root) for path in outputs]
        record.outcome = "done"
        self._end(record)
        self.result = StageResult(self.stage.name, False, record.result, record.seconds, outputs)

    def _fail(self, record: StageRecord, error: BaseException) -> None:
        stopped = isinstance(error, CancelledError | GeneratorExit | KeyboardInterrupt)
        record.outcome = "cancelled" if stopped else "failed"
        if not stopped:
            record.error = {"kind": type(error).__name__, "message": str(error)}
        self._end(record)

    def _end(self, record: StageRecord) -> None:
        moved_away = self.job is not None and not self.job.path.is_dir()  # do not begin a project anew in its old place
        if RUNNING_HERE.get(self._key) is self:  # else a newer request has superseded this one, and the record is its
            del RUNNING_HERE[self._key]
            if not moved_away:
                save_record(self.paths, record)
        if self.job is not None and not moved_away:
            self.job.update(state=record.outcome)
