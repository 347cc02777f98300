"""The parent's side of one background process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.atomic import write_error
from ..core.errors import AnyMoCapError
from .launch import Kind, command

TERMINATE_AFTER_S = 5.0
KILL_AFTER_S = 8.0
_POLITE_NICENESS = 10


class BackgroundProcess:
    """A worker or background Blender that serves requests.

    It leads its own process group, so that ending it also ends what it started, and a Ctrl-C in the terminal
    reaches only us.

    Args:
        kind: "worker" for torch and cv2, "blender" for bpy.
        log: where its output goes until the first request names another log.
        idle_s: it leaves after waiting so long for a request.
        threads: number of threads for its numeric libraries and software renderer; None leaves them alone.
        python: the worker's interpreter; empty = this process's own.
        environment: variables that it gets besides ours; one that is set already stays.
        polite: it gives way to whatever else wants the cores, a window above all.
    """

    def __init__(
        self,
        kind: Kind,
        log: Path,
        idle_s: float = 60.0,
        threads: int | None = None,
        python: str = "",
        environment: Mapping[str, str] | None = None,
        polite: bool = False,
    ) -> None:
        self.kind = kind
        self._started_with = (python, dict(environment or {}))
        self._cancel_began: float | None = None
        try:
            with log.open("ab") as output:
                self._process = subprocess.Popen(
                    command(kind, idle_s, python),
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=output,
                    env=_environment(threads, environment or {}),
                    **_own_group(polite),
                )
        except OSError as error:
            if error.filename and str(error.filename) == str(log):
                raise write_error(log, error) from error
            raise AnyMoCapError(
                f"The background process could not be started: {error.strerror or error}.",
                file=error.filename,
                hint="Check the memory that is free and the program's path.",
            ) from error
        if polite and sys.platform != "win32":
            nicer = os.getpriority(os.PRIO_PROCESS, 0) + _POLITE_NICENESS
            os.setpriority(os.PRIO_PROCESS, self.pid, min(nicer, 19))  # its threads, not born yet, inherit it

    def started_with(self, python: str, environment: Mapping[str, str]) -> bool:
        """Whether it was started with this interpreter and these variables."""
        return self._started_with == (python, dict(environment))

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs; a negative number is a signal."""
        return self._process.poll()

    def send(self, message: dict[str, Any]) -> bool:
        """Write one message to its stdin; False when it no longer listens (its exit tells why)."""
        stdin = self._process.stdin
        if stdin is None or stdin.closed:
            return False
        try:
            stdin.write(json.dumps(message).encode() + b"\n")
            stdin.flush()
        except OSError:
            return False
        return True

    def cancel(self, request_id: str) -> None:
        """Call again and again until the request has ended: asks first, terminates after 5 s, then kills."""
        now = time.monotonic()
        if self._cancel_began is None:
            self._cancel_began = now
            self.send({"op": "cancel", "id": request_id})
        elif now - self._cancel_began > KILL_AFTER_S:
            self.kill()
        elif now - self._cancel_began > TERMINATE_AFTER_S:
            self._signal(signal.SIGTERM)

    def request_ended(self) -> None:
        """The cancelled request has ended by itself; the next one starts with fresh patience."""
        self._cancel_began = None

    def leave(self) -> None:
        """Let it end after what it still has to do."""
        self.send({"op": "leave"})

    def kill(self) -> None:
        """End the whole process group now, and wait until it is gone."""
        if self._process.poll() is None:
            if sys.platform == "win32":
                subprocess.run(["taskkill", "/T", "/F", "/PID", str(self.pid)], capture_output=True, check=False)
            else:
                self._signal(signal.SIGKILL)
        self._process.wait()
        self._close_stdin()

    def close(self, patience_s: float = 3.0) -> None:
        """Let it leave when it is idle; kill it when it does not within `patience_s` seconds."""
        self.leave()
        self._close_stdin()
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.kill()

    def _close_stdin(self) -> None:
        stdin = self._process.stdin
        if stdin is not None and not stdin.closed:
            try:
                stdin.close()
            except OSError:
                return  # what was buffered for a process that is gone

    def _signal(self, number: int) -> None:
        try:
            if sys.platform == "win32":
                self._process.terminate()
            else:
                os.killpg(self.pid, number)
        except ProcessLookupError:
            return


def _own_group(polite: bool) -> dict[str, Any]:
    """Arguments of Popen for a process group of its own.

    On POSIX it stays in our session: Linux shares the cores evenly between sessions, however nice one of them is.
    """
    if sys.platform == "win32":
        below_normal = subprocess.BELOW_NORMAL_PRIORITY_CLASS if polite else 0
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | below_normal}
    return {"process_group": 0}


def _environment(threads: int | None, more: Mapping[str, str]) -> dict[str, str]:
    environment = {**more, **os.environ}
    if threads is not None:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LP_NUM_THREADS"):
            environment.setdefault(name, str(threads))
    return environment
