"""A file from an address onto the disk: resumed where it broke off, checked, and whole under its name or not there."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from ..atomic import write_error
from .service import GoneError, UnansweredError

_TRIES_WITHOUT_PROGRESS = 8
_TIMEOUT = httpx.Timeout(60.0, connect=20.0)
_PART = 1 << 16
_LONGEST_PAUSE_S = 10.0
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class _Broken(Exception):
    """This try ended early."""


def download(
    url: str, part: Path, *, size: int | None, progress: Callable[[int, int | None], None], pause_s: float = 0.5
) -> str:
    """Complete the file `part`, which may hold the beginning; returns its hex sha256.

    The account's key is not sent: the file lies on another host.

    Args:
        size: bytes that the file must have where the host does not say it; None = not known.
        progress: called with (bytes so far, bytes in all) and may raise to stop; what is there stays for the next time.
        pause_s: seconds before the first further try; doubled each time.

    Raises:
        GoneError: the host has no such file (any more). UnansweredError: no progress after many tries.
        AnyMoCapError: the disk is full.
    """
    failures, etag = 0, ""
    with httpx.Client(timeout=_TIMEOUT, follow_redirects=True, headers={"Accept-Encoding": "identity"}) as client:
        while True:
            before = part.stat().st_size if part.exists() else 0
            try:
                etag = _one_try(client, url, part, before, size, etag, progress)
                return _sha256(part)
            except (_Broken, httpx.HTTPError) as error:
                after = part.stat().st_size if part.exists() else 0
                failures = 0 if after > before else failures + 1
                why = str(error) if isinstance(error, _Broken) else type(error).__name__
            except OSError as error:
                raise write_error(part, error) from None
            if failures >= _TRIES_WITHOUT_PROGRESS:
                raise UnansweredError(f"the file could not be fetched ({why})")
            progress(part.stat().st_size if part.exists() else 0, size)
            time.sleep(min(pause_s * 2**failures, _LONGEST_PAUSE_S))


def _one_try(
    client: httpx.Client,
    url: str,
    part: Path,
    have: int,
    size: int | None,
    etag: str,
    progress: Callable[[int, int | None], None],
) -> str:
    """Fetch what is missing. Returns the file's etag; raises _Broken when it is not whole afterwards."""
    headers = {"Range": f"bytes={have}-"} if have else {}
    if have and etag:
        headers["If-Range"] = etag
    with client.stream("GET", url, headers=headers) as response:
        if response.status_code in (401, 403, 404, 410):
            raise GoneError(f"{response.status_code}")
        if response.status_code == 416:  # nothing is missing, or the part is of another file
            total = _total(response)
            if have and total == have:
                return etag
            part.unlink()
            raise _Broken("the part did not fit")
        if response.status_code not in (200, 206):
            raise _Broken(f"{response.status_code}")
        start, total = _where(response)
        if start not in (0, have):
            raise _Broken("the host sent another part")
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab" if start else "wb") as handle:
            done = start
            for data in response.iter_raw(_PART):
                handle.write(data)
                done += len(data)
                progress(done, size or total)
            handle.flush()
            os.fsync(handle.fileno())
        if total is not None and done < total:
            raise _Broken("the host broke off")
        wanted = size if total is None else total  # the host knows better than the model's answer
        if not done or wanted not in (None, done):
            part.unlink()
            raise _Broken(f"it has {done} bytes instead of {wanted}")
        _check_digest(response, part)
        return str(response.headers.get("etag", ""))


def _where(response: httpx.Response) -> tuple[int, int | None]:
    """First byte that this response brings, and bytes of the whole file."""
    if response.status_code == 206 and (found := _RANGE.match(response.headers.get("content-range", ""))):
        return int(found[1]), None if found[2] == "*" else int(found[2])
    length = response.headers.get("content-length", "")
    return 0, int(length) if length.isdigit() else None


def _total(response: httpx.Response) -> int | None:
    text = response.headers.get("content-range", "").rpartition("/")[2]
    return int(text) if text.isdigit() else None


def _check_digest(response: httpx.Response, part: Path) -> None:
    """Hold the file to the MD5 that storage hosts tell; a part of another file would show here."""
    told = response.headers.get("content-md5", "")
    for value in response.headers.get_list("x-goog-hash", split_commas=True):
        if value.startswith("md5="):
            told = value[4:]
    if not told or (response.status_code == 206 and not response.headers.get("x-goog-hash")):
        return
    with part.open("rb") as handle:
        own = base64.b64encode(hashlib.file_digest(handle, lambda: hashlib.md5(usedforsecurity=False)).digest())
    if own.decode() != told:
        part.unlink()
        raise _Broken("its checksum is wrong")


def _sha256(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def is_clip_or_mesh(file: Path) -> bool:
    """Whether it is a video or a glb mesh by its first bytes, and not a page that says sorry, for example."""
    with file.open("rb") as handle:
        head = handle.read(12)
    return head[4:8] == b"ftyp" or head[:4] in (b"glTF", b"\x1aE\xdf\xa3")
