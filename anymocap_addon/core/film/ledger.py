"""The book of everything that is paid: an append-only file of which every line is on the disk before what it announces.

An intent is written before a request is sent. What is not followed by a reply in the book may have been paid: its fate
is unknown, and nobody but the artist can say. Lines are only ever added, each by one system call, so that a line which
a crash has torn is the only one that is lost; and the intent's line stands before its request leaves.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args

from ..atomic import write_error
from ..errors import AnyMoCapError, BadInputError
from ..formats import known_keys, validate
from ..formats.schema import load_schema
from ..project import CreaturePaths

State = Literal[
    "intent",
    "unknown",
    "submitted",
    "completed",
    "downloaded",
    "refused",
    "withdrawn",
    "failed",
    "cancelled",
    "forgotten",
]
_STATES: tuple[State, ...] = get_args(State)
UNSETTLED: tuple[State, ...] = ("intent", "unknown", "submitted", "completed")
FATE_UNKNOWN: tuple[State, ...] = ("intent", "unknown")
_OF_AN_INTENT = ("intent", "stage", "item", "target", "endpoint", "model", "seed", "hash")
_LOOK_BACK = 1  # bytes


def ledger_file(paths: CreaturePaths) -> Path:
    """runs/<c>/ledger.jsonl"""
    return paths.runs / "ledger.jsonl"


@dataclass
class Request:
    """One request as the ledger's lines tell it; docs/formats.md says what its keys mean."""

    intent: str
    time: str
    stage: str
    item: str
    target: str
    endpoint: str
    model: str
    seed: int
    hash: str
    arguments: dict[str, Any] = field(default_factory=dict)
    estimate_usd: float | None = None
    pid: int = 0
    state: State = "intent"
    request_id: str = ""
    response_url: str = ""
    status_url: str = ""
    cancel_url: str = ""
    submitted: str = ""
    finished: str = ""
    url: str = ""
    size: int | None = None
    message: str = ""
    error_type: str = ""
    path: str = ""
    sha256: str = ""

    @property
    def day(self) -> str:
        """Local day of the intent, 2026-11-30."""
        return self.time[:10]

    @property
    def maybe_paid_usd(self) -> float:
        """What it has cost or may still: 0 for what was refused, cancelled or never sent."""
        free = self.state in ("refused", "withdrawn", "cancelled")
        return 0.0 if free or self.estimate_usd is None else self.estimate_usd


def now() -> str:
    """Local time with its offset, to the second."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


class Ledger:
    """The ledger of one creature."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def intend(self, **values: Any) -> str:
        """Write an intent; returns its id. It is on the disk when this returns."""
        intent = uuid.uuid4().hex
        self.add("intent", intent, pid=os.getpid(), **values)
        return intent

    def add(self, event: str, intent: str = "", **values: Any) -> None:
        """Append one line and wait until it is on the disk.

        Raises:
            AnyMoCapError: the disk is full or the folder cannot be written.
        """
        line = {"schema": load_schema("ledger")["x-schema"], "time": now(), "event": event, **values}
        if intent:
            line["intent"] = intent
        validate(line, "ledger", self.file)
        data = json.dumps(line, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"
        try:
            self._append(data)
        except OSError as error:
            raise write_error(self.file, error) from None

    def _append(self, data: bytes) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        new = not self.file.exists()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
        handle = os.open(self.file, flags, 0o644)
        try:
            size = os.fstat(handle).st_size
            if size:  # a torn last line is ended, so that it does not take this one with it
                os.lseek(handle, size - _LOOK_BACK, os.SEEK_SET)
                if os.read(handle, _LOOK_BACK) != b"\n":
                    data = b"\n" + data
            written = os.write(handle, data)
            if written != len(data):
                os.write(handle, data[written:])
            os.fsync(handle)
        finally:
            os.close(handle)
        if new and os.name == "posix":  # the file's name has to be on the disk too
            folder = os.open(self.file.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    def lines(self) -> list[dict[str, Any]]:
        """All whole lines, oldest first; those that a crash has torn are left out.

        Raises:
            BadInputError: a line was damaged; what was paid cannot be told without it.
            AnyMoCapError: the file cannot be read.
        """
        return [line for _, line in self._numbered_lines()]

    def _numbered_lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        try:
            data = self.file.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise AnyMoCapError(
                f"Could not be read: {error.strerror}.", file=self.file, hint="Check the file and its permissions."
            ) from None
        for number, raw in enumerate(data.split(b"\n"), 1):
            try:
                line = json.loads(raw)
            except (ValueError, RecursionError):
                if raw.rstrip().endswith(b"}"):  # a torn line has no end, so this one was whole
                    raise self._damaged(number, "it is no JSON") from None
                continue
            try:
                validate(line, "ledger", self.file)
            except BadInputError as error:
                raise self._damaged(number, error.message, error.key) from None
            yield number, line

    def requests(self) -> list[Request]:
        """Every request that was intended, oldest first, as the later lines have left it.

        Raises:
            BadInputError: a line was damaged. AnyMoCapError: the file cannot be read.
        """
        found: dict[str, Request] = {}
        for number, line in self._numbered_lines():
            event, intent = line["event"], line.get("intent", "")
            values = known_keys(Request, line)
            values.pop("state", None)
            if event == "intent":
                if missing := [name for name in _OF_AN_INTENT if name not in line]:
                    raise self._damaged(number, "is missing", missing[0])
                if age_s(line["time"]) == float("inf"):
                    raise self._damaged(number, "is no moment", "time")
                found[intent] = Request(**values)
            elif intent in found and event in _STATES:
                _follow(found[intent], event, values, line["time"])
            elif event in _STATES:
                raise self._damaged(number, "the first line of its request is gone")
        return list(found.values())

    def _damaged(self, number: int, what: str, key: str | None = None) -> BadInputError:
        what = f"{what.rstrip('.')}; line {number} of the ledger was damaged."
        return BadInputError(what, file=self.file, key=key, hint=load_schema("ledger")["x-remedy"])

    def uploaded(self, sha256: str, younger_than_s: float) -> str:
        """Address of a picture that was uploaded before, empty when there is none that is young enough."""
        address = ""
        for line in self.lines():
            if line["event"] == "uploaded" and line.get("sha256") == sha256:
                address = str(line.get("url", "")) if age_s(line.get("time", "")) < younger_than_s else ""
        return address


def age_s(moment: str) -> float:
    """Seconds since a moment that `now` wrote; infinite for what is no moment."""
    try:
        return time.time() - datetime.fromisoformat(moment).timestamp()
    except ValueError:
        return float("inf")


def _follow(request: Request, event: State, values: dict[str, Any], moment: str) -> None:
    for name, value in values.items():
        if name not in ("intent", "time"):
            setattr(request, name, value)
    request.state = event
    if event == "submitted":
        request.submitted = moment
    elif event not in UNSETTLED:
        request.finished = moment
