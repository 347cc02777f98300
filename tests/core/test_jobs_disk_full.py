"""A full disk: one clear error, nothing half written, and the next run works."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tiny_stages import TINY

from anymocap_addon.commands.drive import drive
from anymocap_addon.core.atomic import TEMPORARY_PREFIX
from anymocap_addon.core.errors import AnyMoCapError
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.stage_run import StageResult, StageRun

_CLONE_NEWNS = 0x00020000


def write(paths: CreaturePaths, how: str, megabytes: int) -> StageResult:
    pool = Pool()
    try:
        settings = {"how": how, "megabytes": megabytes}
        return drive(StageRun(paths, TINY["misbehave"], settings, pool=pool, registry=TINY, force=True), "write")
    finally:
        pool.close()


@pytest.fixture
def small_file_limit() -> Iterator[None]:
    """No process may write a file of more than 4 MB, which looks like a full disk to every writer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("how", ["write", "write_plainly"])
def test_a_write_that_does_not_fit_is_one_clear_error(tmp_path, small_file_limit, how):
    paths = Project(tmp_path).creature("c")
    paths.runs.mkdir(parents=True)
    former = paths.runs / "result.bin"
    former.write_bytes(b"former result")
    with pytest.raises(AnyMoCapError) as caught:
        write(paths, how, 8)
    assert "disk is full" in str(caught.value) and "Free some space" in str(caught.value)
    assert former.read_bytes() == b"former result"
    assert not list(tmp_path.rglob(f"{TEMPORARY_PREFIX}*"))
    if how == "write":
        write(paths, how, 1)
        assert former.stat().st_size == 1 << 20


def write_on_a_disk_that_fills(root: Path) -> None:
    """Print what happens with room, without a byte of room, and with room again."""
    paths = Project(root).creature("c")
    filler = root / "filler"
    for full, megabytes in ((False, 1), (True, 1), (False, 2)):
        filler.unlink(missing_ok=True)
        if full:
            _fill(filler)
        try:
            write(paths, "write", megabytes)
            print("written", (paths.runs / "result.bin").stat().st_size >> 20)
        except AnyMoCapError as error:
            print("error:", error)


def _fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as handle:
        try:
            while True:
                handle.write(b"x" * 1024)
        except OSError:
            return


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_disk_without_a_free_byte(tmp_path):
    """A real disk of 4 MB: full to the last byte it stops events and records too, and still gives one clear error."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def mount_small_disk() -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_CLONE_NEWNS) != 0:
            os._exit(77)
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)], check=True)

    path = [str(Path(__file__).parent), *(entry for entry in sys.path if entry)]
    module = Path(__file__).stem
    code = (
        f"import sys; sys.path[:0] = {path!r}; from pathlib import Path; import {module};"
        f"{module}.write_on_a_disk_that_fills(Path({str(disk)!r}))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code],
        preexec_fn=mount_small_disk,
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode == 77:
        pytest.skip("this system does not let us make a mount namespace")
    assert ended.returncode == 0, ended.stderr
    lines = ended.stdout.splitlines()
    assert lines[0] == "written 1"
    assert lines[1].startswith("error:") and "disk is full" in lines[1]
    assert lines[-1] == "written 2", "after space was freed it works again"
    assert "Traceback" not in ended.stdout + ended.stderr
