"""Zips built by Blender's own command from tiny wheels: what is in them, and what is refused."""

from __future__ import annotations

import json
import os
import tomllib
import zipfile
from pathlib import Path

import pytest

from scripts.extension import stage as staging
from scripts.extension.blender_command import blender_extension
from scripts.extension.errors import PackagingError
from scripts.extension.fetch import folder_of
from scripts.extension.lock import REPOSITORY
from scripts.extension.repository import publish
from scripts.extension.targets import Target

from .tiny_wheels import write_wheel

TARGET, MAC, WINDOWS = Target("linux-x64", "311"), Target("macos-arm64", "313"), Target("windows-x64", "311")
PACKAGE = REPOSITORY / "anymocap_addon"


@pytest.fixture
def wheels(tmp_path):
    return [write_wheel(folder_of(TARGET, tmp_path / "wheels"), name, "1.0") for name in ("beta", "alpha")]


def build(wheels, tmp_path: Path, name: str, target: Target = TARGET) -> Path:
    staged, made = tmp_path / f"staged-{name}", tmp_path / name
    staging.stage(target, wheels, staged, tmp_path / "wheels")
    blender_extension("build", "--source-dir", str(staged), "--output-filepath", str(made))
    blender_extension("validate", str(made))
    return made


def test_the_zip_holds_code_data_licence_manifest_and_wheels_and_nothing_else(wheels, tmp_path):
    with zipfile.ZipFile(build(wheels, tmp_path, "a.zip")) as archive:
        names = set(archive.namelist())
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    own = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*") if path.is_file()}
    own = {name for name in own if "__pycache__" not in name and not name.endswith((".pyc", ".partial"))}
    assert names == own | {"LICENSE", "blender_manifest.toml"} | {f"wheels/{wheel.file}" for wheel in wheels}
    assert {"core/formats/schemas/rig_info.json", "core/fit/sync_thresholds.json", "jobs/worker.py"} <= names
    assert manifest["wheels"] == ["./wheels/alpha-1.0-py3-none-any.whl", "./wheels/beta-1.0-py3-none-any.whl"]


