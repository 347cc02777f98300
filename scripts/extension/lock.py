"""wheels/lock.toml: which wheels a zip holds, by name and hash."""

from __future__ import annotations

import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path

from .errors import PackagingError
from .targets import Target

REPOSITORY = Path(__file__).resolve().parents[2]
WHEELS = REPOSITORY / "wheels"
LOCK = WHEELS / "lock.toml"
SHIPPED = WHEELS / "blender_ships.toml"
_HEADER = """\
# Made by scripts/fetch_wheels --lock from requirements/extension.txt, what these packages need, and blender_ships.toml.
# `only_for`: left out of the zip together with that package (scripts/build_extension --without torch).
"""


@dataclass(frozen=True)
class Wheel:
    """One file of a zip.

    Attributes:
        name: canonical name of the package.
        file: the wheel's file name.
        sha256: of the file, hexadecimal.
        only_for: "torch" when nothing else needs it, else empty.
    """

    name: str
    version: str
    file: str
    sha256: str
    only_for: str = ""


Lock = dict[str, list[Wheel]]  # by Target.name


def read_lock(file: Path = LOCK) -> Lock:
    """The lock by target name.

    Raises:
        PackagingError: it is missing or malformed.
    """
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        return {name: [Wheel(**entry) for entry in entries] for name, entries in data.items()}
    except FileNotFoundError:
        raise PackagingError(f"{file} is missing: scripts/fetch_wheels --lock makes it.") from None
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise PackagingError(f"{file} is not a lock of wheels ({error}): take it from the repository again.") from None


def write_lock(lock: Lock, file: Path = LOCK) -> None:
    """Write the lock, one wheel a line, sorted, so that a change of one package is a change of one line."""
    parts = [_HEADER]
    for name, wheels in lock.items():
        lines = [f"    {_entry(wheel)}," for wheel in sorted(wheels, key=lambda wheel: wheel.name)]
        parts.append(f"{name} = [\n" + "\n".join(lines) + "\n]\n")
    partial = file.with_suffix(".partial")
    partial.write_text("\n".join(parts), encoding="utf-8", newline="\n")
    partial.replace(file)


def _entry(wheel: Wheel) -> str:
    pairs = {"name": wheel.name, "version": wheel.version, "file": wheel.file, "sha256": wheel.sha256}
    if wheel.only_for:
        pairs["only_for"] = wheel.only_for
    return "{" + ", ".join(f'{key} = "{value}"' for key, value in pairs.items()) + "}"


def wheels_of(lock: Lock, target: Target, without: str = "") -> list[Wheel]:
    """The wheels of one zip.

    Args:
        without: "torch" leaves it out, with what only it needs.
    """
    return [wheel for wheel in lock[target.name] if not without or without not in (wheel.name, wheel.only_for)]


def shipped_by_blender(target: Target, file: Path = SHIPPED) -> dict[str, str]:
    """Canonical name -> oldest version of the packages that Blender brings."""
    shipped: dict[str, str] = tomllib.loads(file.read_text(encoding="utf-8"))[f"py{target.python}"]
    return shipped


def sha256(file: Path) -> str:
    """Hexadecimal hash of a file."""
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
