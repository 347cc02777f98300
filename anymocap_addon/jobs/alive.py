"""Whether a process still runs, on every system."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

_ON_WINDOWS = os.name == "nt"
_HAS_PROC = Path("/proc/self/stat").exists()


def process_alive(pid: int) -> bool:
    """Whether a process runs. A zombie (ended, not yet waited for) counts as dead."""
    if pid <= 0:
        return False
    if _ON_WINDOWS:
        return _alive_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    except OverflowError:
        return False  # a number that no process can have
    return _state_letter(pid) != "Z"


def _state_letter(pid: int) -> str:
    if _HAS_PROC:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return "Z"
    listed = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return listed.stdout.strip()[:1] or "Z"


def _alive_on_windows(pid: int) -> bool:
    # os.kill(pid, 0) would send Ctrl-C there.
    kernel32 = ctypes.windll.kernel32  # type: ignore[attr-defined]
    synchronize, timeout = 0x00100000, 0x00000102
    handle = kernel32.OpenProcess(synchronize, False, pid)
    if not handle:
        return False
    waiting: int = kernel32.WaitForSingleObject(handle, 0)
    kernel32.CloseHandle(handle)
    return waiting == timeout
