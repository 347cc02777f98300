"""States of stages: what makes them stale, what does not, what runs again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_stages import COPY, COUNT, TINY

from anymocap_addon.commands.drive import drive
from anymocap_addon.commands.run_all import run_all
from anymocap_addon.core.creature import Creature, Prep, save_creature
from anymocap_addon.core.errors import AnyMoCapError, BadInputError
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.stage_record import load_record, save_record
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.registry import REGISTRY
from anymocap_addon.jobs.stage import Registry, Stage
from anymocap_addon.jobs.stage_run import StageResult, StageRun
from anymocap_addon.jobs.state import StageState, own_staleness, stage_state


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    paths = Project(tmp_path / "project").creature("c")
    paths.assets.mkdir(parents=True)
    (paths.assets / "source.txt").write_text("ambling", encoding="utf-8")
    (paths.assets / "model.glb").write_text("mesh")
    return paths


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    pool = Pool()
    yield pool
    pool.close()


def run(
    paths: CreaturePaths, pool: Pool, stage: Stage, registry: Registry = TINY, force: bool = False, **settings: object
) -> StageResult:
    return drive(StageRun(paths, stage, settings, pool=pool, registry=registry, force=force), stage.label)


def state(paths: CreaturePaths, stage: Stage, **settings: object) -> StageState:
    item = settings.get("clip")
    return stage_state(TINY, paths, stage, item, stage.check(settings) if settings else None)


def test_work_already_done_is_skipped_until_something_that_matters_changes(paths, pool):
    assert state(paths, COPY).word == "missing"
    first = run(paths, pool, COPY, times=2)
    assert not first.skipped and state(paths, COPY).word == "ready"
    assert run(paths, pool, COPY, times=2).skipped
    assert run(paths, pool, COPY, times=2).figures == first.figures
    assert run(paths, pool, COPY, times=2, threads=5).skipped, "threads do not change the result"
    assert not run(paths, pool, COPY, times=2, force=True).skipped
    assert state(paths, COPY, times=3).because == "times is now 3, was 2"
    source = paths.assets / "source.txt"
    os.utime(source)
    assert state(paths, COPY).word == "ready", "touched, but the content is the same"
    source.write_text("trotting", encoding="utf-8")
    assert (state(paths, COPY).word, state(paths, COPY).because) == ("stale", "assets/c/source.txt changed")
    source.unlink()
    assert "source.txt is missing" in state(paths, COPY).because
    with pytest.raises(BadInputError, match=r"source\.txt.*does not exist"):
        run(paths, pool, COPY)


def test_a_stage_is_stale_when_an_earlier_one_is_and_when_an_output_is_gone(paths, pool):
    run(paths, pool, COPY)
    run(paths, pool, COUNT, processes=1)
    assert state(paths, COUNT).word == "ready"
    (paths.assets / "source.txt").write_text("trotting", encoding="utf-8")
    assert state(paths, COUNT).because == "copy is stale"
    run(paths, pool, COPY)
    assert state(paths, COUNT).because == "runs/c/copy.txt changed"
    run(paths, pool, COUNT, processes=1)
    (paths.runs / "count.txt").unlink()
    assert state(paths, COUNT).because == "count.txt is missing"


def test_unfinished_work_for_another_input_is_not_resumed(paths, pool):
    run(paths, pool, COPY, times=3)
    assert run(paths, pool, COUNT, processes=1).figures["total"] == 21
    run(paths, pool, COPY)
    again = run(paths, pool, COUNT, processes=1)
    assert again.figures["total"] == 7, "parts of the longer text are gone"
    assert again.figures["shards"][0]["made"] == 7


def test_a_project_that_was_moved_is_still_ready(paths, pool, tmp_path):
    video = paths.root / "films" / "a.mp4"
    video.parent.mkdir()
    video.write_text("film")
    run(paths, pool, COPY)
    clip = TINY["perclip"]
    assert run(paths, pool, clip, clip="a", video=str(video)).figures["video"] == str(video)
    moved = Project(tmp_path / "elsewhere é").creature("c")
    shutil.move(paths.root, moved.root)
    assert state(moved, COPY).word == "ready"
    assert stage_state(TINY, moved, clip, "a").word == "ready"
    assert load_record(moved, "perclip", "a").settings["video"] == "films/a.mp4"
    assert run(moved, pool, clip, clip="a", video=str(moved.root / "films" / "a.mp4")).skipped
    again = run(moved, pool, clip, force=True, clip="a", video="films/a.mp4")
    assert again.figures["video"] == str(moved.root / "films" / "a.mp4")


def test_failed_stopped_and_running_are_told_apart(paths, pool):
    misbehave = TINY["misbehave"]
    with pytest.raises(AnyMoCapError):
        run(paths, pool, misbehave, how="fail")
    failed = state(paths, misbehave)
    assert failed.word == "failed" and "It does not work." in failed.because
    run(paths, pool, COPY)
    record = load_record(paths, "copy")
    # This process knows its own stages; an id that was given again, or a project moved under a stage, is no proof.
    save_record(paths, replace(record, outcome="running", pid=os.getpid()))
    assert state(paths, COPY).word == "stale" and "resumes" in state(paths, COPY).because
    save_record(paths, replace(record, outcome="running", pid=os.getppid()))
    assert state(paths, COPY).word == "running"
    with pytest.raises(AnyMoCapError, match="already running"):
        run(paths, pool, COPY)
    save_record(paths, replace(record, outcome="running", pid=2**22 + 1))
    assert state(paths, COPY).word == "stale" and "resumes" in state(paths, COPY).because
    assert not run(paths, pool, COPY).skipped


def test_a_stage_that_works_differently_now_is_stale(paths, pool):
    run(paths, pool, COPY)
    newer = replace(COPY, version=2)
    assert "differently" in own_staleness(newer, paths, load_record(paths, "copy"), COPY.check({}))


def test_a_setting_that_is_new_counts_as_its_default(paths, pool):
    run(paths, pool, COPY, times=2)
    record = load_record(paths, "copy")
    del record.settings["word"]
    save_record(paths, record)
    assert state(paths, COPY).word == "ready", "it ran as the default says"
    assert "word is now 'b'" in state(paths, COPY, times=2, word="b").because


def test_only_the_keys_of_creature_json_that_a_stage_uses_matter(paths, pool):
    stage = replace(COPY, creature_keys=("prep",))
    registry = Registry((stage,))
    creature = Creature(name="c", prep=Prep(length_m=1.5))
    save_creature(paths.creature_json, creature)
    run(paths, pool, stage, registry)
    save_creature(paths.creature_json, replace(creature, feet=("paw",)))
    assert stage_state(registry, paths, stage).word == "ready"
    save_creature(paths.creature_json, replace(creature, prep=Prep(length_m=2.0)))
    assert "creature.json prep is now" in stage_state(registry, paths, stage).because
    paths.creature_json.write_text("{")
    with pytest.raises(BadInputError, match=r"creature\.json"):
        stage_state(registry, paths, stage)


def test_run_does_what_is_stale_with_the_settings_of_the_last_time(paths, pool):
    registry = Registry((COPY, COUNT, TINY["perclip"]))
    assert [entry["skipped"] for entry in run_all(registry, paths, ["a"], pool)] == [False] * 3
    assert [entry["skipped"] for entry in run_all(registry, paths, [], pool)] == [True] * 3
    run(paths, pool, COPY, times=2)
    entries = run_all(registry, paths, [], pool)
    assert [entry["skipped"] for entry in entries] == [True, False, False]
    assert (paths.runs / "count.txt").read_text() == "14"


def test_run_never_starts_by_itself_what_nobody_asked_for(paths, pool):
    registry = Registry((replace(COPY, automatic=False),))
    assert run_all(registry, paths, [], pool) == []
    run(paths, pool, registry["copy"], registry)
    (paths.assets / "source.txt").write_text("trotting", encoding="utf-8")
    assert [entry["skipped"] for entry in run_all(registry, paths, [], pool)] == [False]


def test_a_file_that_the_artist_put_there_is_not_written_over(paths, pool):
    registry = Registry((replace(COPY, automatic=False),))
    own = paths.runs / "copy.txt"
    own.parent.mkdir(parents=True)
    own.write_text("by hand")
    with pytest.raises(BadInputError, match=r"copy\.txt: copy would write over this file.*--force"):
        run(paths, pool, registry["copy"], registry)
    assert own.read_text() == "by hand"
    run(paths, pool, registry["copy"], registry, force=True)
    own.unlink()
    run(paths, pool, registry["copy"], registry)
    assert own.read_text() == "ambling"


def test_old_jobs_are_forgotten(paths, pool, monkeypatch):
    monkeypatch.setattr("anymocap_addon.jobs.job_folder._KEPT", 2)
    for _ in range(4):
        run(paths, pool, COPY, force=True)
    jobs = sorted(paths.jobs.iterdir())
    assert len(jobs) == 2
    assert json.loads((jobs[-1] / "job.json").read_text())["state"] == "done"


def test_real_stages_depend_on_each_other_as_the_design_draws_it(tmp_path):
    paths = Project(tmp_path).creature("c")

    def upstream(name: str, **settings: object) -> set[str]:
        stage = REGISTRY[name]
        values = {**stage.item_settings("walk"), **settings}
        return {other.name for other in REGISTRY.upstream(stage, paths, values)}

    assert upstream("rig") == {"prep", "template"}  # rig.json may be a template's
    assert upstream("prompt", move="walk", action="It walks.") == {"rig"}
    assert upstream("dataset") == {"rig", "ref"}
    assert upstream("train") == {"dataset"}
    assert upstream("detect") == {"rig", "ref", "train", "exam"}
    assert upstream("detect", video="film.mp4") == {"rig", "ref", "train"}
    assert upstream("fit") == {"rig", "detect"}
    assert upstream("apply") == {"rig", "fit"}
    assert upstream("showcase") == {"rig", "detect", "fit"}
    assert {"detect", "fit", "exam"} <= upstream("report")
