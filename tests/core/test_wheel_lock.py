"""Manifest, lock, requirements and the fetched wheels hold together."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.utils import canonicalize_name, parse_wheel_filename

from scripts.extension.fetch import folder_of
from scripts.extension.lock import REPOSITORY, read_lock, sha256, shipped_by_blender, wheels_of
from scripts.extension.resolve import CONSTRAINTS, REQUIREMENTS, pins
from scripts.extension.stage import MANIFEST, manifest_for
from scripts.extension.targets import Target, all_targets

from .tiny_wheels import blender_extension_tool

LOCK = read_lock()
TARGETS = all_targets()
ROOTS = ("torch", "transformers", "opencv-python-headless", "fal-client", "imageio-ffmpeg", "safetensors")
each_target = pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)


@pytest.fixture(scope="module")
def blender():
    return blender_extension_tool()


def test_the_lock_covers_exactly_the_targets():
    assert set(LOCK) == {target.name for target in TARGETS}


@each_target
def test_every_wheel_is_named_hashed_and_fits(target):
    wheels = LOCK[target.name]
    assert {wheel.name for wheel in wheels} >= set(ROOTS)
    assert len({wheel.name for wheel in wheels}) == len(wheels)
    for wheel in wheels:
        name, version, _, _ = parse_wheel_filename(wheel.file)
        assert (name, str(version)) == (wheel.name, wheel.version)
        assert re.fullmatch(r"[0-9a-f]{64}", wheel.sha256), wheel
        assert target.accepts(wheel.file), wheel


@each_target
def test_blender_reads_the_wheels_names_as_we_do(target, blender):
    files = [wheel.file for wheel in LOCK[target.name]]
    assert blender.paths_filter_wheels_by_platform(files, target.platform) == files
    assert blender.python_versions_from_wheels(files) == {(3, int(target.python[1:]))}


@pytest.mark.parametrize(
    ("file", "fits"),
    [
        ("a-1-cp311-cp311-manylinux_2_28_x86_64.whl", ["linux-x64-py311"]),
        ("a-1-cp311-cp311-manylinux_2_39_x86_64.whl", []),  # Blender's own glibc is older
        ("a-1-cp313-cp313t-manylinux_2_28_x86_64.whl", []),
        ("a-1-cp312-abi3-win_amd64.whl", ["windows-x64-py313"]),
        ("a-1-cp311-cp311-musllinux_1_2_x86_64.whl", []),
        ("a-1-cp38-abi3-macosx_10_9_universal2.whl", ["macos-arm64-py311", "macos-arm64-py313"]),
        ("a-1-py2.py3-none-any.whl", [target.name for target in TARGETS]),
    ],
)
def test_which_wheels_fit_which_target(file, fits):
    assert [target.name for target in TARGETS if target.accepts(file)] == fits


@each_target
def test_nothing_that_blender_ships(target):
    shipped = shipped_by_blender(target)
    assert {"numpy", "requests", "urllib3", "certifi", "idna", "charset-normalizer"} <= set(shipped)
    assert not {wheel.name for wheel in LOCK[target.name]} & set(shipped)


@each_target
@pytest.mark.parametrize("file", [REQUIREMENTS, CONSTRAINTS], ids=lambda file: file.stem)
def test_the_lock_has_the_versions_that_tests_run_with(target, file):
    locked = {wheel.name: wheel.version.partition("+")[0] for wheel in LOCK[target.name]}
    wanted = {canonicalize_name(pin.name): str(pin.specifier).removeprefix("==") for pin in pins(file)}
    assert {name: locked[name] for name in wanted if name in locked} == {
        name: version for name, version in wanted.items() if name in locked
    }
    if file == REQUIREMENTS:
        assert set(wanted) - set(locked) == set(wanted) & set(shipped_by_blender(target))


def test_linux_gets_the_cpu_build_of_torch():
    versions = {name: wheel.version for name, wheels in LOCK.items() for wheel in wheels if wheel.name == "torch"}
    assert {name for name, version in versions.items() if version.endswith("+cpu")} == {
        "linux-x64-py311",
        "linux-x64-py313",
    }
    assert not any(wheel.name.startswith("nvidia") for wheels in LOCK.values() for wheel in wheels)


@each_target
def test_without_torch_only_what_it_alone_needs_is_left_out(target):
    left = {wheel.name for wheel in wheels_of(LOCK, target, without="torch")}
    gone = {wheel.name for wheel in LOCK[target.name]} - left
    assert {"torch", "sympy", "networkx"} <= gone
    assert left >= set(ROOTS) - {"torch"} | {"filelock", "fsspec", "typing-extensions"}


@each_target
def test_fetched_wheels_are_those_of_the_lock(target):
    folder = folder_of(target)
    if not folder.is_dir():
        pytest.skip(f"no wheels fetched for {target.name}")
    hashes = {wheel.file: wheel.sha256 for wheel in LOCK[target.name]}
    assert {file.name: sha256(file) for file in folder.glob("*.whl")}.items() <= hashes.items()


def test_the_repositorys_manifest_keeps_within_blenders_limits(blender):
    manifest = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    assert blender.pkg_manifest_is_valid_or_error_all(manifest, from_repo=False, strict=True) is None
    assert manifest["license"] == ["SPDX:GPL-3.0-or-later"]
    assert set(manifest["permissions"]) == {"files", "network"}
    assert all(len(text) <= 64 for text in (manifest["tagline"], *manifest["permissions"].values()))
    assert not {"wheels", "platforms", "blender_version_max"} & set(manifest), "these differ between zips"


@each_target
def test_each_zips_manifest_names_its_own_blenders_platform_and_wheels(target, blender):
    files = [wheel.file for wheel in LOCK[target.name]]
    manifest = tomllib.loads(manifest_for(target, files))
    assert blender.pkg_manifest_is_valid_or_error_all(manifest, from_repo=False, strict=True) is None
    assert manifest["platforms"] == [target.platform]
    assert manifest["wheels"] == [f"./wheels/{file}" for file in files]
    assert "permissions" in manifest and "wheels" not in manifest["permissions"]


def test_no_blender_is_offered_two_zips_and_none_is_left_out():
    for earlier, later in ((Target(where, "311"), Target(where, "313")) for where in ("linux-x64", "windows-x64")):
        assert earlier.blender_versions[0] == "4.2.0"
        assert earlier.blender_versions[1] == later.blender_versions[0]
        assert later.blender_versions[1] == ""


def test_the_licence_stands_beside_the_manifest():
    assert "GENERAL PUBLIC LICENSE" in (REPOSITORY / "LICENSE").read_text(encoding="utf-8")[:200]
