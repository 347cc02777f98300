"""Clips are added from videos that stay where they are, and found again."""

from __future__ import annotations

from pathlib import Path

import pytest

from anymocap_addon.core.clip_source import add_clip, clip_video, known_clips, suggested_name
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.jobs.registry import REGISTRY


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    return Project(tmp_path / "pro jekt ü").creature("fox")


def video(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_bytes(b"not looked into")
    return file


def test_an_added_video_is_what_read_reads(paths, tmp_path):
    inside, outside = video(paths.root / "videos", "läuft.mp4"), video(tmp_path / "else where", "jump.mov")
    add_clip(paths, "walk", inside)
    add_clip(paths, "jump", outside)
    assert known_clips(paths) == ["jump", "walk"]
    assert clip_video(paths, "walk") == inside and clip_video(paths, "jump") == outside
    assert '"videos/läuft.mp4"' in paths.clip("walk").source.read_text(encoding="utf-8"), "the project can be moved"
    settings = REGISTRY["detect"].check({"clip": "jump"})
    assert REGISTRY["detect"].inputs(paths, settings)[0] == outside
    assert outside.exists() and inside.exists()


def test_a_clip_without_an_added_video_is_the_exam_of_its_name(paths):
    assert clip_video(paths, "test") == paths.exam("test").clip
    paths.exam("test").folder.mkdir(parents=True)
    assert known_clips(paths) == ["test"]


def test_a_taken_or_impossible_name_is_refused(paths, tmp_path):
    first, second = video(tmp_path, "a.mp4"), video(tmp_path, "b.mp4")
    add_clip(paths, "walk", first)
    add_clip(paths, "walk", first)
    with pytest.raises(BadInputError, match="There is a clip 'walk' already"):
        add_clip(paths, "walk", second)
    paths.exam("test").folder.mkdir(parents=True)
    with pytest.raises(BadInputError, match="There is a clip 'test' already"):
        add_clip(paths, "test", first)
    with pytest.raises(BadInputError, match="cannot be a folder's name"):
        add_clip(paths, "a/b", first)
    with pytest.raises(BadInputError, match=r"gone\.mp4: There is no such video file"):
        add_clip(paths, "run", tmp_path / "gone.mp4")
    assert known_clips(paths) == ["test", "walk"] and clip_video(paths, "walk") == first


def test_hidden_and_odd_folders_among_the_clips_are_none(paths):
    """One of them must not keep the panel from showing all others."""
    (paths.runs / "exam").mkdir(parents=True)
    for name in ("walk", ".thumbnails", "end.", "x" * 200):
        (paths.runs / "clips" / name).mkdir(parents=True)
        (paths.root / "assets" / name).mkdir(parents=True)
    assert known_clips(paths) == ["walk"]
    assert Project(paths.root).creatures() == ["walk"]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("take 3.mp4", "take 3"), ("läuft.gif", "läuft"), ("shots", "shots"), ("walk_0007.png", "walk"),
        ("walk.0007.final.TIF", "walk"), ("walk_####.png", "walk"), ("walk-%04d.jpg", "walk"), ("0007.png", "frames"),
    ],
)  # fmt: skip
def test_a_clip_is_named_after_its_file_and_pictures_without_their_number(tmp_path, file, name):
    assert suggested_name(tmp_path / "frames" / file) == name
