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

    Plain Python workers stay warm, one for batch stages and one for interactive refits. A background Blender serves
    one request: what a stage leaves in it must not reach the next.
    """

    def __init__(self, warm_s: float = WARM_S) -> None:
        self._warm_s = warm_s
        self._idle: dict[Role, BackgroundProcess] = {}

    def take(self, kind: Kind, log: Path, role: Role = "batch", threads: int | None = None) -> BackgroundProcess:
        """A process that is ready for a request."""
        if kind == "blender":
            return BackgroundProcess(kind, log, threads=threads)
        process = self._idle.pop(role, None)
        if process is not None and process.exit_code() is None:
            return process
        return BackgroundProcess(kind, log, idle_s=self._warm_s, threads=threads)

    def give_back(self, process: BackgroundProcess, role: Role = "batch") -> None:
        """Keep a process whose request has ended, when it can serve another."""
        if process.exit_code() is not None:
            return
        if process.kind == "worker" and role not in self._idle:
            process.request_ended()
            self._idle[role] = process
        else:
            process.close()

    def close(self) -> None:
        """End the idle workers."""
        for process in self._idle.values():
            process.close()
        self._idle.clear()
