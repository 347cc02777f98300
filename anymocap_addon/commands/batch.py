"""`batch`: many creatures and clips from one TOML file; what fails is noted and the rest goes on."""

from __future__ import annotations

import sys
import time
import traceback
from pathlib import Path
from typing import Any

from ..core.errors import AnyMoCapError, CancelledError
from ..core.stage_record import load_record
from ..jobs.batch_file import Batch, BatchEntry, BatchStep, load_batch
from ..jobs.batch_result import GOOD, BatchRow, Outcome, as_data, result_files, write_results
from ..jobs.pool import Pool
from ..jobs.stage import Registry
from ..jobs.stage_run import StageRun
from ..jobs.state import last_settings
from .batch_plan import plan
from .batch_table import print_plan, print_rows
from .drive import drive

GATE = "gate"
_Key = tuple[str, str, str | None]  # creature, stage, item


def batch(registry: Registry, file: Path, pool: Pool, dry_run: bool = False) -> dict[str, Any]:
    """Go through a batch file, or show what it would do.

    The results are written beside the file after each entry, so that a night that ends early leaves its table.

    Returns:
        The content of <name>.batch.json with `ok`; of a dry run `ok` and the `plan`.

    Raises:
        BadInputError: the file is wrong; nothing was run.
        AnyMoCapError: the results cannot be written beside it.
    """
    checked = load_batch(file, registry)
    planned = plan(registry, checked)
    if dry_run:
        print_plan(checked, planned)
        return {"ok": True, "project": str(checked.project.root), "plan": planned}
    for row in planned:
        if row["missing_file"]:  # said while somebody is still there to see it; it may be there when its turn comes
            print(f"warning: {row['missing_file']} does not exist yet", file=sys.stderr, flush=True)
    run = _BatchRun(registry, checked, pool)
    run.save()  # a folder that can't be written is found before the night, not after it
    outcome = run.run()
    data = run.save()
    print_rows(run.rows)
    for path in result_files(checked):
        print(path)
    return {"ok": outcome == "done", **data}


class _BatchRun:
    def __init__(self, registry: Registry, checked: Batch, pool: Pool) -> None:
        self._registry, self._batch, self._pool = registry, checked, pool
        self._began = time.monotonic()
        self._started = time.strftime("%Y-%m-%dT%H:%M:%S")
        self._outcome: Outcome = "running"
        self._missing: set[_Key] = set()  # what failed or was blocked
        self.rows = [BatchRow(entry.paths.name, entry.clip) for entry in checked.entries]

    def run(self) -> Outcome:
        """Go through all entries; the user's Ctrl-C ends it, any other failure only its own entry."""
        try:
            for entry, row in zip(self._batch.entries, self.rows):
                self._entry(entry, row)
                self._save_or_warn()
        except (CancelledError, KeyboardInterrupt):
            self._outcome = "stopped"
            return self._outcome
        self._outcome = "done" if all(row.state in GOOD for row in self.rows) else "failed"
        return self._outcome

    def save(self) -> dict[str, Any]:
        """Write the results as they are now and return them."""
        data = as_data(self._batch, self.rows, self._outcome, self._started, time.monotonic() - self._began)
        write_results(self._batch, data)
        return data

    def _save_or_warn(self) -> None:
        try:
            self.save()
        except AnyMoCapError as error:  # the work is worth more than its table, which is written once more at the end
            print(f"warning: {error}", file=sys.stderr, flush=True)

    def _entry(self, entry: BatchEntry, row: BatchRow) -> None:
        began = time.monotonic()
        row.state = "running"
        returned: dict[str, Any] = {}
        at_work = ""
        try:
            for step in entry.steps:
                at_work = step.stage.name
                self._step(entry, step, row, returned)
        except (CancelledError, KeyboardInterrupt):
            row.state, row.stage, row.message = "stopped", at_work, "Stopped. Run the batch again to go on from here."
            raise
        finally:
            row.take_figures(returned)
            row.seconds = round(time.monotonic() - began, 1)
        if row.state == "running":
            row.state = "done" if row.ran else "ready"
            row.note_doubts(returned)

    def _step(self, entry: BatchEntry, step: BatchStep, row: BatchRow, returned: dict[str, Any]) -> None:
        name = step.stage.name
        run = None
        try:
            settings = {**last_settings(step.stage, load_record(entry.paths, name, step.item)), **step.given}
            run = StageRun(entry.paths, step.stage, settings, pool=self._pool, registry=self._registry)
            blocker = self._blocker(entry, step, run.settings)
            if blocker:
                self._note(entry, step, row, "blocked", f"needs {blocker}, which failed")
                return
            result = drive(run, f"{entry.title} {name}")
        except CancelledError:
            raise
        except AnyMoCapError as error:
            self._note(entry, step, row, "failed", str(error), run)
        except Exception as error:  # one entry's fault, also one that is AnyMoCap's own, must not end the night
            traceback.print_exc()
            self._note(entry, step, row, "failed", f"{type(error).__name__}: {error}", run)
        else:
            returned[name] = result.figures
            row.ran += [] if result.skipped else [name]

    def _blocker(self, entry: BatchEntry, step: BatchStep, settings: dict[str, Any]) -> str:
        filmed = entry.take_of and entry.clip and entry.paths.clip(entry.clip).source.exists()
        if entry.take_of and not filmed and (entry.paths.name, "film", entry.take_of) in self._missing:
            return "film"
        if step.stage.name != GATE and (entry.paths.name, GATE, step.item) in self._missing:
            return GATE  # a clip that is refused is not read, although the gate makes nothing that reading reads
        for upstream in self._registry.upstream(step.stage, entry.paths, settings):
            item = None if upstream.per == "creature" else step.item
            if (entry.paths.name, upstream.name, item) in self._missing:
                return upstream.name
        return ""

    def _note(
        self, entry: BatchEntry, step: BatchStep, row: BatchRow, state: Any, message: str, run: StageRun | None = None
    ) -> None:
        """Remember that a stage has no result; the first reason of an entry is the one that is shown."""
        self._missing.add((entry.paths.name, step.stage.name, step.item))
        if row.state == "failed" or row.state == state:
            return
        row.state, row.stage, row.message = state, step.stage.name, message
        row.log = str(run.job.log) if run is not None and run.job is not None else ""
        print(f"    {entry.title}: {message}", file=sys.stderr, flush=True)
