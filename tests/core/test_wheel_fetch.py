"""Locking and fetching with pip's real program, on wheels of our own instead of an index."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scripts.extension import fetch as fetching
from scripts.extension import resolve
from scripts.extension.errors import PackagingError
from scripts.extension.fetch import faults, fetch, folder_of
from scripts.extension.lock import Wheel, read_lock, write_lock
from scripts.extension.targets import Target

from .tiny_wheels import write_wheel

LINUX, LINUX_313 = Target("linux-x64", "311"), Target("linux-x64", "313")
WINDOWS, MAC = Target("windows-x64", "311"), Target("macos-arm64", "311")
CPU_TAG = "cp311-cp311-manylinux_2_28_x86_64"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that is all that pip knows of."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def run(wheels, target, root):
    return [line.split(": ")[1] for line in fetch(wheels, target, root)]


def test_wheels_come_by_hash_once_and_strays_go(index, tmp_path):
    wheels = [write_wheel(index, "alpha", "1.0"), write_wheel(index, "beta", "2.0")]
    folder = folder_of(LINUX, tmp_path / "wheels")
    folder.mkdir(parents=True)
    (folder / "gamma-1.0-py3-none-any.whl").write_bytes(b"of an older lock")
    assert sorted(run(wheels, LINUX, folder.parent)) == [wheel.file for wheel in wheels]
    assert faults(wheels, folder) == []
    assert sorted(path.name for path in folder.iterdir()) == [wheel.file for wheel in wheels]
    assert run(wheels, LINUX, folder.parent) == [], "what is there is not fetched again"
    (folder / wheels[0].file).write_bytes(b"half of it")
    assert run(wheels, LINUX, folder.parent) == [wheels[0].file]


def test_pure_wheels_of_another_target_are_not_downloaded_again(index, tmp_path, monkeypatch):
    wheel = write_wheel(index, "alpha", "1.0")
    assert run([wheel], LINUX, tmp_path) == [wheel.file]
    monkeypatch.setattr(fetching, "_download", lambda *_: pytest.fail("downloaded"))
    assert run([wheel], WINDOWS, tmp_path) == [wheel.file]


def test_another_file_under_the_same_name_never_gets_in(index, tmp_path):
    good, bad = write_wheel(index, "alpha", "1.0"), replace(write_wheel(index, "beta", "2.0"), sha256="0" * 64)
    lines = fetch([bad, good], LINUX, tmp_path)
    with pytest.raises(PackagingError, match=r"beta-2\.0-py3-none-any\.whl could not be fetched\. pip says: ERROR"):
        list(lines)
    assert [path.name for path in folder_of(LINUX, tmp_path).iterdir()] == [good.file], "the others are there"


def test_where_the_cpu_build_of_torch_is_to_be_had_is_told(index, tmp_path):
    torch = Wheel("torch", "1.0+cpu", f"torch-1.0+cpu-{CPU_TAG}.whl", "0" * 64)
    with pytest.raises(PackagingError, match="PIP_EXTRA_INDEX_URL to PyTorch's own CPU index, or PIP_FIND_LINKS"):
        list(fetch([torch], LINUX, tmp_path))


@pytest.fixture
def requirements(index, tmp_path, monkeypatch):
    """torch needs a package that it has on Linux alone, and one that Blender ships."""
    file = tmp_path / "extension.txt"
    file.write_text("alpha==1.0\ntorch==1.0\nnumpy==1.0\n")
    constraints = tmp_path / "constraints.txt"
    constraints.write_text("delta==1.0\n")
    monkeypatch.setattr(resolve, "REQUIREMENTS", file)
    monkeypatch.setattr(resolve, "CONSTRAINTS", constraints)
    write_wheel(index, "alpha", "1.0", needs=('colorama; platform_system == "Windows"', "delta"))
    torch_needs = ('nccl; platform_system == "Linux"', "numpy", "delta", 'extra; extra == "all"')
    write_wheel(index, "torch", "1.0+cpu", CPU_TAG, torch_needs)
    write_wheel(index, "torch", "1.0", "cp311-cp311-win_amd64", torch_needs)
    for name, version in (("colorama", "1.0"), ("nccl", "1.0"), ("delta", "1.0"), ("delta", "2.0")):
        write_wheel(index, name, version)
    write_wheel(index, "numpy", resolve.shipped_by_blender(LINUX)["numpy"])
    write_wheel(index, "numpy", resolve.shipped_by_blender(LINUX_313)["numpy"])
    return index


def names(wheels):
    return {wheel.name: wheel.only_for for wheel in wheels}


def test_each_platform_gets_what_it_needs_itself(requirements):
    resolver = resolve.Resolver({})
    linux = resolver.wheels(LINUX)
    assert names(linux) == {"alpha": "", "delta": "", "torch": "torch", "nccl": "torch"}
    assert {wheel.name: wheel.version for wheel in linux}["delta"] == "1.0", "the version that tests run with"
    assert names(resolver.wheels(WINDOWS)) == {"alpha": "", "colorama": "", "delta": "", "torch": "torch"}
    assert resolver.said == []


def test_a_wheel_that_pip_cannot_find_here_stays_locked(requirements):
    old = Wheel("torch", "1.0+cpu", "torch-1.0+cpu-cp313-cp313-manylinux_2_28_x86_64.whl", "1" * 64, "torch")
    resolver = resolve.Resolver({LINUX_313.name: [old]})
    resolver.wheels(LINUX)
    kept = resolver.wheels(LINUX_313)
    assert names(kept) == {"alpha": "", "delta": "", "torch": "torch", "nccl": "torch"}
    assert old in kept
    assert resolver.said == [f"linux-x64-py313: pip finds no {old.file} here; its entry stays as it was."]


def test_without_an_entry_to_keep_the_reason_is_told(requirements):
    with pytest.raises(PackagingError, match=r"linux-x64-py313: pip says: .*torch==1\.0\+cpu.*PIP_EXTRA_INDEX_URL"):
        resolve.Resolver({}).wheels(LINUX_313)


def test_the_lock_reads_back_as_it_was_written(tmp_path):
    lock = {"linux-x64-py311": [Wheel("torch", "1.0+cpu", "torch.whl", "a" * 64, "torch"), Wheel("a", "1", "a", "b")]}
    write_lock(lock, tmp_path / "lock.toml")
    assert read_lock(tmp_path / "lock.toml") == {
        name: sorted(wheels, key=lambda w: w.name) for name, wheels in lock.items()
    }


@pytest.mark.parametrize("text", ["linux = [", 'linux = [{name = "a"}]', "linux = 3"])
def test_a_broken_lock_is_one_sentence(tmp_path, text):
    (tmp_path / "lock.toml").write_text(text)
    with pytest.raises(PackagingError, match="not a lock of wheels"):
        read_lock(tmp_path / "lock.toml")
