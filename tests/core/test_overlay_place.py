"""Where the overlay stands: inside what is free, in the layout's proportions, and what the mouse takes hold of."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from anymocap_addon.core.layout import Layout
from anymocap_addon.ops.overlay_place import Box, Place, free_box, place_overlay

LAYOUT = Layout()


def place(free: Box, ui_scale: float = 1.0, **changed: Any) -> Place:
    settings = {"left": 0.012, "bottom": 0.02, "width": 0.5, "caption": True, "strip": True, **changed}
    return place_overlay(SimpleNamespace(**settings), free, LAYOUT, ui_scale)


@pytest.mark.parametrize("ui_scale", [1.0, 2.0])
@pytest.mark.parametrize("free", [Box(0, 0, 1600, 900), Box(60, 10, 500, 900), Box(0, 0, 1600, 300), Box(5, 5, 90, 60)])
@pytest.mark.parametrize("wanted", [{}, {"left": 0.9, "bottom": 0.9}, {"width": 1.0}, {"width": 0.15}])
def test_it_keeps_its_proportions_and_stays_inside(free: Box, ui_scale: float, wanted: dict[str, float]) -> None:
    found = place(free, ui_scale, **wanted)
    whole = found.whole
    assert found.picture.w / found.picture.h == pytest.approx(LAYOUT.width / LAYOUT.height, rel=0.05)
    assert whole.x >= free.x - 1 and whole.right <= free.right + 1 and whole.y >= free.y - 1
    assert whole.top <= free.top + 1


def test_parts_are_stacked_without_gaps() -> None:
    found = place(Box(0, 0, 1600, 900))
    assert found.strip is not None and found.caption is not None and found.graph is not None
    assert found.strip.top == found.picture.y and found.picture.top == found.caption.y
    assert found.picture.w == 800 and found.whole.x == 19
    bare = place(Box(0, 0, 1600, 900), caption=False, strip=False)
    assert bare.caption is None and bare.strip is None and bare.whole == bare.picture


def test_layout_pixels_lie_in_the_picture() -> None:
    found = place(Box(0, 0, 1600, 900))
    corners = found.of_layout(np.array([[0.0, 0.0], [LAYOUT.width, LAYOUT.height]]))
    np.testing.assert_allclose(corners[0], [found.picture.x, found.picture.top])
    np.testing.assert_allclose(corners[1], [found.picture.right, found.picture.y])


def test_graph_and_frames_are_inverse() -> None:
    found = place(Box(0, 0, 1600, 900))
    assert [found.graph_frame(float(found.graph_x(frame, 57)), 57) for frame in range(57)] == list(range(57))
    assert found.graph_frame(-1000.0, 57) == 0 and found.graph_frame(1e6, 57) == 56


def test_the_mouse_takes_hold_of_bar_corner_and_strip_but_not_of_the_picture() -> None:
    found = place(Box(0, 0, 1600, 900))
    assert found.caption is not None and found.strip is not None
    assert found.part_at(found.caption.x + 100, found.caption.y + 5) == "MOVE"
    assert found.part_at(found.whole.right - 3, found.whole.top - 3) == "RESIZE"
    assert found.part_at(found.strip.x + 200, found.strip.y + 20) == "SCRUB"
    assert found.part_at(found.picture.x + 300, found.picture.y + 200) is None
    assert found.part_at(found.whole.right + 2, found.whole.y + 20) is None


def region(kind: str, x: int, y: int, width: int, height: int, alignment: str = "NONE") -> SimpleNamespace:
    return SimpleNamespace(type=kind, x=x, y=y, width=width, height=height, alignment=alignment)


def test_sidebars_and_headers_that_lie_over_the_view_are_kept_free() -> None:
    """The regions of a 3D view in Blender 4.3 whose sidebar is open; closed ones are one pixel wide."""
    window = region("WINDOW", 100, 89, 1322, 784)
    regions = [
        region("HEADER", 100, 846, 1322, 27, "TOP"),
        region("TOOLS", 100, 89, 58, 730, "LEFT"),
        region("UI", 1142, 89, 280, 730, "RIGHT"),
        region("ASSET_SHELF", 100, 89, 1, 1, "BOTTOM"),
        region("TOOL_HEADER", 100, 873, 1322, 27, "TOP"),  # above the window region, not over it
        region("HUD", 158, 89, 200, 100, "FLOAT"),
        window,
    ]
    assert free_box(SimpleNamespace(regions=regions), window) == Box(58, 0, 1322 - 58 - 280, 757)
