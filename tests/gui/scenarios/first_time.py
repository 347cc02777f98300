"""An empty file: the one button of a first-time user leads to the example, its overlay and its playback."""

from __future__ import annotations

import os

import bpy


def play(user):
    for name in ("HOME", "USERPROFILE"):  # the folder that is offered lies in the home
        os.environ[name] = os.environ["BLENDER_USER_RESOURCES"]
    yield from user.open_panel()
    user.shot("first_time")
    yield from user.click("anymocap.try_example")
    yield 1.0
    user.shot("where_to")
    yield from user.press("RET")
    yield from user.until(lambda: user.module("ops.running").HOST.at_work(), 20, "the example is at work")
    yield 1.5
    user.shot("at_work")
    took = yield from user.until(lambda: user.settings.armature is not None, 120, "the creature is in the file")
    yield 1.5
    user.shot("shown")
    scene = user.window().scene
    action = scene.anymocap.armature.animation_data.action
    assert action is not None and scene.anymocap.overlay.show
    assert scene.frame_end > scene.frame_start + 10
    yield from play_back(user)
    yield from scrub(user)
    user.save_result(example_s=round(took, 1), redraw_ms=round(user.redraw_ms(), 1))


def play_back(user):
    """The space bar."""
    before = user.window().scene.frame_current
    yield from user.press("SPACE")
    yield 3.0
    assert user.window().screen.is_animation_playing
    user.shot("plays")
    yield from user.press("SPACE")
    assert not user.window().screen.is_animation_playing
    assert user.window().scene.frame_current != before


def scrub(user):
    """Drag along the timeline; the overlay's clip frame goes with it."""
    region = user.region("WINDOW", "DOPESHEET_EDITOR")
    y = region.y + region.height - 10
    places = [region.x + region.view2d.view_to_region(frame, 0)[0] for frame in (5, 15, 35)]
    seen = []
    for x in places[1:]:
        yield from user.drag((places[0], y), (x, y))
        yield 0.6
        scene = user.window().scene
        capture = user.module("ops.current_capture")
        with user.over():
            view = capture.current_view(bpy.context)
        clock = capture.clip_clock(scene, view)
        seen.append((scene.frame_current, clock.clip_frame(scene.frame_current)))
    user.shot("scrubbed")
    assert 10 < seen[0][0] < seen[1][0] and seen[0][1] < seen[1][1], seen
    user.save_result(scrubbed=seen)
