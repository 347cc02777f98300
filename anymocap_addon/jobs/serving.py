"""The worker's loop: takes requests, runs the step's function, and reports what happens."""

from __future__ import annotations

import ctypes
import errno
import importlib.metadata
import os
import platform
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from ..core.atomic import write_error
from ..core.errors import AnyMoCapError, BadInputError, CancelledError
from ..core.project import Project
from ..core.stage_context import StageContext
from ..core.version import VERSION
from .cores import usable_cores
from .events import EXIT_DISK_FULL, Event, EventWriter, encode
from .inbox import Inbox, Request
from .stage import load_function
from .worker_packages import is_worker_package, missing_packages_error

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_PACKAGE = __package__.rpartition(".")[0]
_PROGRESS_EVERY_S = 0.1
# The first moments, with imports and warm-up, say little about the pace: one slow step of thousands promised six hours.
_GUESS_AFTER_S = 3.0
_GUESS_AFTER_SHARE = 0.004


def serve(idle_s: float) -> int:
    """Serve requests from stdin until asked to leave, the parent is gone, or `idle_s` passed without one.

    Returns:
        Exit code: 0, or EXIT_DISK_FULL when not even an event could be written.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    inbox = Inbox(open(0, "rb", closefd=False))  # noqa: SIM115
    while True:
        try:
            request = inbox.next(idle_s)
            if request is None:
                return 0
            _serve_one(request, inbox)
        except KeyboardInterrupt:
            continue  # it was meant for a request that had just ended
        except OSError as error:
            if error.errno not in _FULL:
                raise
            return EXIT_DISK_FULL


def _serve_one(request: Request, inbox: Inbox) -> None:
    _log_to(Path(request["log"]))
    events = EventWriter(Path(request["events"]))
    try:
        outcome = _outcome(request, inbox, events)
        inbox.finish()
        events.write(outcome)
    finally:
        events.close()
        _flush()


def _outcome(request: Request, inbox: Inbox, events: EventWriter) -> Event:
    """Run the step and return its last event."""
    why = inbox.why_cancelled(request["id"])
    if why is not None:
        return _error(why, "Cancelled before it began.")
    try:
        events.write(_hello(request))
        result = _run_step(request, inbox, events)
        done = {"event": "done", "time": time.time(), "outputs": request["outputs"], "result": result}
        encode(done)
    except (CancelledError, KeyboardInterrupt) as error:
        why = inbox.why_cancelled(request["id"]) or "cancelled"
        stopped = error if isinstance(error, CancelledError) else CancelledError()
        return _error(why, stopped.message, hint=stopped.hint)
    except AnyMoCapError as error:
        traceback.print_exc()
        return _explained(error)
    except ModuleNotFoundError as error:
        if error.name is None or not is_worker_package(error.name):
            return _internal(error)
        traceback.print_exc()
        return _explained(missing_packages_error([error.name.partition(".")[0]]))
    except OSError as error:
        if error.errno not in _FULL:
            return _internal(error)
        full = write_error(Path(error.filename or request["project"]), error)
        return _error("failed", full.message, file=full.file, hint=full.hint)
    except Exception as error:  # the boundary of the process: whatever it is becomes one event with its traceback
        return _internal(error)
    return done


def _run_step(request: Request, inbox: Inbox, events: EventWriter) -> dict[str, Any]:
    project = Project(Path(request["project"]))
    context = StageContext(
        project=project,
        paths=project.creature(request["creature"]),
        settings=request["settings"],
        shard=(request["shard"][0], request["shard"][1]),
        report=_Reporter(events),
        cancelled=lambda: inbox.why_cancelled(request["id"]) is not None,
    )
    function = load_function(request["function"], request["package"] or _PACKAGE)
    return function(context) or {}


def _explained(error: AnyMoCapError) -> Event:
    kind = "bad_input" if isinstance(error, BadInputError) else "failed"
    return _error(kind, error.message, file=error.file, key=error.key, hint=error.hint)


def _internal(error: Exception) -> Event:
    traceback.print_exc()
    return _error(
        "internal",
        f"{type(error).__name__}: {error}",
        hint="This is a fault of AnyMoCap or of a library; the job's log has the details.",
        traceback="".join(traceback.format_exception(error)),
    )


def _error(kind: str, message: str, **details: Any) -> Event:
    return {"event": "error", "time": time.time(), "kind": kind, "message": message, **details}


def _hello(request: Request) -> Event:
    return {
        "event": "hello",
        "time": time.time(),
        "pid": os.getpid(),
        "stage": request["stage"],
        "step": request["step"],
        "shard": request["shard"],
        "versions": versions(),
        "device": {"machine": platform.machine(), "system": platform.platform(), "cores": usable_cores()},
    }


def versions() -> dict[str, str]:
    """Versions of AnyMoCap, Python and the libraries that are installed, without importing them."""
    found = {"anymocap": VERSION, "python": platform.python_version()}
    for name in ("numpy", "torch", "opencv-python-headless", "imageio-ffmpeg", "bpy"):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    bpy = sys.modules.get("bpy")
    if bpy is not None:
        found["blender"] = bpy.app.version_string
    return found


def _log_to(path: Path) -> None:
    """From here on everything that is printed, also by C libraries, goes to this job's log."""
    _flush()
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def _flush() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)  # what C libraries hold back belongs to this job too


class _Reporter:
    """Completes a step's events and leaves out progress that comes faster than anyone can see."""

    def __init__(self, events: EventWriter) -> None:
        self._events = events
        self._began = time.monotonic()
        self._first: float | None = None
        self._last_written = 0.0

    def __call__(self, event: Event) -> None:
        if event["event"] == "log":
            print(event["text"], flush=True)
        if event["event"] == "progress":
            now = time.monotonic()
            if now - self._last_written < _PROGRESS_EVERY_S and event["done"] < event["total"]:
                return
            self._last_written = now
            event = {**event, "eta_s": self._time_left(event["done"], event["total"], now)}
        self._events.write({**event, "time": time.time()})

    def _time_left(self, done: float, total: float, now: float) -> float | None:
        """Seconds left at the pace since the first report; what was there before (a resume) is not pace."""
        if self._first is None:
            self._first, self._began = done, now
        advanced = done - self._first
        if advanced <= 0 or advanced < total * _GUESS_AFTER_SHARE or now - self._began < _GUESS_AFTER_S:
            return None
        return round((now - self._began) * max(0.0, total - done) / advanced, 1)
