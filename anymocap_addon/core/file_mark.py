"""Marks of files: enough to tell later whether a file is still what a stage read or wrote."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path

_PART = 1 << 20  # hashed in 1 to 3 ms
_CLOCK_TICK_S = 0.05  # a file system's clock is no finer: a file may change twice within a tick

# What was hashed in this process: path -> size, modification time, sha256. A mark trusts size and time anyway.
_hashed: dict[Path, tuple[int, int, str]] = {}


@dataclass(frozen=True)
class FileMark:
    """A file as it was: path relative to the project where it lies within, size, modification time, sha256."""

    path: str
    size: int
    mtime_ns: int
    sha256: str

    def fits(self, path: Path) -> bool:
        """Whether size and time are those of the mark, so that the content need not be looked at."""
        stat = path.stat()
        return (stat.st_size, stat.st_mtime_ns) == (self.size, self.mtime_ns)


def hashing(paths: Iterable[Path]) -> Generator[None, None, None]:
    """Hash files in parts of some milliseconds, so that `file_sha256` knows them without reading them again.

    Files that are not there, and folders, are passed over.
    """
    for path in paths:
        if path.is_file():
            yield from _hash(path)


def file_sha256(path: Path) -> str:
    """Hex sha256 of a file, or of a folder's sorted names and sizes."""
    if path.is_dir():
        digest = hashlib.sha256()
        for child in sorted(p for p in path.rglob("*") if p.is_file() and not p.name.startswith(".")):
            digest.update(f"{child.relative_to(path).as_posix()}:{child.stat().st_size}\n".encode())
        return digest.hexdigest()
    work = _hash(path)
    while True:
        try:
            next(work)
        except StopIteration as end:
            return str(end.value)


def _hash(path: Path) -> Generator[None, None, str]:
    """Hash a file, unless it is as it was when this process hashed it before; returns the sha256."""
    stat = path.stat()
    known = _hashed.get(path)
    if known is not None and known[:2] == (stat.st_size, stat.st_mtime_ns):
        return known[2]
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while part := handle.read(_PART):
            digest.update(part)
            if len(part) == _PART:
                yield
    after = path.stat()
    still = (after.st_size, after.st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)
    if still and time.time() - stat.st_mtime > _CLOCK_TICK_S:
        _hashed[path] = (stat.st_size, stat.st_mtime_ns, digest.hexdigest())
    return digest.hexdigest()


def mark_file(path: Path, root: Path) -> FileMark:
    """The mark of an existing file or folder."""
    stat = path.stat()
    shown = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    return FileMark(shown, stat.st_size, stat.st_mtime_ns, file_sha256(path))


def changed(mark: FileMark, root: Path) -> str | None:
    """Why the file differs from its mark, or None. The content is hashed only when size or time differ."""
    path = root / mark.path
    if not path.exists():
        return f"{mark.path} is missing"
    if not path.is_dir() and mark.fits(path):
        return None
    return None if file_sha256(path) == mark.sha256 else f"{mark.path} changed"


def unsure(marks: Iterable[FileMark], root: Path) -> list[Path]:
    """Files whose content `changed` would have to look at."""
    paths = [(mark, root / mark.path) for mark in marks]
    return [path for mark, path in paths if path.is_file() and not mark.fits(path)]
