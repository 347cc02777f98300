"""Workbench pictures of the two-view frame: Blender's own renderer, its own lights, over the layout's studio.

The training pictures come from another renderer (draw.py), so that an exam is not read by a reader that has learnt its
renderer. Workbench costs pixels, whatever is in them: only the creature's rectangle of each view is rendered.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.errors import AnyMoCapError
from ..core.layout import Layout, OrthoCamera
from .compat import set_image_output
from .draw import PosedMeshes
from .gpu_start import one_thread
from .layout_camera import fit_camera
from .scene import PAINT

STUDIO_LIGHT = "paint.sl"  # bundled with Blender: the brightest even one
BORDER_PX = 6  # around the creature, for the smoothing of edges

Picture = NDArray[np.uint8]


def place_camera(name: str, view: OrthoCamera) -> bpy.types.Object:
    """A Blender camera that shows what the layout's camera shows; linked into the open scene."""
    holder = bpy.data.objects.new(name, bpy.data.cameras.new(name))
    fit_camera(holder, view)
    bpy.context.scene.collection.objects.link(holder)
    return holder


def use_workbench(scene: bpy.types.Scene, samples: str) -> None:
    """Workbench with the limb paint, even studio light and a transparent backdrop; samples: OFF, FXAA, 5, 8, 11, …"""
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.film_transparent = True
    scene.render.resolution_percentage = 100
    scene.render.use_compositing = scene.render.use_sequencer = False
    scene.render.use_stamp = False
    scene.render.dither_intensity = 0.0
    scene.display.render_aa = samples
    scene.view_settings.view_transform = "Standard"
    scene.view_settings.look = "None"
    scene.view_settings.exposure, scene.view_settings.gamma = 0.0, 1.0
    shading = scene.display.shading
    shading.light, shading.studio_light = "STUDIO", STUDIO_LIGHT
    shading.color_type = "VERTEX"
    shading.show_shadows = shading.show_cavity = shading.show_object_outline = False
    shading.show_specular_highlight = shading.show_backface_culling = shading.show_xray = False


def show_only(scene: bpy.types.Scene, meshes: Sequence[bpy.types.Object]) -> None:
    """Hide everything else from renders and make the limb paint the colour that they show."""
    for item in scene.objects:
        item.hide_render = item not in meshes
    for mesh in meshes:
        colours = mesh.data.color_attributes
        colours.active_color = colours[PAINT]
        colours.render_color_index = colours.find(PAINT)


class TwoViewRenderer:
    """Renders the posed creature as the layout's two-view frame. Use it in a `with` block: it owns a temporary file."""

    def __init__(self, meshes: PosedMeshes, layout: Layout, samples: str = "FXAA") -> None:
        one_thread()
        self._meshes, self._layout = meshes, layout
        self._scene = bpy.context.scene
        use_workbench(self._scene, samples)
        show_only(self._scene, meshes.meshes)
        self._views = {
            name: (layout.camera(name), place_camera(name, layout.camera(name))) for name in ("front", "side")
        }
        self._studio = layout.studio()
        self._folder = tempfile.TemporaryDirectory(prefix="anymocap-")
        set_image_output(self._scene, "TARGA_RAW")
        self._file = Path(self._folder.name) / "view.tga"
        self._scene.render.use_file_extension = False
        self._scene.render.filepath = str(self._file)

    def __enter__(self) -> TwoViewRenderer:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()
        for _, camera in self._views.values():
            bpy.data.cameras.remove(camera.data)

    def frame(self) -> Picture:
        """The creature as it is posed now, (height, width, 3) RGB over the studio."""
        picture = self._studio.copy()
        front, side = self._layout.project(self._meshes.capture().position.astype(np.float64))
        side[:, 0] -= self._layout.w_front
        for left, name, uv in ((0, "front", front), (self._layout.w_front, "side", side)):
            view, camera = self._views[name]
            low = np.clip(np.floor(uv.min(0)) - BORDER_PX, 0, (view.width, view.height)).astype(int)
            high = np.clip(np.ceil(uv.max(0)) + BORDER_PX, 0, (view.width, view.height)).astype(int)
            if (high <= low).any():
                continue
            part = self._render(camera, view, low, high)
            place = picture[low[1] : high[1], left + low[0] : left + high[0]]
            place[:] = over(part, place)
        return picture

    def _render(self, camera: bpy.types.Object, view: OrthoCamera, low: NDArray, high: NDArray) -> Picture:
        """(h, w, 4) RGBA of the pixels low..high of a view."""
        render = self._scene.render
        self._scene.camera = camera
        render.resolution_x, render.resolution_y = view.width, view.height
        render.use_border = render.use_crop_to_border = True
        inside = 0.01  # of a pixel, so that rounding keeps to the pixel meant
        render.border_min_x = (low[0] + inside) / view.width
        render.border_max_x = (high[0] + inside) / view.width
        render.border_min_y = 1 - (high[1] - inside) / view.height
        render.border_max_y = 1 - (low[1] - inside) / view.height
        bpy.ops.render.render(write_still=True)
        part = read_targa(self._file)
        wanted = (high[1] - low[1], high[0] - low[0])
        if part.shape[:2] != tuple(wanted):
            raise AnyMoCapError(f"Blender rendered {part.shape[:2]} pixels where {tuple(wanted)} were asked for.")
        return part


def over(rgba: Picture, backdrop: Picture) -> Picture:
    """Straight-alpha RGBA over an RGB backdrop of the same size."""
    alpha = rgba[..., 3:].astype(np.uint16)
    mixed = rgba[..., :3] * alpha + backdrop * (255 - alpha)
    return ((mixed + 127) // 255).astype(np.uint8)


def read_targa(file: Path) -> Picture:
    """An uncompressed 32-bit TARGA file as (H, W, 4) RGBA; the format that Blender writes in the least time.

    Raises:
        AnyMoCapError: Blender wrote nothing, or something else.
    """
    data = file.read_bytes() if file.exists() else b""
    if len(data) < 18 or data[2] != 2 or data[16] != 32:
        raise AnyMoCapError("Blender rendered no picture.", file=file, hint="See the job's log.")
    width, height = int.from_bytes(data[12:14], "little"), int.from_bytes(data[14:16], "little")
    pixels = np.frombuffer(data, np.uint8, width * height * 4, 18 + data[0]).reshape(height, width, 4)
    top_down = bool(data[17] & 0x20)
    return (pixels if top_down else pixels[::-1])[..., [2, 1, 0, 3]]
