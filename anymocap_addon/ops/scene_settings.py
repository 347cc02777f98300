"""What the Scene holds: the project folder and the creature."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..blender.compat import relative_path_options
from ..core.errors import BadInputError
from ..core.project import CreaturePaths, Project

if TYPE_CHECKING:
    from bpy.types import Context


class ANYMOCAP_PG_scene(bpy.types.PropertyGroup):
    """Project folder and creature of a scene."""

    project: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Project",
        description="Folder that holds the creatures and everything made for them",
        subtype="DIR_PATH",
        options=relative_path_options(),
    )
    creature: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Creature", description="Name of the creature's folder under assets"
    )


def has_creature(context: Context) -> bool:
    """Whether the scene names a project and a creature."""
    settings = getattr(context.scene, "anymocap", None)
    return bool(settings and settings.project and settings.creature)


def creature_paths(context: Context) -> CreaturePaths:
    """The creature that the scene names.

    Raises:
        BadInputError: it names none, or the project's path is relative to a .blend that is not saved.
    """
    if not has_creature(context):
        raise BadInputError("The scene names no creature.", hint="Choose project folder and creature.")
    settings = context.scene.anymocap
    if settings.project.startswith("//") and not bpy.data.filepath:
        raise BadInputError(
            "The project folder is relative to this .blend, which is not saved.",
            key=settings.project,
            hint="Save the .blend, or choose an absolute folder.",
        )
    return Project(Path(bpy.path.abspath(settings.project))).creature(settings.creature)


CLASSES: tuple[type, ...] = (ANYMOCAP_PG_scene,)


def register() -> None:
    """Give every Scene its settings."""
    bpy.types.Scene.anymocap = bpy.props.PointerProperty(type=ANYMOCAP_PG_scene)


def unregister() -> None:
    """Take them away again."""
    del bpy.types.Scene.anymocap
