"""An environment with a CUDA build of torch for the worker, made in the background and never half finished in use."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path

from ..core.atomic import write_error
from .events import Event
from .job_folder import JobFolder
from .launch import PYTHON_VARIABLE
from .pool import Pool
from .step_run import StepRun

_FUNCTION = "jobs.worker_install:run"
_PIP_INDEXES = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS")


def setup_refusal(index: str, online: bool, offline_by_command_line: bool, system: str = sys.platform) -> str:
    """Why the environment cannot be made here and now, with the remedy; empty when it can.

    Args:
        index: address of a package index, or a folder of wheels, that has the CUDA build; empty = pip's own.
        online: Blender allows access to the internet.
        offline_by_command_line: it was started so that it never does.
    """
    if os.environ.get(PYTHON_VARIABLE):
        return f"{PYTHON_VARIABLE} is set and wins over the preferences. Start Blender without it."
    if system == "darwin":
        return "A Mac has no CUDA. Choose the device Metal: Blender's own worker uses it."
    if is_folder_of_wheels(index):
        return ""
    if not online and offline_by_command_line:
        return "Blender was started with --offline-mode. Start it without, or name a folder of wheels as package index."
    if not online:
        return "Switch on Preferences > System > Network > Allow Online Access, or name a folder of wheels."
    if system == "win32" and not index and not any(os.environ.get(name) for name in _PIP_INDEXES):
        return (
            "On Windows pip's own index has torch for the processor only. Enter the address of an index with CUDA "
            "builds as package index; PyTorch's page 'Get Started' names it."
        )
    return ""


def is_folder_of_wheels(index: str) -> bool:
    """Whether packages come from a folder, so that no internet is needed."""
    return bool(index) and Path(index).is_dir()


class WorkerSetup:
    """A setup at work. Iterate it: it yields event dicts, and None when there is nothing new, and never blocks.

    What was done stays when it is stopped, and the next one goes on from there. After the last event `python` is
    set, and `found` says its versions and device.

    Args:
        folder: of the extension's own; everything goes under it.
        index: see `setup_refusal`.
        base_python: whose version the environment gets.
        device: what the finished environment must be able to do.

    Raises (while iterating):
        BadInputError: the base Python cannot make environments, or the result has no CUDA.
        CancelledError: after `cancel()`.
        AnyMoCapError: pip failed.
    """

    def __init__(self, folder: Path, index: str = "", base_python: str = sys.executable, device: str = "cuda") -> None:
        self.folder = folder
        self.python: str | None = None
        self.found = ""
        self.job = JobFolder(folder / "job")
        self._settings = {"folder": str(folder), "index": index, "base_python": base_python, "device": device}
        self._cancelled = False
        self._pool = Pool()
        self._events = self._run()

    def __iter__(self) -> Iterator[Event | None]:
        return self._events

    def cancel(self) -> None:
        """Ask it to stop; go on iterating until CancelledError comes."""
        self._cancelled = True

    def close(self) -> None:
        """Stop it now."""
        self._events.close()

    def _run(self) -> Generator[Event | None, None, None]:
        try:
            self.job.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise write_error(self.job.path, error) from error
        request = {
            "stage": "setup_gpu_worker",
            "step": 0,
            "function": _FUNCTION,
            "package": "",
            "project": str(self.folder),
            "creature": "worker",
            "settings": self._settings,
            "outputs": [],
            "supersede": False,
        }
        run = StepRun(self._pool, self.job, "worker", request, 1, "batch", lambda: self._cancelled)
        try:
            yield from run
            self.python, self.found = str(run.results[0]["python"]), str(run.results[0]["found"])
        finally:
            self._pool.close()
