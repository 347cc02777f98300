"""The bones by body part, as the dialog Body Parts lists them: with a search and a scroll bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ...ops.role_operators import is_sought

if TYPE_CHECKING:
    from bpy.types import Context, UILayout


class ANYMOCAP_UL_body_parts(bpy.types.UIList):
    """Body part and bone; those that the artist set carry a pencil."""

    def draw_item(
        self,
        context: Context,
        layout: UILayout,
        data: Any,
        item: Any,
        icon: int,
        active_data: Any,
        active_property: str,
        index: int,
    ) -> None:
        row = layout.split(factor=0.4)
        row.label(text=item.part)
        row.label(text=item.name, icon="GREASEPENCIL" if item.edit else "BONE_DATA")

    def draw_filter(self, context: Context, layout: UILayout) -> None:
        """The dialog's own search stands above the list."""

    def filter_items(self, context: Context, data: Any, property: str) -> tuple[list[int], list[int]]:
        rows = getattr(data, property)
        shown = [self.bitflag_filter_item if is_sought(row.name, row.part, data.search) else 0 for row in rows]
        return shown, []


CLASSES: tuple[type, ...] = (ANYMOCAP_UL_body_parts,)
