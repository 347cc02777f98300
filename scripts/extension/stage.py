"""Laying out what one zip holds: the add-on's code, its manifest, the licence and its wheels."""

from __future__ import annotations

import os
import re
import shutil
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

from .errors import PackagingError
from .fetch import faults, folder_of
from .lock import REPOSITORY, Wheel
from .long_paths import has_long_paths, shorten
from .targets import Target

MANIFEST = REPOSITORY / "blender_manifest.toml"
PACKAGE = REPOSITORY / "anymocap_addon"
_LEFT_OUT = ("__pycache__", ".*", "*.py[co]", "*.blend1", "*.orig", "*.partial")
# Zips of the same content are the same whenever they are made; a zip keeps local time, and no year before 1980.
_TIME = time.mktime((2000, 1, 1, 12, 0, 0, 0, 0, -1))


def stage(
    target: Target, wheels: list[Wheel], into: Path, root: Path | None = None, blender: str = "", without: str = ""
) -> None:
    """Fill a folder with what the zip of a target holds.

    Args:
        wheels: what it brings; they must lie in the target's folder.
        into: made anew.
        root: the folder of the targets' wheel folders; the repository's own when None.
        blender: the only Blender that it is for; empty for those that have the target's Python.
        without: what `wheels` was made without, for the command that fetches them.

    Raises:
        PackagingError: a wheel is missing or is not the one of the lock.
    """
    source = folder_of(target, root) if root else folder_of(target)
    _demand(target, faults(wheels, source), without)
    shutil.rmtree(into, ignore_errors=True)
    shutil.copytree(PACKAGE, into, ignore=shutil.ignore_patterns(*_LEFT_OUT), symlinks=False)
    shutil.copyfile(REPOSITORY / "LICENSE", into / "LICENSE")
    (into / "wheels").mkdir()
    for wheel in wheels:
        _place(source / wheel.file, into / "wheels", target)
    names = sorted(file.name for file in (into / "wheels").iterdir())
    (into / "blender_manifest.toml").write_text(manifest_for(target, names, blender), encoding="utf-8", newline="\n")
    for file in _files(into):
        file.chmod(0o644)
        os.utime(file, (_TIME, _TIME))


def manifest_for(target: Target, wheel_files: list[str], blender: str = "") -> str:
    """The repository's manifest with the versions of Blender, platform and wheels of one zip."""
    first, after = (blender, _next_patch(blender)) if blender else target.blender_versions
    lines = [f'blender_version_min = "{first}"', f'platforms = ["{target.platform}"]']
    if after:
        lines.insert(1, f'blender_version_max = "{after}"')
    lines += ["wheels = [", *(f'    "./wheels/{name}",' for name in wheel_files), "]"]
    own = MANIFEST.read_text(encoding="utf-8")
    text, count = re.subn(r"(?m)^blender_version_min = .*$", lambda _: "\n".join(lines), own)
    text = re.sub(r"\A(#.*\n)+", "", text)  # its first words are about the repository
    if count != 1 or set(tomllib.loads(own)) & {"wheels", "platforms", "blender_version_max"}:
        raise PackagingError(
            f"{MANIFEST.name} must hold one line blender_version_min, and leave blender_version_max, platforms and "
            "wheels to scripts/build_extension, because they differ between zips."
        )
    return text


def zip_name(target: Target, without: str = "", blender: str = "") -> str:
    """anymocap-0.1.0-linux_x64-py311.zip, or …-blender_4.3.2-without_torch.zip"""
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    end = (f"-blender_{blender}" if blender else "") + (f"-without_{without}" if without else "")
    return f"{manifest['id']}-{manifest['version']}-{target.zip_suffix}{end}.zip"


def _next_patch(version: str) -> str:
    numbers = version.split(".")
    if len(numbers) != 3 or not all(number.isdigit() for number in numbers):
        raise PackagingError(f"{version!r} is not a version of Blender: write it as 4.3.2.")
    return ".".join([*numbers[:2], str(int(numbers[2]) + 1)])


def _demand(target: Target, found: list[tuple[Wheel, str]], without: str) -> None:
    if not found:
        return
    wheel, what = found[0]
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    raise PackagingError(
        f"wheels/{target.name}: {wheel.file} is {what}{more}. "
        f"Run scripts/fetch_wheels --platform {target.platform} --python {target.python}"
        f"{f' --without {without}' if without else ''}."
    )


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _place(wheel: Path, folder: Path, target: Target) -> None:
    if target.platform == "windows-x64" and has_long_paths(wheel):
        shorten(wheel, folder)
    else:
        _link(wheel, folder / wheel.name)


def _link(source: Path, target: Path) -> None:
    """A second name for a large file, or a copy where the file system cannot do that."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
