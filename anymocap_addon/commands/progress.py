"""One line of progress for a stage, on a terminal and in a log."""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any, TextIO

from ..jobs.duration_words import clock

_BAR = 24
_TERMINAL_EVERY_S = 0.1
_LOG_EVERY_S = 20.0


class ProgressLine:
    """Shows one stage. On a terminal the line is drawn over; elsewhere a line is printed now and then.

    Args:
        title: what is shown before the bar.
        out: where; standard error by default, so that standard output holds results only.
    """

    def __init__(self, title: str, out: TextIO | None = None) -> None:
        self.title = title
        self._out = out or sys.stderr
        self._terminal = self._out.isatty()
        self._began = time.monotonic()
        self._shown = self._began if not self._terminal else 0.0
        self._width = 0
        self._told: set[str] = set()

    def event(self, event: dict[str, Any]) -> None:
        """Show a progress event, or a line that the stage logs for people, once; others are left out."""
        if event["event"] == "log" and event["text"] not in self._told:
            self._told.add(event["text"])
            self._write(f"    {event['text']}", end=True)
        if event["event"] != "progress":
            return
        now = time.monotonic()
        if now - self._shown < (_TERMINAL_EVERY_S if self._terminal else _LOG_EVERY_S):
            return
        self._shown = now
        self._write(self._line(event), end=not self._terminal)

    def finish(self, outcome: str) -> None:
        """Replace the line by the outcome: "done", "already done", "failed"."""
        took = clock(time.monotonic() - self._began)
        self._write(f"{self.title:<24} {outcome}" + ("" if outcome == "already done" else f"  {took}"), end=True)

    def _line(self, event: dict[str, Any]) -> str:
        fraction = min(1.0, max(0.0, event["fraction"]))
        filled = round(_BAR * fraction)
        bar = "#" * filled + "." * (_BAR - filled)
        left = "" if event.get("eta_s") is None else f"  {clock(event['eta_s'])} left"
        # A total of 1 means a share of the work, which the percentage shows already.
        count = "" if event["total"] == 1 else f"  {event['done']:g}/{event['total']:g}"
        note = f"  {event['note']}" if event.get("note") else ""
        return f"{self.title:<24} [{bar}] {100 * fraction:3.0f}%{count}{left}{note}"

    def _write(self, line: str, end: bool) -> None:
        if self._terminal:
            if not end:
                line = line[: shutil.get_terminal_size().columns - 1]
            self._out.write("\r" + line.ljust(self._width) + ("\n" if end else ""))
            self._width = 0 if end else len(line)
        else:
            self._out.write(line + "\n")
        self._out.flush()
