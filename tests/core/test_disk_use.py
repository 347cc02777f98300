"""Disk use counts each file once, and cleaning takes caches only."""

from __future__ import annotations

from pathlib import Path

import pytest

from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.jobs.disk_use import clean, disk_use, shown_size


def write(path: Path, size: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    return path


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    paths = Project(tmp_path).creature("fox")
    write(paths.assets / "model.glb", 1000)
    write(paths.reader_pt, 200)
    write(paths.runs / "reader_work" / "samples" / "a.bin", 5000)
    write(paths.exam("test").frames / "00000.png", 300)
    write(paths.exam("test").clip, 40)
    write(paths.clip("walk").motion, 60)
    write(paths.clip("walk").persp / "00000.png", 700)
    write(paths.dataset / "00000.png", 90)
    return paths


def test_every_byte_is_counted_once(paths):
    sizes = {item.name: item.size for item in disk_use(paths)}
    assert sizes == {
        "reader_work": 5000,
        "exam_frames": 300,
        "renders": 700,
        "assets": 1000,
        "dataset": 90,
        "reader": 200,
        "clips": 100,
    }
    whole = sum(file.stat().st_size for file in paths.root.rglob("*") if file.is_file())
    assert sum(sizes.values()) == whole


def test_cleaning_frees_what_it_says_and_leaves_inputs_and_results(paths):
    kept = [paths.assets / "model.glb", paths.reader_pt, paths.exam("test").clip, paths.clip("walk").motion]
    caches = [item for item in disk_use(paths) if item.cache]
    assert all(item.cost for item in caches)
    assert clean(caches) == 6000
    assert all(path.exists() for path in kept)
    assert not [item for item in disk_use(paths) if item.cache]


def test_results_cannot_be_cleaned(paths):
    results = [item for item in disk_use(paths) if item.name == "clips"]
    with pytest.raises(ValueError, match="clips is no cache"):
        clean(results)
    assert paths.clip("walk").motion.exists()


def test_a_link_is_not_followed(paths, tmp_path):
    outside = write(tmp_path / "elsewhere" / "big.bin", 100000)
    (paths.runs / "reader_work" / "link").symlink_to(outside.parent)
    cache = next(item for item in disk_use(paths) if item.name == "reader_work")
    assert cache.size < 6000
    clean([cache])
    assert outside.exists()


def test_an_empty_project_uses_nothing(tmp_path):
    assert disk_use(Project(tmp_path).creature("nobody")) == []


def test_sizes_are_shown_in_units():
    assert [shown_size(size) for size in (10, 96e6, 1.25e9)] == ["0.1 MB", "96 MB", "1.2 GB"]
