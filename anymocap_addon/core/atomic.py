"""Files that appear whole or not at all: written beside their place, flushed, then renamed onto it."""

from __future__ import annotations

import errno
import json
import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import AnyMoCapError

TEMPORARY_PREFIX = ".writing-"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def write_error(path: Path, error: OSError) -> AnyMoCapError:
    """Say in one sentence why `path` could not be written."""
    if error.errno in _FULL:
        return AnyMoCapError(
            "The disk is full (or a quota is reached); nothing was half written.",
            file=path,
            hint="Free some space and run the stage again: it resumes.",
        )
    reason = error.strerror or str(error)
    return AnyMoCapError(f"Could not be written: {reason}.", file=path, hint="Check the folder's permissions.")


def _flush_to_disk(path: Path) -> None:
    with path.open("rb+") as handle:
        os.fsync(handle.fileno())


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path with the same suffix in the same folder; rename it onto `path` on success.

    On any failure the temporary file is removed and the former content of `path` stays.

    Raises:
        AnyMoCapError: the disk is full or the folder cannot be written.
    """
    target = Path(path)
    temporary = target.with_name(f"{TEMPORARY_PREFIX}{uuid.uuid4().hex[:8]}-{target.name}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        _flush_to_disk(temporary)
        temporary.replace(target)
    except OSError as error:
        raise write_error(target, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path | str, data: bytes) -> None:
    """Write `data` as the whole content of `path`."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: Path | str, text: str) -> None:
    """Write `text` as UTF-8."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as indented JSON; NaN and infinities are refused because JSON has none."""
    try:
        text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise AnyMoCapError(f"A figure is not finite: {error}.", file=path) from error
    write_text(path, text + "\n")


def write_npz(path: Path | str, arrays: dict[str, NDArray[Any]]) -> None:
    """Write named arrays as a compressed .npz without pickles."""
    with replacing(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, **arrays)


def remove_leftovers(folder: Path, name: str = "") -> int:
    """Remove temporary files that a killed process left in `folder`; return how many there were.

    Args:
        name: only those of the file called so: others may be at work on the folder's other files.
    """
    leftovers = list(folder.glob(f"{TEMPORARY_PREFIX}*{name}")) if folder.is_dir() else []
    for leftover in leftovers:
        leftover.unlink(missing_ok=True)
    return len(leftovers)
