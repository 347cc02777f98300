"""The file browser of Add Clip shows all that a clip can be, and names the clip after it."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

import bpy
import pytest
from pretended import pretend_creature

import anymocap_addon
from anymocap_addon.core.clip_source import clip_video
from anymocap_addon.core.project import Project


@pytest.fixture
def paths(tmp_path: Path):
    bpy.ops.wm.read_homefile(use_empty=True)
    anymocap_addon.register()
    paths = Project(tmp_path / "project").creature("fox")
    pretend_creature(paths)
    settings = bpy.context.scene.anymocap
    settings.project, settings.creature = str(paths.root), "fox"
    yield paths
    settings.clip = settings.creature = settings.project = ""
    anymocap_addon.unregister()


def test_the_file_browser_shows_videos_gifs_and_pictures():
    anymocap_addon.register()
    try:
        shown = bpy.ops.anymocap.add_clip.get_rna_type().properties["filter_glob"].default.split(";")
    finally:
        anymocap_addon.unregister()
    for name in ("a.mp4", "a.mov", "a.mkv", "a.webm", "a.avi", "a.gif", "walk_0001.png", "walk_0001.jpg", "walk_1.tif"):
        assert any(fnmatch(name, glob) for glob in shown), name
    assert not any(fnmatch(name, glob) for name in ("a.blend", "a.wav", "a.txt") for glob in shown)
    # Blender cuts longer texts of a file browser's filter off.
    assert len(";".join(shown)) < 255 and all(re.fullmatch(r"\*\.\w+", glob) for glob in shown)


def test_one_picture_of_a_sequence_and_its_folder_become_a_clip(paths, tmp_path):
    folder = tmp_path / "läuft schnell"
    folder.mkdir()
    for number in range(3):
        (folder / f"walk_{number:04d}.png").write_bytes(b"picture")
    settings = bpy.context.scene.anymocap
    assert bpy.ops.anymocap.add_clip(filepath=str(folder / "walk_0001.png")) == {"FINISHED"}
    assert settings.clip == "walk" and clip_video(paths, "walk") == folder / "walk_0001.png"
    assert bpy.ops.anymocap.add_clip(filepath=f"{folder}/") == {"FINISHED"}
    assert settings.clip == "läuft schnell" and clip_video(paths, "läuft schnell") == folder
