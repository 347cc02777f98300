"""Disk use counts each file once, and cleaning takes caches only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pretended import pretend_creature, pretend_run

from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.stage_record import load_record, save_record
from anymocap_addon.jobs.disk_use import clean, disk_use, shown_size
from anymocap_addon.jobs.plan import stale_plan
from anymocap_addon.jobs.registry import REGISTRY
from anymocap_addon.jobs.stage import Stage
from anymocap_addon.jobs.state import all_states, remembered_settings


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
    assert clean(paths, caches) == 6000
    assert all(path.exists() for path in kept)
    assert not [item for item in disk_use(paths) if item.cache]


def test_results_cannot_be_cleaned(paths):
    results = [item for item in disk_use(paths) if item.name == "clips"]
    with pytest.raises(ValueError, match="clips is no cache"):
        clean(paths, results)
    assert paths.clip("walk").motion.exists()


def test_a_link_is_not_followed(paths, tmp_path):
    outside = write(tmp_path / "elsewhere" / "big.bin", 100000)
    (paths.runs / "reader_work" / "link").symlink_to(outside.parent)
    cache = next(item for item in disk_use(paths) if item.name == "reader_work")
    assert cache.size < 6000
    clean(paths, [cache])
    assert outside.exists()


def test_an_empty_project_uses_nothing(tmp_path):
    assert disk_use(Project(tmp_path).creature("nobody")) == []


def test_sizes_are_shown_in_units():
    assert [shown_size(size) for size in (10, 96e6, 1.25e9)] == ["0.1 MB", "96 MB", "1.2 GB"]


def test_training_pictures_may_go_once_a_reader_was_trained_on_them(paths):
    pretend_creature(paths, upto="dataset")
    pictures = write(paths.dataset / "00799_meta.json", 500)
    assert not [item.name for item in disk_use(paths) if item.cache and item.name == "dataset"]
    pretend_run(paths, "train")
    clean(paths, [item for item in disk_use(paths) if item.name == "dataset"])
    assert not pictures.exists() and paths.dataset_sheet.exists()
    states = {state.stage.name: state.word for state in all_states(REGISTRY, paths, [])}
    assert (states["dataset"], states["train"]) == ("ready", "ready"), "they are not needed any more"
    assert "dataset" not in planned(paths), "and not drawn again by Run All"
    assert "dataset" in planned(paths, train={"preset": "long"})
    record = load_record(paths, "train")
    save_record(paths, replace(record, outcome="failed"))
    states = {state.stage.name: state.word for state in all_states(REGISTRY, paths, [])}
    assert states["dataset"] == "stale", "another training needs them"


def planned(paths: CreaturePaths, **changed: dict[str, object]) -> list[str]:
    def settings_of(stage: Stage, item: str | None) -> dict[str, object]:
        return {**remembered_settings(stage, item, load_record(paths, stage.name)), **changed.get(stage.name, {})}

    return [one.stage_name for one in stale_plan(REGISTRY, paths, [], settings_of)]
