"""One step of a stage at work in one or several background processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.errors import AnyMoCapError, BadInputError, CancelledError
from .cores import usable_cores
from .events import EXIT_DISK_FULL, Event, EventTail
from .job_folder import JobFolder
from .launch import Kind
from .pool import Pool, Role
from .process import BackgroundProcess

_AGAIN = "Run it again: it goes on from its last save."
# By number, the same on Linux and macOS; Windows' signal module does not name all of them.
_SIGNALS = {
    4: "crashed (illegal instruction, signal 4)",
    6: "crashed (it aborted itself, signal 6)",
    8: "crashed (arithmetic error, signal 8)",
    9: "was killed by signal 9 (by hand, or by the system when memory ran out)",
    11: "crashed (segmentation fault, signal 11)",
    15: "was ended by signal 15 (by hand or by the system)",
}
_LAST_WORDS_S = 3.0  # a Blender that has reported its end gets this long to exit


class WorkerError(AnyMoCapError):
    """A step ended with an error that is no fault of the input.

    Attributes:
        kind: kind of the error event: failed, internal, crash.
        log: the job's log.
    """

    def __init__(self, event: Event, log: Path) -> None:
        self.kind = event["kind"]
        self.log = log
        hint = event.get("hint") or ""
        super().__init__(event["message"], file=event.get("file"), key=event.get("key"), hint=hint)


def error_from(event: Event, log: Path) -> AnyMoCapError:
    """The exception that an error event stands for."""
    if event["kind"] == "superseded":
        return CancelledError("Superseded by a newer request.")
    if event["kind"] == "cancelled":
        return CancelledError(event["message"], event.get("hint") or "")
    if event["kind"] == "orphaned":
        return CancelledError()
    if event["kind"] == "bad_input":
        return BadInputError(
            event["message"], file=event.get("file"), key=event.get("key"), hint=event.get("hint") or ""
        )
    return WorkerError(event, log)


@dataclass
class Part:
    """One process's share of a step."""

    process: BackgroundProcess
    request: dict[str, Any]
    tail: EventTail
    fraction: float = 0.0
    progress: Event = field(default_factory=dict)
    last: Event | None = None
    ended_at: float | None = None
    heard: bool = False

    def poll(self, log: JobFolder) -> list[Event]:
        """New events; `last` is set when the request has ended in whatever way."""
        gone = self.process.exit_code()  # before reading: what it wrote until then is read below
        events = self.tail.read()
        for event in events:
            self.heard = True
            if event["event"] in ("done", "error"):
                self.last = event
            elif event["event"] == "progress":
                self.progress = event
                self.fraction = event["done"] / event["total"] if event["total"] else 0.0
        if self.last is None and gone is not None:
            self.last = _crash(gone, log)
        if self.last is None and not events and not log.path.is_dir():
            self.process.kill()  # its events go where nobody can read them
            self.last = _moved_away(log)
        if self.last is not None and self.ended_at is None:
            self.ended_at = time.monotonic()
        return events

    @property
    def left_too_early(self) -> bool:
        """A warm worker left, as idle ones do, just when the request was sent."""
        return not self.heard and self.process.exit_code() == 0

    def has_settled(self) -> bool:
        """The request has ended and a process for one request only is gone."""
        if self.last is None:
            return False
        if self.process.kind == "worker" or self.process.exit_code() is not None:
            return True
        if time.monotonic() - (self.ended_at or 0.0) > _LAST_WORDS_S:
            self.process.kill()
        return False


def _crash(code: int, job: JobFolder) -> Event:
    if code == EXIT_DISK_FULL:
        message, hint = "The disk is full (or a quota is reached).", "Free some space and run the stage again."
        return {"event": "error", "kind": "failed", "message": message, "hint": hint, "file": str(job.path)}
    message = f"The background process {_bad_end(code)}."
    lines = job.last_log_lines()
    if lines:
        message += f" Last lines of its log:\n{lines}\n"
    return {"event": "error", "kind": "crash", "message": message, "hint": f"{_AGAIN} The whole log: {job.log}"}


