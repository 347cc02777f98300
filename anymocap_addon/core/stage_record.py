"""Stage records: what a stage read, with which settings, and how it ended. From them come marks and skipping."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import BadInputError
from .file_mark import FileMark, changed
from .formats import known_keys, read_json, write_json_file
from .project import CreaturePaths
from .version import VERSION


@dataclass
class StageRecord:
    """How a stage last went.

    Attributes:
        outcome: "running", "done", "failed" or "cancelled".
        settings: all settings that the stage ran with.
        inputs, outputs: marks of the files as they were.
        seconds: wall time; step_seconds: by step; result: what the steps returned.
        pid: process that ran it, to tell a running stage from a killed one.
    """

    stage: str
    outcome: str
    clip: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    inputs: list[FileMark] = field(default_factory=list)
    outputs: list[FileMark] = field(default_factory=list)
    seconds: float = 0.0
    step_seconds: dict[str, float] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    error: dict[str, str] | None = None
    started: str = ""
    pid: int = field(default_factory=os.getpid)

    @property
    def cleaned(self) -> bool:
        """Whether what it made was deleted on purpose, after it had gone into a later stage."""
        return bool(self.result.get("cleaned"))


def save_record(paths: CreaturePaths, record: StageRecord) -> None:
    """Write the record to runs/<c>/stages/."""
    data = {**vars(record), "inputs": [vars(m) for m in record.inputs], "outputs": [vars(m) for m in record.outputs]}
    write_json_file(paths.stage_record(record.stage, record.clip), "stage", data)


def mark_cleaned(paths: CreaturePaths, stage: str) -> None:
    """Remember that what a stage made was deleted on purpose."""
    record = load_record(paths, stage)
    if record is not None:
        record.result["cleaned"] = True
        save_record(paths, record)


def load_record(paths: CreaturePaths, stage: str, clip: str | None = None) -> StageRecord | None:
    """The record of a stage, or None when it never ran.

    Raises:
        BadInputError: the record is damaged.
    """
    path = paths.stage_record(stage, clip)
    if not path.exists():
        return None
    data = read_json(path, "stage")
    for key in ("inputs", "outputs"):
        data[key] = [FileMark(**known_keys(FileMark, mark)) for mark in data[key]]
    return StageRecord(**known_keys(StageRecord, data))


def load_records(paths: CreaturePaths, clip: str | None = None) -> dict[str, StageRecord]:
    """All readable records of the creature, and of the clip when one is named, by stage name."""
    records: dict[str, StageRecord] = {}
    for path in sorted(paths.stages.glob("*.json")) if paths.stages.is_dir() else []:
        stage, _, of_clip = path.stem.partition(".")
        if of_clip and of_clip != clip:
            continue
        record = load_record(paths, stage, of_clip or None)
        if record is not None:
            records[stage] = record
    return records


def stale_because(
    record: StageRecord, settings: dict[str, Any], inputs: Iterable[Path], outputs: Iterable[Path], root: Path
) -> str | None:
    """Why a stage that ended well must run again, or None when its outputs still hold.

    Args:
        settings: the settings it would run with now.
        inputs, outputs: the files that the stage declares now.
    """
    if record.versions.get("anymocap", VERSION) != VERSION:
        return f"AnyMoCap is now {VERSION}"
    for key in sorted(set(settings) | set(record.settings)):
        if settings.get(key) != record.settings.get(key):
            return f"{key} is now {settings.get(key)!r}, was {record.settings.get(key)!r}"
    marked = {mark.path for mark in record.inputs}
    for path in inputs:
        shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
        if path.exists() and shown not in marked:
            return f"{shown} is new"
    for mark in record.inputs:
        if reason := changed(mark, root):
            return reason
    for path in outputs:
        if not path.exists():
            return f"{path.name} is missing"
    return None


def require(path: Path, stage: str) -> Path:
    """The path, when it exists.

    Raises:
        BadInputError: it does not; the remedy names the stage that writes it.
    """
    if not path.exists():
        raise BadInputError("The file does not exist.", file=path, hint=f"Run the stage '{stage}' first.")
    return path
