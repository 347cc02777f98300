"""The extension is disabled while a job runs, and enabled again."""

from __future__ import annotations

import time
from pathlib import Path

import bpy
from scenario import EXTENSION


def play(user):
    yield from user.open_panel()
    pid = yield from user.start_training()
    alive = user.module("jobs.alive").process_alive
    assert alive(pid)
    textures = user.module("ui.overlay.frame_texture").TEXTURES
    assert len(textures), "the overlay shows nothing, so that nothing can be left of it"
    before = set(dir(bpy.ops.anymocap))
    began = time.monotonic()
    assert bpy.ops.preferences.addon_disable(module=EXTENSION) == {"FINISHED"}
    took = time.monotonic() - began
    assert not alive(pid), "the child is still there"
    assert not dir(bpy.ops.anymocap) and not hasattr(bpy.types.Scene, "anymocap")
    assert not len(textures), "textures are left"
    yield 1.0
    assert not mapped(), "files are still mapped into memory"
    user.shot("disabled")
    assert bpy.ops.preferences.addon_enable(module=EXTENSION) == {"FINISHED"}
    assert set(dir(bpy.ops.anymocap)) == before
    yield 0.5
    yield from user.open_panel()
    yield from user.until(lambda: user.word("train") == "stopped", 30, "training can go on")
    yield 0.6
    user.shot("enabled_again")
    user.save_result(disable_s=round(took, 2))


def mapped():
    """Files of the project that this process maps."""
    folder = str(Path(bpy.data.filepath).parent)
    return [line for line in Path("/proc/self/maps").read_text().splitlines() if folder in line]
