"""How many threads to use on a machine that may be doing other things."""

from __future__ import annotations

import os
import time
from pathlib import Path


def core_count() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pick_threads(wanted: int = 0, seconds: float = 0.5) -> int:
    """`wanted` threads, or by the rule: as many as there are idle cores over half a second, at least one.

    The load average is of no use here: it still counts the stage that has just ended. Where the system does not tell
    how idle it is (all but Linux), every core counts as idle.
    """
    cores = core_count()
    if wanted > 0:
        return min(wanted, cores)
    idle = _idle_cores(cores, seconds)
    return max(1, min(cores, round(idle)))


def _idle_cores(cores: int, seconds: float) -> float:
    before = _cpu_times()
    if before is None:
        return float(cores)
    time.sleep(seconds)
    after = _cpu_times()
    if after is None or after[1] <= before[1]:
        return float(cores)
    return (after[0] - before[0]) / (after[1] - before[1]) * cores


def _cpu_times() -> tuple[float, float] | None:
    """(idle, total) ticks of all cores since start, from /proc/stat."""
    try:
        first = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0]
    except OSError:
        return None
    ticks = [float(part) for part in first.split()[1:9]]
    return ticks[3] + ticks[4], sum(ticks)
