"""The protocol's channel: one JSON object a line, appended by one process and tailed by another."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

Event = dict[str, Any]
EXIT_DISK_FULL = 28  # exit code of a worker that could not even write an event


def _plain(value: Any) -> Any:
    """Numbers of numpy and torch become Python's, paths become text; anything else is a bug."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def encode(event: Event) -> bytes:
    """One event as its line.

    Raises:
        ValueError: a figure is not finite; JSON has no word for that.
        TypeError: a value has no form in JSON.
    """
    try:
        line = json.dumps(event, ensure_ascii=False, allow_nan=False, default=_plain) + "\n"
    except ValueError as error:
        raise ValueError(f"a figure of the event {event['event']!r} is not finite") from error
    return line.encode("utf-8", "backslashreplace")


class EventWriter:
    """Appends events to a file.

    A line is written by one system call, so that a reader never sees two lines mixed; each process has its own
    file because Windows does not append atomically.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        self._file = os.open(path, flags, 0o644)

    def write(self, event: Event) -> None:
        """Append one event.

        Raises:
            OSError: the disk is full; what was half written is ended by the next line's newline.
            ValueError, TypeError: see `encode`.
        """
        data = encode(event)
        while data:
            data = data[os.write(self._file, data) :]

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


class EventTail:
    """Reads the events that were appended since the last look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._rest = b""

    def read(self) -> list[Event]:
        """New whole lines as events; a line that is not JSON (a write cut by a full disk) is left out."""
        try:
            with self.path.open("rb") as handle:
                handle.seek(self._offset)
                data = handle.read()
        except FileNotFoundError:
            return []
        self._offset += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        events = []
        for line in lines:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict):
                events.append(event)
        return events
