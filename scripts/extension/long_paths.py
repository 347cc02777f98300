"""Wheels that Windows could not unpack: licences in paths that are too long for it are gathered into one file.

Windows takes 259 characters of a path unless its owner changed that, and Blender unpacks wheels below
AppData/Roaming/Blender Foundation/Blender/4.5/extensions/.local/lib/python3.11/site-packages of the user's folder. It
takes a wheel away again when one of its files could not be written. torch's wheel carries licences of libraries within
libraries in paths of up to 167 characters.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import zipfile
from pathlib import Path

from .errors import PackagingError

LONGEST = 125  # leaves 30 characters for the user's name
_BUILD_TAG = "1shortpaths"
_GATHERED = "of_included_libraries.txt"
_RULE = "=" * 80


def has_long_paths(wheel: Path) -> bool:
    """Whether Windows could not unpack it."""
    with zipfile.ZipFile(wheel) as archive:
        return any(len(name) > LONGEST for name in archive.namelist())


def shortened_name(file: str) -> str:
    """The wheel's name with a build tag, because it is no longer the published file."""
    name, version, *tags = file.split("-")
    return "-".join([name, version, _BUILD_TAG, *tags])


def shorten(wheel: Path, into: Path) -> Path:
    """Write the wheel with its licences of long paths in one file; everything else stays as it is.

    Args:
        into: a folder.

    Raises:
        PackagingError: a file that is no licence has too long a path.
    """
    made = into / shortened_name(wheel.name)
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        files = {entry.filename: entry for entry in old.infolist() if not entry.is_dir()}
        record = next(name for name in files if name.endswith(".dist-info/RECORD"))
        licences = f"{record.removesuffix('RECORD')}licenses/"
        long = [name for name in files if len(name) > LONGEST]
        if others := [name for name in long if not name.startswith(licences)]:
            raise PackagingError(f"{wheel.name}: the path {others[0]} is too long for Windows.")
        for name, entry in files.items():
            if name not in long and name != record:
                new.writestr(entry, old.read(name))
        gathered = b"".join(_text(name, old.read(name)) for name in long)
        new.writestr(_entry(licences + _GATHERED), gathered)
        new.writestr(_entry(record), _record(old.read(record), set(long), licences + _GATHERED, gathered))
    return made


def _text(path: str, content: bytes) -> bytes:
    return f"{_RULE}\n{path}\n{_RULE}\n".encode() + content.rstrip() + b"\n\n"


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, (2000, 1, 1, 12, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def _record(old: bytes, gone: set[str], added: str, content: bytes) -> str:
    """RECORD: every file with its hash and size."""
    rows = [row for row in csv.reader(io.StringIO(old.decode())) if row and row[0] not in gone]
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    rows.append([added, f"sha256={digest}", str(len(content))])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
