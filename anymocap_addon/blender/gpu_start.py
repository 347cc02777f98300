"""Wakes the gpu module in a background process, where no window has made its context."""

from __future__ import annotations

import os

import bpy
import gpu

from ..core.errors import AnyMoCapError


def start_gpu() -> None:
    """Make gpu.types.GPUOffScreen and shaders usable.

    In the background Blender makes its drawing context at the first render, so a 32 x 32 Workbench frame of an empty
    scene is rendered and thrown away. Software OpenGL is kept to one thread: the shards are the parallel part.

    Raises:
        AnyMoCapError: the machine has no OpenGL at all.
    """
    if not bpy.app.background:
        return
    one_thread()
    if not _works():
        _render_once()
    if not _works():
        raise AnyMoCapError(
            "Blender could not start its drawing (no OpenGL on this machine).",
            hint="On a server install the software renderer: libegl1 and libgl1-mesa-dri.",
        )


def one_thread() -> None:
    """Keep software OpenGL to one thread; only before this process's first drawing."""
    os.environ.setdefault("LP_NUM_THREADS", "1")


def _works() -> bool:
    try:
        gpu.types.GPUOffScreen(8, 8).free()
    except (RuntimeError, SystemError):
        return False
    return True


def _render_once() -> None:
    scene = bpy.data.scenes.new("anymocap warm-up")
    camera = bpy.data.cameras.new("anymocap warm-up")
    holder = bpy.data.objects.new("anymocap warm-up", camera)
    try:
        scene.collection.objects.link(holder)
        scene.camera = holder
        scene.render.engine = "BLENDER_WORKBENCH"
        scene.render.resolution_x = scene.render.resolution_y = 32
        scene.render.resolution_percentage = 100
        bpy.ops.render.render(scene=scene.name)
    finally:
        bpy.data.scenes.remove(scene)
        bpy.data.objects.remove(holder)
        bpy.data.cameras.remove(camera)
