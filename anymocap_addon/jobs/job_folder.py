"""Job folders: runs/<c>/jobs/<id>/ with job.json, events*.jsonl and log.txt."""

from __future__ import annotations

import json
import os
import shutil
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.atomic import write_error, write_json
from ..core.project import CreaturePaths
from ..core.version import VERSION
from .alive import process_alive

SCHEMA = "anymocap.job/1"
_KEPT = 40


@dataclass(frozen=True)
class JobFolder:
    """The folder of one run of one stage; it stays for a post-mortem."""

    path: Path

    @classmethod
    def create(cls, paths: CreaturePaths, stage: str, details: dict[str, Any]) -> JobFolder:
        """Make a new folder and its job.json.

        Args:
            details: what was asked: settings, item, project.

        Raises:
            AnyMoCapError: the disk is full or the folder cannot be written.
        """
        now = time.time()
        stamp = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(now))}.{int(now * 1000) % 1000:03d}"
        job_id = f"{stamp}-{stage}-{uuid.uuid4().hex[:4]}"
        folder = cls(paths.jobs / job_id)
        try:
            folder.path.mkdir(parents=True)
        except OSError as error:
            raise write_error(folder.path, error) from error
        folder.update(
            schema=SCHEMA,
            anymocap_version=VERSION,
            id=job_id,
            stage=stage,
            creature=paths.name,
            created=time.strftime("%Y-%m-%dT%H:%M:%S"),
            host_pid=os.getpid(),
            state="running",
            processes=[],
            **details,
        )
        forget_old(paths.jobs)
        return folder

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def log(self) -> Path:
        return self.path / "log.txt"

    def events(self, shard: int) -> Path:
        """The event file of the k-th of the processes that work at the same time."""
        return self.path / ("events.jsonl" if shard == 0 else f"events-{shard}.jsonl")

    def event_files(self) -> list[Path]:
        """All event files that exist."""
        return sorted(self.path.glob("events*.jsonl"))

    def read(self) -> dict[str, Any]:
        """job.json as it is now; empty when it is not there or damaged, or this is no job's folder."""
        try:
            data = json.loads((self.path / "job.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def update(self, **changes: Any) -> None:
        """Change keys of job.json."""
        write_json(self.path / "job.json", {**self.read(), **changes})

    def is_running(self) -> bool:
        """Whether the job says so and its host is alive; a job whose host was killed is not running."""
        data = self.read()
        pid = data.get("host_pid")
        return data.get("state") == "running" and isinstance(pid, int) and process_alive(pid)

    def last_log_lines(self, count: int = 12) -> str:
        """The end of the log, for the message of a crash."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as handle:
            size = handle.seek(0, os.SEEK_END)
            handle.seek(max(0, size - 8192))
            text = handle.read().decode("utf-8", "replace")
        return "\n".join(text.rstrip().splitlines()[-count:])


def all_jobs(jobs: Path) -> list[JobFolder]:
    """Job folders, oldest first."""
    if not jobs.is_dir():
        return []
    return [JobFolder(path) for path in sorted(jobs.iterdir()) if (path / "job.json").exists()]


def forget_old(jobs: Path) -> None:
    """Keep the latest jobs and those that run."""
    for job in all_jobs(jobs)[:-_KEPT]:
        if not job.is_running():
            shutil.rmtree(job.path, ignore_errors=True)
