"""Where the overlay stands in a 3D view: boxes in pixels of the region, y upward, and what the mouse is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..core.layout import Layout

Array = NDArray[np.float64]
Part = Literal["MOVE", "RESIZE", "SCRUB"]

# Pixels at a user interface scale of 1.
CAPTION_PX = 24.0
STRIP_PX = 84.0
LEAST_WIDTH_PX = 160.0
CORNER_PX = 16.0
STRIP_LABELS_PX = 70.0
STRIP_MARGIN_PX = 8.0
LEAST_LABELLED = 3.5  # a strip that is narrower than so many labels has none


@dataclass(frozen=True)
class Box:
    """A rectangle in region pixels, y upward."""

    x: float
    y: float
    w: float
    h: float

    @property
    def right(self) -> float:
        return self.x + self.w

    @property
    def top(self) -> float:
        return self.y + self.h

    def holds(self, x: float, y: float) -> bool:
        """Whether the point lies inside."""
        return self.x <= x <= self.right and self.y <= y <= self.top


@dataclass(frozen=True)
class Place:
    """The overlay's boxes, stacked: strip below, picture, caption above.

    Attributes:
        picture: the layout's canvas; scale: region pixels of one layout pixel.
        caption, strip: None where they are not shown.
        graph: the strip's part that runs over time; None without a strip. Left of it stand the graphs' names, where
            there is room.
        ui_scale: of the user interface (2 on a HiDPI screen).
    """

    picture: Box
    caption: Box | None
    strip: Box | None
    graph: Box | None
    scale: float
    ui_scale: float

    @property
    def whole(self) -> Box:
        """All of it."""
        low = self.strip or self.picture
        top = (self.caption or self.picture).top
        return Box(low.x, low.y, low.w, top - low.y)

    @property
    def labelled(self) -> bool:
        """Whether the strip has room for the graphs' names."""
        return (
            self.strip is not None
            and self.graph is not None
            and self.graph.x > self.strip.x + CORNER_PX * self.ui_scale
        )

    def of_layout(self, uv: Array) -> Array:
        """Layout pixels (..., 2) to region pixels."""
        return np.stack([self.picture.x + uv[..., 0] * self.scale, self.picture.top - uv[..., 1] * self.scale], -1)

    def graph_x(self, frame: Array | float, frames: int) -> Array:
        """Region x of the middle of clip frames, each of which has an equal share of the graph."""
        assert self.graph is not None
        return np.asarray(self.graph.x + (np.asarray(frame, float) + 0.5) / frames * self.graph.w)

    def graph_frame(self, x: float, frames: int) -> int:
        """The clip frame at region x, clamped to the clip."""
        assert self.graph is not None
        return int(np.clip(np.floor((x - self.graph.x) / self.graph.w * frames), 0, frames - 1))

    def part_at(self, x: float, y: float) -> Part | None:
        """What a click there would take hold of; None where it goes to the scene behind."""
        whole, corner = self.whole, CORNER_PX * self.ui_scale
        if Box(whole.right - corner, whole.top - corner, corner, corner).holds(x, y):
            return "RESIZE"
        if self.caption is not None and self.caption.holds(x, y):
            return "MOVE"
        if self.strip is not None and self.strip.holds(x, y):
            return "SCRUB"
        return None


def place_overlay(settings: Any, free: Box, layout: Layout, ui_scale: float) -> Place:
    """Put the overlay where its settings say, whole and inside `free`; where that is low, without strip and caption.

    Args:
        settings: `left`, `bottom`, `width` (shares of `free`), `caption` and `strip` (whether they are shown).
        free: the part of the region that no sidebar covers.
    """
    caption = CAPTION_PX * ui_scale if settings.caption else 0.0
    strip = STRIP_PX * ui_scale if settings.strip else 0.0
    strip = strip if free.h >= 2 * (caption + strip) else 0.0
    caption = caption if free.h >= 2 * (caption + strip) else 0.0
    widest = min(free.w, max(free.h - caption - strip, 1.0) * layout.width / layout.height)
    width = round(min(max(settings.width * free.w, LEAST_WIDTH_PX * ui_scale), widest))
    height = round(width * layout.height / layout.width)
    x = round(free.x + min(settings.left * free.w, free.w - width))
    y = round(free.y + min(settings.bottom * free.h, max(free.h - height - caption - strip, 0.0)))
    picture = Box(x, y + strip, width, height)
    strip_box = Box(x, y, width, strip) if strip else None
    return Place(
        picture,
        Box(x, picture.top, width, caption) if caption else None,
        strip_box,
        _graph(strip_box, ui_scale) if strip_box else None,
        width / layout.width,
        ui_scale,
    )


def _graph(strip: Box, ui_scale: float) -> Box:
    margin, labels = STRIP_MARGIN_PX * ui_scale, STRIP_LABELS_PX * ui_scale
    if strip.w < LEAST_LABELLED * labels:
        labels = margin
    return Box(strip.x + labels, strip.y + margin / 2, strip.w - labels - margin, strip.h - margin)


def free_box(area: Any, region: Any) -> Box:
    """The part of a window region that sidebars and headers of its area do not lie over."""
    left, bottom, right, top = 0, 0, region.width, region.height
    for other in area.regions:
        if other.type == "WINDOW" or other.width <= 1 or other.height <= 1:
            continue
        x, y = other.x - region.x, other.y - region.y
        if x >= region.width or y >= region.height or x + other.width <= 0 or y + other.height <= 0:
            continue  # beside the region, not over it
        if other.alignment == "LEFT":
            left = max(left, x + other.width)
        elif other.alignment == "RIGHT":
            right = min(right, x)
        elif other.alignment == "BOTTOM":
            bottom = max(bottom, y + other.height)
        elif other.alignment == "TOP":
            top = min(top, y)
    return Box(left, bottom, max(right - left, 1), max(top - bottom, 1))


def overlay_place(context: Any, area: Any, region: Any, layout: Layout) -> Place:
    """Where the overlay stands in a window region of a 3D view."""
    settings = context.scene.anymocap.overlay
    return place_overlay(settings, free_box(area, region), layout, context.preferences.system.ui_scale)
