"""How many cores this process may use."""

from __future__ import annotations

import math
import os
from pathlib import Path

_MOST_PROCESSES = 16  # a background Blender takes about half a gigabyte


def usable_cores() -> int:
    """Cores that the system lets this process use: affinity and, in a container, the quota of its group."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _container_quota(Path("/sys/fs/cgroup/cpu.max"))
    return max(1, min(cores, quota) if quota else cores)


def _container_quota(file: Path) -> int | None:
    if not file.exists():
        return None
    limit, _, period = file.read_text().strip().partition(" ")
    if limit == "max" or not period.isdigit():
        return None
    return math.ceil(int(limit) / int(period))


def process_count(wanted: int) -> int:
    """Number of processes for work in equal parts; 0 asks for one a core."""
    return wanted or min(usable_cores(), _MOST_PROCESSES)
