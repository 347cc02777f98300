"""A scene of its own for a few objects: played and exported without evaluating or disturbing the artist's scene."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import bpy


@contextmanager
def isolated_scene(objects: list[bpy.types.Object]) -> Iterator[bpy.types.Scene]:
    """A temporary scene with `objects`, at the frame rate of the context's scene; nothing in it is selected or active.

    What the objects depend on (parents, constraint targets) is evaluated with them. Frames set here change neither the
    artist's current frame nor the poses that the artist sees.
    """
    render = bpy.context.scene.render
    scene = bpy.data.scenes.new("anymocap_isolated")
    scene.render.fps, scene.render.fps_base = render.fps, render.fps_base
    for obj in objects:
        scene.collection.objects.link(obj)
    try:
        yield scene
    finally:
        bpy.data.scenes.remove(scene)
