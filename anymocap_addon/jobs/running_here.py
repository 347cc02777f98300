"""Which stages this process runs, and whether the process of a record still runs its stage."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.project import CreaturePaths
from ..core.stage_record import StageRecord
from .alive import process_alive

if TYPE_CHECKING:
    from .stage_run import StageRun

Key = tuple[Path, str, str, str | None]
"""Project folder, creature, stage, clip or move."""

RUNNING_HERE: dict[Key, StageRun] = {}


def still_runs(paths: CreaturePaths, record: StageRecord) -> bool:
    """Whether a record that says "running" is true.

    Of this process's own stages we know it: its id says little about them, since the project may have been moved
    under a stage, and since an id is given again after a crash.
    """
    if record.outcome != "running":
        return False
    if record.pid == os.getpid():
        return (paths.root, paths.name, record.stage, record.clip) in RUNNING_HERE
    return process_alive(record.pid)