def _bad_end(code: int) -> str:
    """What an exit code says; a negative one is the signal that ended it."""
    if code >= 0:
        return f"ended without a word (exit code {code})"
    return _SIGNALS.get(-code, f"was ended by signal {-code}")


def _moved_away(job: JobFolder) -> Event:
    message = "The project was moved, renamed or deleted while the stage was at work."
    hint = "Choose the project folder where it lies now, and run the stage again: it resumes."
    return {"event": "error", "kind": "failed", "message": message, "hint": hint, "file": str(job.path)}


class StepRun:
    """Runs a step; iterating polls it once a round and never blocks.

    Args:
        request: what every process is asked, without id, shard, events and log.
        shards: number of processes.
        cancelled: asked at each round.
    """

    def __init__(
        self,
        pool: Pool,
        job: JobFolder,
        kind: Kind,
        request: dict[str, Any],
        shards: int,
        role: Role,
        cancelled: Callable[[], bool],
    ) -> None:
        self._pool, self._job, self._kind, self._role = pool, job, kind, role
        self._request, self._shards, self._cancelled = request, shards, cancelled
        self.parts: list[Part] = []
        self.results: list[dict[str, Any]] = []

    def __iter__(self) -> Iterator[Event | None]:
        """Events of the processes with merged progress; None when there is nothing new.

        Raises:
            CancelledError: cancelled, after all processes have ended.
            BadInputError, WorkerError: a process reported it; the others were cancelled first.
        """
        try:
            self.parts.extend(self._start(shard) for shard in range(self._shards))
            self._note_processes()
            while not all(part.has_settled() for part in self.parts):
                yield from self._round()
            self._collect()
        finally:
            self._release()

    def _round(self) -> Iterator[Event | None]:
        quiet = True
        for index, part in enumerate(self.parts):
            for event in part.poll(self._job):
                quiet = False
                yield self._merged() if event["event"] == "progress" else {**event, "shard": index}
            if part.last is not None and part.left_too_early:
                self.parts[index] = self._start(index)
                self._note_processes()
        failed = any(part.last is not None and part.last["event"] == "error" for part in self.parts)
        if failed or self._cancelled():
            for part in self.parts:
                if part.last is None:
                    part.process.cancel(part.request["id"])
        if quiet:
            yield None

    def _start(self, shard: int) -> Part:
        threads = max(1, usable_cores() // self._shards) if self._shards > 1 else None
        process = self._pool.take(self._kind, self._job.log, self._role, threads)
        request = {
            **self._request,
            "op": "run",
            "id": f"{self._job.id}/{self._request['step']}/{shard}",
            "shard": [shard, self._shards],
            "events": str(self._job.events(shard)),
            "log": str(self._job.log),
        }
        tail = EventTail(self._job.events(shard))
        tail.read()  # events of the steps before
        process.send(request)
        if self._kind == "blender":
            process.leave()
        return Part(process, request, tail)

    def _note_processes(self) -> None:
        processes = [
            {"pid": part.process.pid, "step": self._request["step"], "shard": part.request["shard"][0]}
            for part in self.parts
        ]
        self._job.update(processes=processes)

    def _merged(self) -> Event:
        latest = [part.progress for part in self.parts if part.progress]
        etas = [float(event["eta_s"]) for event in latest if event.get("eta_s") is not None]
        return {
            "event": "progress",
            "done": sum(event["done"] for event in latest),
            "total": sum(event["total"] for event in latest),
            "fraction": sum(part.fraction for part in self.parts) / len(self.parts),
            "eta_s": max(etas) if len(etas) == len(latest) else None,
            "note": latest[-1].get("note", ""),
        }

    def _collect(self) -> None:
        errors = [part.last for part in self.parts if part.last is not None and part.last["event"] == "error"]
        # A part that was cancelled because another failed is not the reason.
        real = [error for error in errors if error["kind"] != "cancelled"]
        if errors and self._cancelled():
            raise CancelledError()
        if errors:
            raise error_from((real or errors)[0], self._job.log)
        self.results = [part.last["result"] for part in self.parts if part.last is not None]

    def _release(self) -> None:
        for part in self.parts:
            if part.last is None:
                part.process.kill()
            else:
                self._pool.give_back(part.process)
