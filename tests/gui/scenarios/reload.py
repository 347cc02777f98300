"""Files are opened, scenes and windows added, while a job runs; the panel shows it all the time."""

from __future__ import annotations

import bpy


def play(user):
    yield from user.open_panel()
    pid = yield from user.start_training()
    yield from other_file(user, pid)
    yield from two_scenes(user)
    yield from second_window(user)


def other_file(user, pid):
    """To an empty file and back."""
    file = bpy.data.filepath
    bpy.ops.wm.read_homefile(app_template="")
    yield 1.5
    yield from user.open_panel()
    assert not user.settings.creature
    bpy.ops.wm.open_mainfile(filepath=file)
    yield 1.0
    yield from user.open_panel()
    yield from user.until(lambda: user.word("train") == "running", 20, "the panel shows the job again")
    assert user.worker_pids("train")[-1] == pid
    before = user.fraction("train")
    yield from user.until(lambda: user.fraction("train") > before, 20, "it goes on")
    yield 0.6
    user.shot("reloaded")


def two_scenes(user):
    """A new scene has a choice of its own; the job goes on and is shown in its own scene."""
    first = user.window().scene
    with user.over():
        bpy.ops.scene.new(type="NEW")
    yield 0.8
    assert user.window().scene != first and not user.settings.creature
    user.shot("another_scene")
    user.window().scene = first
    yield from user.until(lambda: user.word("train") == "running", 20, "the first scene shows it")


def second_window(user):
    with user.over():
        bpy.ops.wm.window_new()
    yield 2.0
    assert len(bpy.context.window_manager.windows) == 2
    user.shot("second_window")
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[1]):
        bpy.ops.wm.window_close()
    yield 1.0
    before = user.fraction("train")
    yield from user.until(lambda: user.fraction("train") > before, 20, "it goes on")
    yield from user.click("anymocap.cancel")
    yield from user.until(lambda: user.running("train").word == "cancelled", 12, "training was cancelled")
