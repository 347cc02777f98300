"""Warm workers: importing torch takes seconds, so a worker is kept for the next request."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from .launch import Kind
from .process import BackgroundProcess

Role = Literal["batch", "interactive"]
WARM_S = 300.0


class Pool:
    """Background processes of one host.

    Plain Python workers stay warm. A batch request has its worker for itself. Interactive requests share one, also
    while it is at work: the newer request supersedes the older one there. A background Blender serves one request:
    what a stage leaves in it must not reach the next.

    Args:
        warm_s: how long a worker without work stays.
        worker_python: asked for each request: the worker's interpreter, empty = this process's own.
        environment: asked for each request: variables that workers get besides ours.
        polite: they give way to whatever else wants the cores.
    """

    def __init__(
        self,
        warm_s: float = WARM_S,
        *,
        worker_python: Callable[[], str] = str,
        environment: Callable[[], dict[str, str]] = dict,
        polite: bool = False,
    ) -> None:
        self.worker_python = worker_python
        self.environment = environment
        self._polite = polite
        self._warm_s = warm_s
        self._idle: BackgroundProcess | None = None
        self._shared: BackgroundProcess | None = None
        self._outdated: list[BackgroundProcess] = []

    def take(self, kind: Kind, log: Path, role: Role = "batch", threads: int | None = None) -> BackgroundProcess:
        """A process that takes a request."""
        if kind == "blender":
            return BackgroundProcess(kind, log, threads=threads, environment=self.environment(), polite=self._polite)
        python, environment = self.worker_python(), self.environment()
        warm = self._shared if role == "interactive" else self._idle
        if role == "batch":
            self._idle = None
        if warm is not None and (warm.exit_code() is not None or not warm.started_with(python, environment)):
            self._dismiss(warm)
            warm = None
        if warm is None:
            warm = BackgroundProcess(kind, log, self._warm_s, threads, python, environment, self._polite)
        if role == "interactive":
            self._shared = warm
        return warm

    def give_back(self, process: BackgroundProcess) -> None:
        """Keep a process whose request has ended, when it can serve another."""
        process.request_ended()
        if process is self._shared or process in self._outdated or process.exit_code() is not None:
            return
        if process.kind == "worker" and self._idle is None:
            self._idle = process
        else:
            process.close()

    def close(self) -> None:
        """End the warm workers."""
        for process in (self._idle, self._shared, *self._outdated):
            if process is not None:
                process.close()
        self._idle = self._shared = None
        self._outdated.clear()

    def _dismiss(self, process: BackgroundProcess) -> None:
        """Let a worker of former preferences end what it does, without waiting here: a window must not freeze."""
        self._outdated = [other for other in self._outdated if other.exit_code() is None]
        if process.exit_code() is None:
            process.leave()
            self._outdated.append(process)
