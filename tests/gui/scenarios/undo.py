"""Apply is one undo step: Ctrl-Z takes away exactly the Action, redo brings it back."""

from __future__ import annotations

import bpy


def play(user):
    yield from user.open_panel()
    yield from user.show_section(8)
    yield from user.until(lambda: user.word("apply"), 20, "the panel knows the project")
    before = datablocks()
    assert "actions" not in before
    yield from user.click("anymocap.apply_here")
    yield from user.until(lambda: bpy.data.actions, 20, "an Action was made")
    yield 0.5
    applied = datablocks()
    user.shot("applied")
    assert {key: applied[key] for key in applied if before.get(key) != applied[key]} == {"actions": applied["actions"]}
    yield from user.press("Z", ctrl=True)
    yield 0.5
    user.shot("undone")
    assert datablocks() == before
    yield from user.press("Z", ctrl=True, shift=True)
    yield 0.5
    user.shot("redone")
    assert datablocks() == applied
    assert user.settings.armature.animation_data.action is bpy.data.actions[0]
    user.save_result(actions=applied["actions"])


def datablocks():
    """Names of all that the file holds, by kind, but for windows and brushes."""
    kinds = [name for name in dir(bpy.data) if isinstance(getattr(bpy.data, name), bpy.types.bpy_prop_collection)]
    kinds = [kind for kind in kinds if kind not in ("window_managers", "screens", "workspaces", "brushes", "palettes")]
    found = {kind: sorted(each.name for each in getattr(bpy.data, kind)) for kind in kinds}
    return {kind: names for kind, names in found.items() if names}
