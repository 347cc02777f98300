"""The worker's side of stdin: requests, cancels, and the death of the parent, read by one thread."""

from __future__ import annotations

import _thread
import json
import os
import signal
import sys
import threading
from collections import deque
from typing import Any, BinaryIO

Request = dict[str, Any]

INTERRUPT_AFTER_S = 2.0  # a step that does not look at the cancel flag is interrupted after this
_ORPHAN_INTERRUPT_S = 0.8
_ORPHAN_KILL_S = 1.8


class Inbox:
    """Requests that arrived on stdin.

    Messages, one JSON object a line: {"op": "run", "id": …, …}, {"op": "cancel", "id": …}, {"op": "leave"}.
    A run with "supersede" true cancels what runs and what waits. The end of stdin means that the parent is gone:
    the running step is interrupted, and what does not end within two seconds is killed with its children.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._waiting: deque[Request] = deque()
        self._changed = threading.Condition()
        self._current: str | None = None
        self._cancelled: dict[str, str] = {}
        self._leaving = False
        threading.Thread(target=self._read, daemon=True, name="inbox").start()

    def next(self, idle_s: float) -> Request | None:
        """Wait for a request; None when asked to leave or after `idle_s` seconds of waiting."""
        with self._changed:
            self._current = None
            self._changed.wait_for(lambda: bool(self._waiting) or self._leaving, idle_s)
            if not self._waiting:
                return None
            request = self._waiting.popleft()
            self._current = request["id"]
            return request

    def why_cancelled(self, request_id: str) -> str | None:
        """ "cancelled", "superseded", "orphaned", or None when the request may go on."""
        return self._cancelled.get(request_id)

    def finish(self) -> None:
        """The current request is over: an interrupt meant for it must not hit the next one."""
        with self._changed:
            self._current = None

    def _read(self) -> None:
        for line in self._stream:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            with self._changed:
                self._receive(message)
                self._changed.notify_all()
        with self._changed:
            self._leaving = True
            self._cancel_all("orphaned", _ORPHAN_INTERRUPT_S)
            self._changed.notify_all()
        _later(_ORPHAN_KILL_S, _kill_own_group)

    def _receive(self, message: Request) -> None:
        if message["op"] == "run":
            if message.get("supersede"):
                self._cancel_all("superseded", INTERRUPT_AFTER_S)
            self._waiting.append(message)
        elif message["op"] == "cancel":
            self._cancel(message["id"], "cancelled", INTERRUPT_AFTER_S)
        elif message["op"] == "leave":
            self._leaving = True

    def _cancel_all(self, why: str, patience_s: float) -> None:
        for request_id in [self._current, *(request["id"] for request in self._waiting)]:
            if request_id is not None:
                self._cancel(request_id, why, patience_s)

    def _cancel(self, request_id: str, why: str, patience_s: float) -> None:
        self._cancelled.setdefault(request_id, why)
        _later(patience_s, lambda: self._interrupt(request_id))

    def _interrupt(self, request_id: str) -> None:
        with self._changed:
            if self._current == request_id:
                _thread.interrupt_main()


def _later(seconds: float, action: Any) -> None:
    timer = threading.Timer(seconds, action)
    timer.daemon = True
    timer.start()


def _kill_own_group() -> None:
    """End this process and everything that it started (an encoder, for example)."""
    if sys.platform != "win32" and os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
