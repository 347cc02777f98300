"""What happens to the armature while its motion is fitted: renamed, deleted, linked."""

from __future__ import annotations

from pathlib import Path

import bpy


def play(user):
    yield from user.open_panel()
    yield from user.show_section(8)
    yield from user.until(lambda: user.word("fit"), 20, "the panel knows the project")
    yield from fit_while(user, renamed)
    yield from user.until(lambda: bpy.data.actions, 20, "the motion is applied to the renamed armature")
    assert user.settings.armature.name == "Renamed"
    yield 0.6
    user.shot("renamed")
    count = len(bpy.data.actions)
    yield from fit_while(user, deleted)
    yield 2.0
    user.shot("deleted")
    assert len(bpy.data.actions) <= count
    yield from fit_while(user, linked)
    yield 2.0
    user.shot("linked")
    yield from linked_is_refused(user)


def fit_while(user, change):
    """Fit again; the change comes while it is at work."""
    with user.over():
        assert bpy.ops.anymocap.run_again(stage="fit") == {"FINISHED"}
    yield from user.until(lambda: user.running("fit").word == "running", 20, "it fits")
    change(user)
    yield from user.until(lambda: not user.running("fit").at_work, 60, "it has ended")
    assert user.running("fit").word == "done", user.running("fit").error


def renamed(user):
    user.settings.armature.name = "Renamed"


def deleted(user):
    bpy.data.objects.remove(user.settings.armature)


def linked(user):
    """An armature of another file takes its place."""
    file = Path(bpy.data.filepath).parent / "assets" / "lynx" / "rigged" / "rigged.blend"
    with bpy.data.libraries.load(str(file), link=True) as (source, target):
        target.objects = source.objects
    armature = next(each for each in target.objects if each.type == "ARMATURE")
    user.window().scene.collection.objects.link(armature)
    user.settings.armature = armature


def linked_is_refused(user):
    """Pressing Apply says why it can't be."""
    said = ""
    with user.over():
        try:
            bpy.ops.anymocap.apply_here()
        except RuntimeError as error:
            said = str(error)
    user.save_result(linked=said)
    assert "link" in said.lower(), said
    yield 0.1
