"""Where a paid file comes to lie: under its own name, and never over another one that was paid."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path

from ..atomic import write_error
from ..file_mark import file_sha256
from ..formats import read_json, write_json_file
from ..project import CreaturePaths
from .ledger import Request, now


def shown(paths: CreaturePaths, file: Path) -> str:
    """A file as ledger and messages name it: from the project folder on, so that a project can be moved."""
    return file.relative_to(paths.root).as_posix() if file.is_relative_to(paths.root) else str(file)


def record_file(file: Path) -> Path:
    """The record beside a clip or mesh."""
    return file.with_suffix(".json")


def part_file(target: Path, intent: str) -> Path:
    """Where a file grows while it is fetched; it keeps its place over restarts."""
    return target.with_name(f".part-{intent[:8]}{target.suffix}")


def aside_file(target: Path, mark: str) -> Path:
    """The name of a file that is kept although another one has its place."""
    return target.with_name(f"{target.stem}-{mark[:8]}{target.suffix}")


def is_here(target: Path, hash: str) -> bool:
    """Whether the file of this very request lies at its place, by the record beside it."""
    if not target.is_file() or not record_file(target).is_file():
        return False
    record = read_json(record_file(target), "film")
    return record.get("hash") == hash and record["bytes"] == target.stat().st_size


def put_in_place(part: Path, sha256: str, request: Request, destination: Path) -> None:
    """Move a whole file to its place with a record beside it; another file that lies there is kept under a new name.

    Raises:
        AnyMoCapError: the folder cannot be written.
    """
    try:
        if destination.exists() and file_sha256(destination) != sha256:
            _keep_aside(destination)
        write_json_file(record_file(destination), "film", _record(part, sha256, request, destination))
        part.replace(destination)
        if os.name == "posix":
            folder = os.open(destination.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise write_error(destination, error) from None


def _keep_aside(file: Path) -> None:
    other = aside_file(file, file_sha256(file))
    if record_file(file).exists():
        record_file(file).replace(record_file(other))
    file.replace(other)


def _record(part: Path, sha256: str, request: Request, destination: Path) -> dict[str, object]:
    return {
        "file": destination.name,
        "bytes": part.stat().st_size,
        "sha256": sha256,
        "stage": request.stage,
        "item": request.item,
        "model": request.model,
        "seed": request.seed,
        "endpoint": request.endpoint,
        "arguments": request.arguments,
        "hash": request.hash,
        "intent": request.intent,
        "request_id": request.request_id,
        "response_url": request.response_url,
        "status_url": request.status_url,
        "cancel_url": request.cancel_url,
        "url": request.url,
        "estimate_usd": request.estimate_usd,
        "intended": request.time,
        "submitted": request.submitted,
        "downloaded": now(),
        "versions": {name: importlib.metadata.version(name) for name in ("fal-client", "httpx")},
    }
