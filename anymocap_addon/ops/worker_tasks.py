"""The check of the worker's Python and the setup of a GPU worker, stepped by a timer of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy

from ..core.errors import AnyMoCapError, CancelledError
from ..jobs.worker_check import WorkerCheck, WorkerReport
from ..jobs.worker_setup import WorkerSetup
from .preference_values import PreferenceValues, preference_values, stored_preferences, worker_environment

_STEP_EVERY_S = 0.25  # each step that shows something draws the preferences again
_SETUP_FOLDER = "gpu_worker"
Choice = tuple[str, str]


class WorkerTasks:
    """What is at work on the worker's Python, and what came of it in this session.

    Attributes:
        check, setup: at work now, else None.
        note, fraction: how far the setup is.
        setup_error: why the last setup ended without a worker.
        log: of the last setup.
    """

    def __init__(self) -> None:
        self.check: WorkerCheck | None = None
        self.setup: WorkerSetup | None = None
        self.note, self.fraction = "", 0.0
        self.setup_error: AnyMoCapError | None = None
        self.log: Path | None = None
        self.timer = self._tick
        self._report: WorkerReport | None = None
        self._asked: Choice = ("", "")

    def report(self, values: PreferenceValues) -> WorkerReport | None:
        """Result of the last check, unless interpreter or device were changed since."""
        return self._report if self._asked == _choice(values) else None

    def start_check(self) -> None:
        """Ask the interpreter that the preferences name; an older check is given up."""
        values = preference_values()
        if self.check is not None:
            self.check.close()
        self._asked, self._report = _choice(values), None
        self.check = WorkerCheck(values.worker_python, values.device, worker_environment())
        self._wake()

    def start_setup(self, own_folder: Path, index: str) -> None:
        """Make or complete the environment; it becomes the worker's when it is ready."""
        self.setup_error, self.note, self.fraction = None, "Starting", 0.0
        self.setup = WorkerSetup(own_folder / _SETUP_FOLDER, index, sys.executable)
        self.log = self.setup.job.log
        self._wake()

    def step(self) -> bool:
        """Take what is new without waiting; whether anything is still at work."""
        if self.check is not None:
            self._step_check(self.check)
        if self.setup is not None:
            self._step_setup(self.setup)
        return self.check is not None or self.setup is not None

    def close(self) -> None:
        """End what is at work; a setup goes on from there when it is started again."""
        if bpy.app.timers.is_registered(self.timer):
            bpy.app.timers.unregister(self.timer)
        for task in (self.check, self.setup):
            if task is not None:
                task.close()
        self.check = self.setup = None

    def _step_check(self, check: WorkerCheck) -> None:
        try:
            next(iter(check))
        except StopIteration:
            self._report, self.check = check.report, None

    def _step_setup(self, setup: WorkerSetup) -> None:
        try:
            for event in setup:
                if event is None:
                    return
                if event["event"] == "progress":
                    self.note, self.fraction = event["note"], event["fraction"]
        except CancelledError:
            self.note = "Stopped; the button goes on from there."
        except AnyMoCapError as error:
            self.note, self.setup_error = "", error
        else:
            self.note = ""
            self._use(setup)
        self.setup = None

    def _use(self, setup: WorkerSetup) -> None:
        preferences = stored_preferences()
        if preferences is not None and setup.python is not None:
            preferences.worker_python = setup.python
            bpy.context.preferences.is_dirty = True
            self.start_check()

    def _wake(self) -> None:
        if not bpy.app.background and not bpy.app.timers.is_registered(self.timer):
            bpy.app.timers.register(self.timer, first_interval=0.0, persistent=True)

    def _tick(self) -> float | None:
        at_work = self.step()
        redraw_preferences()
        return _STEP_EVERY_S if at_work else None


def _choice(values: PreferenceValues) -> Choice:
    return values.worker_python, values.device


def redraw_preferences() -> None:
    """Draw the preferences again wherever they are open."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "PREFERENCES":
                area.tag_redraw()


TASKS = WorkerTasks()
