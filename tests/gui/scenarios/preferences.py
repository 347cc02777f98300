"""The preferences in their editor: a wrong worker, the right one, and a key pasted into its field."""

from __future__ import annotations

import addon_utils
import bpy
from scenario import EXTENSION

KEY = "5e6f7a8b-90c1:" + "d2e3f4a5b6c7" * 24  # 302 letters
_FORGET = "anymocap.forget_fal_key"


def _at(user):
    window = user.window()
    area = next(area for area in window.screen.areas if area.type == "PREFERENCES")
    region = next(region for region in area.regions if region.type == "WINDOW")
    return region, bpy.context.temp_override(window=window, screen=window.screen, area=area, region=region)


def _open(user):
    """The preferences fill the window and show nothing but this extension, unfolded."""
    user.area().type = "PREFERENCES"
    yield 0.3
    _, over = _at(user)
    with over:
        bpy.ops.screen.screen_full_area()
    bpy.context.preferences.active_section = "ADDONS"
    bpy.context.window_manager.addon_search = "AnyMoCap"
    for module in addon_utils.modules():
        if module.__name__ == EXTENSION:
            addon_utils.module_bl_info(module)["show_expanded"] = True
    yield 0.8
    _, over = _at(user)
    with over:
        for _ in range(30):
            bpy.ops.view2d.scroll_down()
    yield 0.8


def _find_field(user):
    """Where the field of the key is: left of the button that forgets it, the only thing there that Blender names."""
    region, over = _at(user)
    x = region.x + region.width - 32
    for y in range(region.y + 20, region.y + region.height, 9):
        yield from user.move(x, y)
        with over:
            if bpy.ops.ui.copy_python_command_button.poll():
                bpy.ops.ui.copy_python_command_button()
                if _FORGET in bpy.context.window_manager.clipboard:
                    return x - 200, y
    raise AssertionError("the field of the key is not to be seen")


def _report_log(user):
    """What Blender's Info editor lists of what the artist did."""
    _, over = _at(user)
    with over:
        bpy.context.area.type = "INFO"
    yield 0.8
    window = user.window()
    area = next(area for area in window.screen.areas if area.type == "INFO")
    region = next(region for region in area.regions if region.type == "WINDOW")
    bpy.context.window_manager.clipboard = ""
    with bpy.context.temp_override(window=window, screen=window.screen, area=area, region=region):
        bpy.ops.info.select_all(action="SELECT")
        bpy.ops.info.report_copy()
    return bpy.context.window_manager.clipboard


def play(user):
    preferences = bpy.context.preferences.addons[EXTENSION].preferences
    tasks = user.module("ops.worker_tasks").TASKS
    yield from _open(user)
    user.shot("preferences")

    preferences.worker_python = "/bin/ls"
    bpy.ops.anymocap.check_worker("INVOKE_DEFAULT")
    yield from user.until(lambda: tasks.check is None, 20, "an answer of /bin/ls")
    yield 0.6
    user.shot("wrong_worker")
    assert "is no Python" in str(tasks.report(_values(user)).errors[0])

    preferences.worker_python = ""
    bpy.ops.anymocap.check_worker("INVOKE_DEFAULT")
    yield 0.3
    user.shot("asking")
    yield from user.until(lambda: tasks.check is None, 120, "an answer of the worker")
    yield 0.6
    user.shot("worker")

    preferences.fal_key = "a-former-key"
    _at(user)[0].tag_redraw()
    yield 0.6
    place = yield from _find_field(user)
    bpy.context.window_manager.clipboard = KEY
    yield from user.click_at(*place)
    yield 0.2
    user._event("A", "PRESS", *place, ctrl=True)
    user._event("V", "PRESS", *place, ctrl=True)
    yield 0.4
    user._event("RET", "PRESS", *place)
    yield 0.6
    user.shot("key_entered")
    stored = user.module("ops.preference_values").user_folder() / "fal_key"
    assert stored.read_text() == KEY, "the key was cut or not kept"
    assert KEY not in preferences.fal_key
    log = yield from _report_log(user)
    assert KEY not in log
    user.save_result(key=KEY, kept_in=str(stored), worker=tasks.report(_values(user)).line())
    bpy.ops.wm.save_userpref()


def _values(user):
    return user.module("ops.preference_values").preference_values()
