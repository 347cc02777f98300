"""Redraws of the sidebars of all 3D views, no more often than anyone can follow."""

from __future__ import annotations

import time

import bpy

EVERY_S = 0.4  # a redraw at each tick starves the background process and makes the window stutter


class SidebarRedraw:
    """Redraws when what is shown has changed."""

    def __init__(self) -> None:
        self._shown = -1
        self._last = 0.0

    def when_changed(self, version: int) -> None:
        """Ask Blender to draw again, unless `version` is on the screen or it did so just now."""
        now = time.monotonic()
        if version == self._shown or now - self._last < EVERY_S:
            return
        self._shown, self._last = version, now
        for window in bpy.context.window_manager.windows:
            for area in window.screen.areas:
                if area.type == "VIEW_3D":
                    for region in area.regions:
                        if region.type == "UI":
                            region.tag_redraw()
