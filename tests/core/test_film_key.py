"""The fal key: where it comes from, who can read its file, and where it never appears."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from pathlib import Path

import pytest

from anymocap_addon.core.errors import AnyMoCapError, BadInputError
from anymocap_addon.core.film.key import fal_key, forget_key, key_file, key_source, store_key
from anymocap_addon.core.project import Project
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.stage import Registry, Stage, Step
from anymocap_addon.jobs.stage_run import StageRun

KEY = "0123abcd-4567-key_id:89abcdef" * 9  # longer than the 255 letters that some fields hold


@pytest.fixture(autouse=True)
def no_key_of_this_machine(monkeypatch):
    monkeypatch.delenv("FAL_KEY", raising=False)
    monkeypatch.delenv("ANYMOCAP_USER_FOLDER", raising=False)


def test_the_environment_wins_over_the_file(tmp_path, monkeypatch):
    assert (fal_key(tmp_path), key_source(tmp_path)) == (None, "none")
    store_key(tmp_path, f"  {KEY}\n")
    assert (fal_key(tmp_path), key_source(tmp_path)) == (KEY, "stored")
    assert (fal_key(), key_source()) == (None, "none")
    monkeypatch.setenv("ANYMOCAP_USER_FOLDER", str(tmp_path))
    assert fal_key() == KEY
    monkeypatch.setenv("FAL_KEY", "other")
    assert (fal_key(tmp_path), key_source(tmp_path)) == ("other", "environment")
    monkeypatch.setenv("FAL_KEY", " ")
    assert fal_key(tmp_path) == KEY, "an empty variable is none"
    forget_key(tmp_path)
    forget_key(tmp_path)
    assert key_source(tmp_path) == "none"


@pytest.mark.skipif(os.name == "nt", reason="the user folder's own permissions guard it there")
def test_only_the_owner_can_read_it_at_any_moment(tmp_path, monkeypatch):
    modes = []
    rename = Path.replace

    def watched(self: Path, target: Path) -> Path:
        modes.append(stat.S_IMODE(self.stat().st_mode))
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", watched)
    monkeypatch.setattr(os, "umask", lambda mask: mask)
    key_file(tmp_path).write_text("old")
    key_file(tmp_path).chmod(0o644)
    store_key(tmp_path, KEY)
    assert modes == [0o600] and stat.S_IMODE(key_file(tmp_path).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [key_file(tmp_path).name]


@pytest.mark.parametrize("bad", ["", "   ", "two words", "key\nkey", "schlüssel", "a\x00b"])
def test_what_is_no_key_is_refused_without_being_repeated(tmp_path, bad):
    with pytest.raises(BadInputError) as refused:
        store_key(tmp_path, bad)
    assert not bad.strip() or bad not in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("bad", ["11112222-aaaa\nbbbb-5555:0123456789abcdef", "11112222 aaaa", "schlüssel-5555"])
def test_a_broken_key_never_reaches_a_library_that_would_quote_it(tmp_path, monkeypatch, bad):
    key_file(tmp_path).write_text(bad, encoding="utf-8")
    with pytest.raises(AnyMoCapError, match="This is no fal key") as stored:
        fal_key(tmp_path)
    monkeypatch.setenv("FAL_KEY", bad)
    with pytest.raises(BadInputError, match="FAL_KEY: This is no fal key") as given:
        fal_key()
    assert not any(part in str(error.value) for part in bad.split() for error in (stored, given))


def test_a_file_that_cannot_be_read_is_not_quoted(tmp_path):
    key_file(tmp_path).write_bytes(b"secret\xff\xfe")
    with pytest.raises(AnyMoCapError, match=r"fal_key: The fal key could not be read: it is no text\.") as failed:
        fal_key(tmp_path)
    assert "secret" not in str(failed.value) and failed.value.__cause__ is None


def test_a_worker_sees_the_key_and_no_file_argument_or_variable_holds_it(tmp_path):
    user, project = tmp_path / "user", tmp_path / "project"
    store_key(user, KEY)
    step = Step("worker", "steps:look_at_key", package="tiny_stages")
    stage = Stage("look", "Look", "look at the key", (step,))
    pool = Pool(environment=lambda: {"ANYMOCAP_USER_FOLDER": str(user)})
    run = StageRun(Project(project).creature("c"), stage, {}, pool=pool, registry=Registry((stage,)))
    for event in run:
        assert KEY not in json.dumps(event or {})
        time.sleep(0.0 if event else 0.02)
    assert run.result.figures["letters"] == len(KEY)
    assert run.result.figures["elsewhere"] == []
    if sys.platform == "linux":
        for entry in ("cmdline", "environ"):
            assert KEY.encode() not in Path(f"/proc/{run.result.figures['pid']}/{entry}").read_bytes()
    pool.close()
    holding = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert holding == [key_file(user)]
    assert list((project / "runs").rglob("job.json")), "the job's files were among those that were searched"
