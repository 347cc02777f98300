"""Filling wheels/<platform>-py<version>/ with the files of the lock."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from .errors import PackagingError
from .lock import WHEELS, Wheel, sha256
from .resolve import CPU_INDEX_HINT
from .targets import Target

_AT_ONCE = 4
_PARTIAL = ".partial-"
_ABANDONED_S = 24 * 3600


def folder_of(target: Target, root: Path = WHEELS) -> Path:
    """Where the wheels of a target lie."""
    return root / target.name


def faults(wheels: list[Wheel], folder: Path) -> list[tuple[Wheel, str]]:
    """Wheels that are not in the folder as the lock says, each with what is wrong."""
    found = []
    for wheel in wheels:
        file = folder / wheel.file
        if not file.is_file():
            found.append((wheel, "missing"))
        elif sha256(file) != wheel.sha256:
            found.append((wheel, "not the file that the lock names (its hash differs)"))
    return found


def fetch(wheels: list[Wheel], target: Target, root: Path = WHEELS, kept: Sequence[Wheel] = ()) -> Iterator[str]:
    """Bring the folder of a target into line with the lock; yields a line for each wheel that came.

    What is there with the right hash stays, so that a run that was stopped goes on where it was. A file appears under
    its name only when it is whole and its hash is right. Wheels that another target's folder holds are linked.

    Args:
        kept: others that may lie in the folder; whatever else lies there is taken away.

    Raises:
        PackagingError: some could not be had; the others are there all the same.
    """
    folder = folder_of(target, root)
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    missing = [wheel for wheel, _ in faults(wheels, folder)]
    problems = []
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        running = {pool.submit(_bring, wheel, target, folder): wheel for wheel in missing}
        for done in as_completed(running):
            try:
                done.result()
                yield f"{target.name}: {running[done].file}"
            except PackagingError as error:
                problems.append(str(error))
    for stray in folder.glob("*.whl"):
        if stray.name not in {wheel.file for wheel in (*wheels, *kept)}:
            stray.unlink()
    if problems:
        raise PackagingError("\n".join(sorted(problems)))


def _bring(wheel: Wheel, target: Target, folder: Path) -> None:
    partial = folder / f"{_PARTIAL}{os.getpid()}-{wheel.sha256[:12]}"
    partial.mkdir(exist_ok=True)
    try:
        file = partial / wheel.file
        if not _link_from_sibling(wheel, folder, file):
            _download(wheel, target, partial)
        if not file.is_file() or sha256(file) != wheel.sha256:
            raise PackagingError(f"{target.name}: pip brought another file than {wheel.file}.")
        file.replace(folder / wheel.file)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _link_from_sibling(wheel: Wheel, folder: Path, file: Path) -> bool:
    """Wheels in pure Python are the same for every target."""
    for sibling in folder.parent.glob(f"*/{wheel.file}"):
        if sibling.parent != folder and sha256(sibling) == wheel.sha256:
            try:
                os.link(sibling, file)
            except OSError:
                shutil.copyfile(sibling, file)
            return True
    return False


def _download(wheel: Wheel, target: Target, into: Path) -> None:
    requirement = into / "requirement.txt"
    requirement.write_text(f"{wheel.name}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"),
        *("--dest", str(into), *target.pip_flags(), "-r", str(requirement)),
    ]
    ended = subprocess.run(command, capture_output=True, text=True)
    if ended.returncode:
        hint = f" {CPU_INDEX_HINT}" if wheel.version.endswith("+cpu") else ""
        lines = [line for line in ended.stderr.splitlines() if line.startswith("ERROR:")]
        reason = (lines or ended.stderr.strip().splitlines() or ["no reason given"])[0]
        raise PackagingError(f"{target.name}: {wheel.file} could not be fetched. pip says: {reason}{hint}")


def _sweep(folder: Path) -> None:
    """Take away what a run that was killed left, but not what another one is writing."""
    for partial in folder.glob(f"{_PARTIAL}*"):
        if time.time() - partial.stat().st_mtime > _ABANDONED_S:
            shutil.rmtree(partial, ignore_errors=True)
