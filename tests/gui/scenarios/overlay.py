"""The overlay in a window: hovered and scrubbed in its strip, moved and resized by the mouse, from the panel too."""

from __future__ import annotations

import bpy


def play(user):
    yield from user.until(lambda: view_of(user) is not None, 20, "the clip was loaded")
    yield 1.0
    user.shot("shown")
    yield from hover_and_scrub(user)
    yield from move_and_resize(user)
    yield from from_the_panel(user)
    yield from clicks_on_the_picture_reach_the_scene(user)
    yield from switched_off(user)
    user.save_result(fault=state(user).fault)


def state(user):
    return user.module("ops.overlay_state").STATE


def view_of(user):
    loaded = user.module("ops.current_capture").CAPTURES.of(user.window().scene)
    return loaded.view if loaded is not None else None


def place(user):
    with user.over():
        layout = view_of(user).layout
        return user.module("ops.overlay_place").overlay_place(bpy.context, user.area(), user.region(), layout)


def on_screen(user, x, y):
    region = user.region()
    return round(region.x + x), round(region.y + y)


def hover_and_scrub(user):
    scene, graph, frames = user.window().scene, place(user).graph, view_of(user).T
    start = on_screen(user, graph.x + graph.w * 0.3, graph.y + graph.h / 2)
    yield from user.move(start[0] - 20, start[1])
    yield 0.3
    yield from user.move(*start)
    yield from user.until(lambda: state(user).hovered is not None, 5, "the strip tells the frame under the mouse")
    yield 0.5
    user.shot("hovered")
    assert state(user).hovered == place(user).graph_frame(start[0] - user.region().x, frames)
    yield from user.move(*user.middle("DOPESHEET_EDITOR"))
    yield from user.until(lambda: state(user).hovered is None, 5, "the mouse has left the strip")
    yield 0.4
    user.shot("left")
    yield from user.move(start[0] - 20, start[1])
    yield from user.move(*start)
    end = on_screen(user, graph.x + graph.w * 0.8, graph.y + graph.h / 2)
    yield from user.drag(start, end)
    yield 0.5
    user.shot("scrubbed")
    shown = place(user).graph_frame(end[0] - user.region().x, frames)
    clock = user.module("ops.current_capture").clip_clock(scene, view_of(user))
    assert scene.frame_current == round(clock.scene_frame(shown))


def move_and_resize(user):
    before = place(user)
    grip = on_screen(user, before.caption.x + before.caption.w / 3, before.caption.y + before.caption.h / 2)
    yield from user.move(grip[0] - 8, grip[1])
    yield 0.3
    yield from user.drag(grip, (grip[0] + 90, grip[1] + 60))
    yield 0.4
    moved = place(user)
    assert abs(moved.whole.x - before.whole.x - 90) <= 2 and abs(moved.whole.y - before.whole.y - 60) <= 2
    corner = on_screen(user, moved.whole.right - 5, moved.whole.top - 5)
    yield from user.move(corner[0] - 3, corner[1] - 3)
    yield 0.3
    yield from user.drag(corner, (corner[0] - 120, corner[1]))
    yield 0.4
    user.shot("moved_and_smaller")
    assert abs(place(user).whole.w - (moved.whole.w - 120)) <= 2


def from_the_panel(user):
    """The panel's button starts the same drag, which Escape takes back."""
    before = place(user).whole
    with user.over("UI"):
        assert bpy.ops.anymocap.overlay_drag("INVOKE_DEFAULT", part="MOVE") == {"RUNNING_MODAL"}
    x, y = user.middle()
    yield from user.move(x + 40, y + 40)
    yield 0.2
    yield from user.press("ESC")
    assert place(user).whole == before
    with user.over():
        bpy.ops.anymocap.overlay_reset()
    yield 0.4
    assert place(user).whole != before


def clicks_on_the_picture_reach_the_scene(user):
    """What lies behind it is chosen: a click on the picture is none of the overlay's."""
    picture = place(user).picture
    x, y = on_screen(user, picture.x + picture.w / 2, picture.y + picture.h / 2)
    yield from user.move(x - 4, y)
    yield 0.3
    assert state(user).part is None
    yield from user.click_at(x, y)
    yield 0.3


def switched_off(user):
    overlay = user.settings.overlay
    textures = user.module("ui.overlay.frame_texture").TEXTURES
    assert len(textures) > 0
    overlay.show = False
    user.area().tag_redraw()
    yield 0.6
    user.shot("off")
    user.settings.clip = ""
    yield from user.until(lambda: len(textures) == 0, 5, "another clip frees the textures")
