"""Warm workers: importing torch takes seconds, so a worker is kept for the next request."""

from __future__ import annotations

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
    """

    def __init__(self, warm_s: float = WARM_S) -> None:
        self._warm_s = warm_s
        self._idle: BackgroundProcess | None = None
        self._shared: BackgroundProcess | None = None

    def take(self, kind: Kind, log: Path, role: Role = "batch", threads: int | None = None) -> BackgroundProcess:
        """A process that takes a request."""
        if kind == "blender":
            return BackgroundProcess(kind, log, threads=threads)
        warm = self._shared if role == "interactive" else self._idle
        if role == "batch":
            self._idle = None
        if warm is None or warm.exit_code() is not None:
            warm = BackgroundProcess(kind, log, idle_s=self._warm_s, threads=threads)
        if role == "interactive":
            self._shared = warm
        return warm

    def give_back(self, process: BackgroundProcess) -> None:
        """Keep a process whose request has ended, when it can serve another."""
        process.request_ended()
        if process is self._shared or process.exit_code() is not None:
            return
        if process.kind == "worker" and self._idle is None:
            self._idle = process
        else:
            process.close()

    def close(self) -> None:
        """End the warm workers."""
        for process in (self._idle, self._shared):
            if process is not None:
                process.close()
        self._idle = self._shared = None
