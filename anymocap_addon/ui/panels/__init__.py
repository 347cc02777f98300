"""The panels in the sidebar of the 3D view, in the order of work."""

from __future__ import annotations

from .. import pictures
from . import body_parts_list, bone_map_section, film_section, main_panel, project_section

CLASSES: tuple[type, ...] = (
    *body_parts_list.CLASSES,
    *bone_map_section.CLASSES,
    *project_section.CLASSES,
    *film_section.CLASSES,
    *main_panel.CLASSES,
)


def register() -> None:
    """Open what the panels show pictures from."""
    pictures.register()


def unregister() -> None:
    """Free the pictures."""
    pictures.unregister()
