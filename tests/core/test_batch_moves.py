"""A batch file that has moves filmed: paid once, each take by itself, and nothing is read that was not filmed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fal_server import Account, FalServer
from film_project import KEY

import anymocap_addon
from anymocap_addon.commands.batch import batch
from anymocap_addon.core.creature import Creature, PaintGroup, save_creature
from anymocap_addon.core.project import Project
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.registry import REGISTRY

FILE = """
[[creature]]
name = "lynx"
stages = ["prompt", "film", "take"]

[[creature.move]]
name = "walk"
action = "It walks."
film = { seeds = "1 2", YES, ceiling = 5.0, poll = 0.05 }
"""


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Any:
    with FalServer() as server:
        monkeypatch.setenv("ANYMOCAP_FAL_URL", server.url)
        monkeypatch.setenv("FAL_KEY", KEY)
        account = server.account(KEY)
        account.films = [(Path(anymocap_addon.__file__).parent / "example" / "clip.mp4").read_bytes()]
        yield account


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path)
    paths = project.creature("lynx")
    save_creature(paths.creature_json, Creature("lynx", paint=(PaintGroup("tail", "red", (1.0, 0.0, 0.0), ("tail",)),)))
    paths.ref_png.parent.mkdir(parents=True)
    paths.ref_png.write_bytes(b"\x89PNG picture")
    return project


def night(project: Project, yes: str) -> list[tuple[str | None, str, str]]:
    file = project.root / "night.toml"
    file.write_text(FILE.replace("YES", yes), encoding="utf-8")
    pool = Pool()
    try:
        result = batch(REGISTRY, file, pool)
    finally:
        pool.close()
    return [(row["clip"], row["state"], row["stage"]) for row in result["entries"]]


def test_a_move_is_filmed_once_and_its_takes_are_taken_in(project: Project, account: Account) -> None:
    refused = night(project, "yes = false")
    assert refused == [
        (None, "ready", ""), ("walk", "failed", "film"), ("walk_s1", "blocked", "take"), ("walk_s2", "blocked", "take"),
    ]  # fmt: skip
    assert account.posts == 0, "nothing is sent without a yes"
    done = night(project, "yes = true")
    assert done == [(None, "ready", ""), ("walk", "done", ""), ("walk_s1", "done", ""), ("walk_s2", "done", "")]
    assert all(project.creature("lynx").clip(name).taken.exists() for name in ("walk_s1", "walk_s2"))
    again = night(project, "yes = true")
    assert [state for _, state, _ in again] == ["ready"] * 4 and account.posts == 2, "paid once"
