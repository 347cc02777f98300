"""Jobs of other processes on the same creature (a command line, a second Blender), seen through their job folders."""

from __future__ import annotations

import os
import time
from typing import Any

from ..core.project import CreaturePaths
from .events import Event, EventTail
from .job_folder import JobFolder
from .registry import REGISTRY
from .stage import Registry


class JobWatch:
    """One such job.

    Attributes:
        stage: name of the stage; item: clip or move, or None.
        fraction: 0..1 of the whole stage; eta_s: seconds left of the step at work, None when it cannot be told.
        note: what it does; pid: the process that runs it.
    """

    def __init__(self, folder: JobFolder, described: dict[str, Any], registry: Registry = REGISTRY) -> None:
        self.folder = folder
        self.stage = str(described.get("stage", ""))
        self.item: str | None = described.get("item")
        self.pid = int(described.get("host_pid", 0))
        self.fraction = 0.0
        self.eta_s: float | None = None
        self.note = ""
        steps = registry[self.stage].steps if self.stage in registry else ()
        self._weights = [step.weight for step in steps] or [1.0]
        self._step = 0
        self._tails: dict[str, EventTail] = {}
        self._shares: dict[str, float] = {}

    def look(self) -> bool:
        """Take the events since the last look; whether there were any."""
        events = [(name, event) for name, tail in self._known_tails().items() for event in tail.read()]
        for name, event in events:
            self._take(name, event)
        share = sum(self._shares.values()) / max(1, len(self._shares))
        done = sum(self._weights[: self._step]) + share * self._weights[self._step]
        self.fraction = min(1.0, done / sum(self._weights))
        return bool(events)

    def _known_tails(self) -> dict[str, EventTail]:
        for path in self.folder.event_files():
            self._tails.setdefault(path.name, EventTail(path))
        return self._tails

    def _take(self, name: str, event: Event) -> None:
        try:
            self._follow(name, event)
        except (KeyError, TypeError, ValueError):
            return  # not as this version writes it: the job is then followed as far as it can be

    def _follow(self, name: str, event: Event) -> None:
        if event["event"] == "hello":
            step = min(max(int(event.get("step", 0)), 0), len(self._weights) - 1)
            if step != self._step:
                self._step, self._shares = step, {}
            self._shares[name] = 0.0
        elif event["event"] == "progress":
            self._shares[name] = event["done"] / event["total"] if event["total"] else 0.0
            self.eta_s, self.note = event.get("eta_s"), event.get("note") or ""
        elif event["event"] == "done":
            self._shares[name] = 1.0


class ForeignJobs:
    """The jobs of other processes on one creature.

    Attributes:
        jobs: those that run, oldest first, as of the last look.
    """

    def __init__(self, paths: CreaturePaths, registry: Registry = REGISTRY) -> None:
        self.jobs: list[JobWatch] = []
        self._paths, self._registry = paths, registry
        self._ended: set[str] = set()  # ours, and those that will never run again
        self._last = 0.0

    def look_every(self, seconds: float) -> bool:
        """Look, unless the last look was less than `seconds` ago; whether anything has changed."""
        now = time.monotonic()
        if now - self._last < seconds:
            return False
        self._last = now
        return self.look()

    def look(self) -> bool:
        """Look into the job folders; whether anything has changed."""
        known = {watch.folder.id: watch for watch in self.jobs}
        running = [watch for name in self._candidates() if (watch := self._watch(name, known))]
        moved = [watch.look() for watch in running]
        gone = {watch.folder.id for watch in running} != set(known)
        self.jobs = running
        return gone or any(moved)

    def _candidates(self) -> list[str]:
        folder = self._paths.jobs
        return sorted({entry.name for entry in folder.iterdir()} - self._ended) if folder.is_dir() else []

    def _watch(self, name: str, known: dict[str, JobWatch]) -> JobWatch | None:
        folder = JobFolder(self._paths.jobs / name)
        described = folder.read()
        if not described:
            return None  # being made just now, or no job
        if described.get("host_pid") == os.getpid() or not folder.is_running():
            self._ended.add(name)
            return None
        return known.get(name) or JobWatch(folder, described, self._registry)
