"""Operators that let the artist pick a file and name what comes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpy.types import Context


class PicksFile:
    """For operators with the properties `filepath` and `name`."""

    def invoke(self, context: Context, event: Any) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def draw(self, context: Context) -> None:
        self.layout.prop(self, "name")  # type: ignore[attr-defined]  # an operator's
