"""The panel AnyMoCap in the sidebar of the 3D view."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

import bpy

from ...core.project import CreaturePaths
from ...ops.creature_operators import why_no_project
from ...ops.running import HOST
from ...ops.states import STATES, SceneStates
from ...ops.worker_lack import worker_lack
from ..wrapped_text import draw_text
from .project_section import draw_first_time, draw_next, draw_project
from .sections import draw_sections

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_told: set[str] = set()


class ANYMOCAP_PT_main(bpy.types.Panel):
    """Motion for a creature from one two-view clip."""

    bl_label = "AnyMoCap"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "AnyMoCap"

    def draw(self, context: Context) -> None:
        try:
            draw_panel(self.layout, context)
        except Exception as error:  # Blender would leave half a panel and say nothing
            _tell_once(error)
            draw_text(self.layout, context, f"A fault of AnyMoCap: {type(error).__name__}: {error}", icon="ERROR")


def draw_panel(layout: UILayout, context: Context) -> None:
    """The whole panel: for a first-time user, or project, next step and sections. Reads no file."""
    settings = context.scene.anymocap
    if lack := worker_lack(context):
        column = layout.column()
        column.alert = True
        draw_text(column, context, lack, icon="ERROR")
    if why_no_project(context):
        draw_first_time(layout, context)
        return
    states = STATES.of(context)
    if states is None:
        layout.label(text="Looking at the project", icon="SORTTIME")
        return
    if not settings.creature and not states.creatures and not states.error:
        draw_first_time(layout, context)
        return
    draw_project(layout, context, states)
    if states.error:
        column = layout.column()
        column.alert = True
        draw_text(column, context, states.error, icon="ERROR")
    if settings.creature not in states.creatures and not states.error and not HOST.at_work(_paths(states)):
        named = f"There is no creature {settings.creature!r} in this folder: c" if settings.creature else "C"
        draw_text(layout, context, f"{named}hoose a creature, or add one.", icon="INFO")
        return
    if states.survey is None:
        return
    if not states.error:
        draw_next(layout, context, states)
    draw_sections(layout, context, states)


def _paths(states: SceneStates) -> CreaturePaths | None:
    return states.survey.paths if states.survey is not None else None


def _tell_once(error: Exception) -> None:
    """The console gets each fault once, not at every redraw."""
    text = "".join(traceback.format_exception(error))
    if text not in _told:
        _told.add(text)
        print(text)


CLASSES: tuple[type, ...] = (ANYMOCAP_PT_main,)
