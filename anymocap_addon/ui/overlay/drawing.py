"""The whole overlay in one call, into a 3D view or an offscreen; what does not change is built once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import gpu
from mathutils import Matrix

from ...blender.sampled_target import plain_state
from ...core.capture_view import CaptureView
from ...ops.overlay_place import Place
from .caption import CaptionMarks, draw_caption
from .legend import LegendMarks, draw_legend
from .look import Look, Moment
from .marks import Canvas
from .strip import FrameMarks, StripMarks, draw_strip, draw_tag
from .two_view import GroundMarks, PictureMarks, draw_picture

Made = TypeVar("Made")


class Overlay:
    """Draws a view; keeps the batches of the last frame at the last place."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Any, Any]] = {}
        self._view: CaptureView | None = None

    def draw(
        self, width: int, height: int, moment: Moment, view: CaptureView, place: Place, look: Look, linear: bool
    ) -> None:
        """Draw the overlay.

        Args:
            width, height: of the region or offscreen, px.
            linear: it takes linear light, as the 3D view does; an offscreen takes sRGB values.
        """
        if view is not self._view:
            self.free()
            self._view = view
        canvas = Canvas(width, height, linear)
        with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            gpu.matrix.load_matrix(Matrix.Identity(4))
            gpu.matrix.load_projection_matrix(canvas.matrix)
            plain_state("NONE")
            gpu.state.depth_mask_set(False)
            gpu.state.blend_set("ALPHA")
            try:
                self._draw_parts(canvas, moment, view, place, look)
            finally:
                gpu.state.blend_set("NONE")
                gpu.state.depth_mask_set(True)

    def free(self) -> None:
        """Let go of all batches."""
        self._kept.clear()
        self._view = None

    def _draw_parts(self, canvas: Canvas, moment: Moment, view: CaptureView, place: Place, look: Look) -> None:
        frame, opacity = moment.frame, look.opacity
        ground = self._once("ground", (place, opacity), lambda: GroundMarks.make(view, place, opacity))
        marks = self._once("picture", (place, frame), lambda: PictureMarks.make(view, place, frame))
        draw_picture(canvas, view, place, look, moment, ground, marks)
        caption = self._once("caption", place, lambda: CaptionMarks.make(place))
        draw_caption(canvas, view, place, moment, caption)
        self._draw_legend(canvas, moment, view, place, look)
        if place.strip is not None:
            self._draw_strip(canvas, moment, view, place)

    def _draw_legend(self, canvas: Canvas, moment: Moment, view: CaptureView, place: Place, look: Look) -> None:
        fitted = view.motion is not None
        legend = self._once("legend", (place, look), lambda: LegendMarks.make(place, look, fitted))
        if legend is not None and moment.hovered is None:  # the strip's tag takes its place
            draw_legend(canvas, place, look, legend)

    def _draw_strip(self, canvas: Canvas, moment: Moment, view: CaptureView, place: Place) -> None:
        strip = self._once("strip", place, lambda: StripMarks.make(view, place))
        key = (place, moment.frame, moment.hovered)
        frames = self._once("frames", key, lambda: FrameMarks.make(view, place, moment))
        draw_strip(canvas, view, place, strip, frames)
        draw_tag(place, frames)

    def _once(self, name: str, key: Any, make: Callable[[], Made]) -> Made:
        """What was made for the same key, else made now."""
        kept = self._kept.get(name)
        if kept is None or kept[0] != key:
            kept = self._kept[name] = (key, make())
        made: Made = kept[1]
        return made


OVERLAY = Overlay()