@pytest.fixture
def small_package(tmp_path, monkeypatch):
    package = tmp_path / "package"
    for name in ("__init__.py", "__pycache__/x.pyc", "core/.secret", "core/a.py", "core/a.py.orig"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("")
    monkeypatch.setattr(staging, "PACKAGE", package)
    return package


def test_the_same_content_gives_the_same_zip(wheels, tmp_path, small_package):
    entries = []
    for name in ("a.zip", "b.zip"):
        with zipfile.ZipFile(build(wheels, tmp_path, name)) as archive:
            entries.append(sorted((i.filename, i.CRC, i.date_time, i.external_attr) for i in archive.infolist()))
        os.utime(small_package / "core" / "a.py", (1e9, 1e9))
        (small_package / "core" / "a.py").chmod(0o755)
    assert entries[0] == entries[1]


def test_caches_and_hidden_files_stay_out(wheels, tmp_path, small_package):
    with zipfile.ZipFile(build(wheels, tmp_path, "a.zip")) as archive:
        code = {name for name in archive.namelist() if not name.startswith("wheels/")}
    assert code == {"__init__.py", "core/a.py", "LICENSE", "blender_manifest.toml"}


def test_missing_wheels_are_fetched_with_the_options_of_the_build(wheels, tmp_path):
    with pytest.raises(PackagingError, match=r"--python 311 --without torch\.$"):
        staging.stage(TARGET, wheels, tmp_path / "staged", tmp_path / "nowhere", without="torch")


@pytest.mark.parametrize(("damage", "says"), [("missing", "is missing"), ("other", "hash differs")])
def test_a_wheel_that_is_not_the_locks_is_refused(wheels, tmp_path, damage, says):
    file = folder_of(TARGET, tmp_path / "wheels") / wheels[0].file
    file.unlink()
    if damage == "other":
        file.write_bytes(b"something else")
    with pytest.raises(PackagingError) as caught:
        staging.stage(TARGET, wheels, tmp_path / "staged", tmp_path / "wheels")
    assert wheels[0].file in str(caught.value) and says in str(caught.value)
    assert "scripts/fetch_wheels --platform linux-x64 --python 311" in str(caught.value)
    assert not (tmp_path / "staged").exists()


LONG = "torch-1.0.dist-info/licenses/" + "library/" * 15 + "LICENSE"


@pytest.mark.parametrize(("target", "short"), [(WINDOWS, True), (TARGET, False)], ids=["windows", "linux"])
def test_windows_gets_no_path_that_it_cannot_write(tmp_path, target, short):
    more = ((LONG, "Do as you like."), ("torch-1.0.dist-info/licenses/LICENSE", "Ours."), ("torch/a.py", "a = 1"))
    wheel = write_wheel(folder_of(target, tmp_path / "wheels"), "torch", "1.0", more=more)
    with zipfile.ZipFile(build([wheel], tmp_path, "a.zip", target)) as archive:
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
        (tmp_path / "inner.whl").write_bytes(archive.read(manifest["wheels"][0].removeprefix("./")))
    with zipfile.ZipFile(tmp_path / "inner.whl") as inner:
        content = {name: inner.read(name).decode() for name in inner.namelist()}
    assert (max(map(len, content)) <= 125) == short
    assert (content.pop("torch/a.py"), content["torch-1.0.dist-info/licenses/LICENSE"]) == ("a = 1", "Ours.")
    if short:
        assert manifest["wheels"] == ["./wheels/torch-1.0-1shortpaths-py3-none-any.whl"]
        gathered = content["torch-1.0.dist-info/licenses/of_included_libraries.txt"]
        assert LONG in gathered and "Do as you like." in gathered
        listed = [line.split(",")[0] for line in content["torch-1.0.dist-info/RECORD"].splitlines()]
        assert sorted(listed) == sorted([*content, "torch/a.py"])
    else:
        assert manifest["wheels"] == [f"./wheels/{wheel.file}"]
        assert content[LONG] == "Do as you like."


def test_code_in_too_long_a_path_is_refused(tmp_path):
    more = (("torch/" + "deep/" * 25 + "a.py", ""),)
    wheel = write_wheel(folder_of(WINDOWS, tmp_path / "wheels"), "torch", "1.0", more=more)
    with pytest.raises(PackagingError, match=r"torch-1\.0-py3-none-any\.whl: the path torch/deep/.* is too long"):
        staging.stage(WINDOWS, [wheel], tmp_path / "staged", tmp_path / "wheels")


def test_blenders_refusal_is_passed_on(tmp_path):
    (tmp_path / "blender_manifest.toml").write_text('id = "anymocap"\n')
    with pytest.raises(PackagingError, match=r"extension build failed: .*rror"):
        blender_extension("build", "--source-dir", str(tmp_path), "--output-dir", str(tmp_path))


def test_a_wrong_blender_is_named(monkeypatch):
    monkeypatch.setenv("BLENDER", "/nowhere/blender")
    with pytest.raises(PackagingError, match="BLENDER=/nowhere/blender is not a program"):
        blender_extension("build")


def test_the_repository_lists_one_zip_a_target_the_latest(wheels, tmp_path, monkeypatch):
    repository = tmp_path / "repository"
    old = build(wheels, tmp_path, "anymocap-0.0.1-linux_x64-py311.zip")
    other = tmp_path / "anymocap-0.0.1-macos_arm64-py313.zip"
    (tmp_path / "wheels" / MAC.name).mkdir()
    build([], tmp_path, other.name, MAC)
    publish([old, other], repository)
    new = tmp_path / "anymocap-0.0.2-linux_x64-py311.zip"
    old.replace(new)
    address = publish([new], repository)
    assert address == (repository / "index.json").as_uri()
    listed = json.loads((repository / "index.json").read_text())["data"]
    by_platform = {item["platforms"][0]: item for item in listed}
    assert {item["archive_url"] for item in listed} == {f"./{new.name}", f"./{other.name}"}
    assert by_platform["linux-x64"]["blender_version_max"] == "5.1.0"
    assert by_platform["macos-arm64"]["blender_version_min"] == "5.1.0"
