"""A lock for the moment between looking at a stage's record and writing that it runs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator
from pathlib import Path

from ..core.atomic import write_error
from ..core.errors import AnyMoCapError
from .alive import process_alive

_PATIENCE_S = 20.0
_SIGNED_WITHIN_S = 5.0


def start_lock(record: Path) -> Generator[None, None, Callable[[], None]]:
    """Hold the stage whose record file this is.

    Iterate it: it yields None while another process holds the stage, which takes milliseconds, and returns what lets
    go of it. A lock whose owner has died is taken over.

    Raises:
        AnyMoCapError: another process holds it for longer than a start can take, or it cannot be written.
    """
    lock = record.with_name(f".{record.name}.lock")
    deadline = time.monotonic() + _PATIENCE_S
    while not _taken(lock):
        if not process_alive(_owner(lock)):
            lock.unlink(missing_ok=True)
        elif time.monotonic() > deadline:
            raise AnyMoCapError(
                "Another process is starting this stage.",
                file=lock,
                hint="Wait for it, or delete this file if none runs.",
            )
        else:
            yield
    return lambda: lock.unlink(missing_ok=True)


def _taken(lock: Path) -> bool:
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        return False
    except OSError as error:
        raise write_error(lock, error) from error
    try:
        _sign(handle)
    except OSError as error:
        lock.unlink(missing_ok=True)
        raise write_error(lock, error) from error
    return True


def _sign(handle: int) -> None:
    try:
        os.write(handle, str(os.getpid()).encode("ascii"))
    finally:
        os.close(handle)  # before any unlink: Windows removes no open file


def _owner(lock: Path) -> int:
    """The process in the lock; our own, which lives, when the lock has just gone or its owner is still writing; 0,
    which does not, when nobody can have written it, or its writer was ended before it had.
    """
    try:
        written = lock.read_text(encoding="ascii")
        unsigned_s = time.time() - lock.stat().st_mtime
        return int(written) if written else os.getpid() if unsigned_s < _SIGNED_WITHIN_S else 0
    except FileNotFoundError:
        return os.getpid()
    except ValueError:
        return 0
