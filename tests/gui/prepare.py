"""Run in a Blender without a window: a project with the example, some training poses, and scene.blend beside them."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy


def main(project: Path) -> None:
    """The example up to its motion on the creature; then the motion is taken off again, to be applied by a test."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="bl_ext.user_default.anymocap")
    assert bpy.ops.anymocap.try_example(project=str(project)) == {"FINISHED"}
    settings = bpy.context.scene.anymocap
    assert bpy.ops.anymocap.dataset(poses=8, rows=64) == {"FINISHED"}
    armature = settings.armature
    actions = [armature.animation_data.action]
    armature.animation_data_clear()
    for action in actions:
        bpy.data.actions.remove(action)
    bpy.ops.wm.save_as_mainfile(filepath=str(project / "scene.blend"))
    settings.project = "//"
    bpy.ops.wm.save_mainfile()


main(Path(sys.argv[sys.argv.index("--") + 1]))
