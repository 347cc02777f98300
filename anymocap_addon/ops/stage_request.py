"""What a stage is asked to do when it is started from Blender."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import BadInputError
from ..jobs.stage import Stage, load_function
from .armature_id import check_armature
from .scene_settings import creature_paths, item_of, wanted_settings

if TYPE_CHECKING:
    from bpy.types import Context

_PACKAGE = __package__.rpartition(".")[0]


def asked_settings(
    context: Context,
    stage: Stage,
    item: str | None = None,
    given: dict[str, Any] | None = None,
    gather: bool = True,
) -> dict[str, Any]:
    """The settings of a run: the Scene's, over them what was given, and what only the open scene knows.

    Args:
        gather: take anew from the open scene what the stage takes from there (prep its object), which makes it stale.

    Raises:
        BadInputError: the scene names no creature, no clip is chosen, the armature cannot be keyed, or the open scene
            lacks what is named.
    """
    given = given or {}
    item = item_of(context, stage, given.get(stage.per, item))
    if item == "":
        raise BadInputError(f"No {stage.per} is chosen.", key=stage.per, hint="Choose or add one.")
    armature = context.scene.anymocap.armature
    if runs_here(stage) and armature is not None and given.get("armature", armature.name) == armature.name:
        check_armature(armature)
    wanted = {**wanted_settings(context, stage, item), **given}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if gather and stage.gather:
        wanted = load_function(stage.gather, _PACKAGE)(creature_paths(context), wanted) or {}
    return wanted


def runs_here(stage: Stage) -> bool:
    """Whether the stage can change this Blender's data, so that it must be an undo step."""
    return any(step.where == "here" for step in stage.steps)


def changes_this_scene(stage: Stage, settings: dict[str, Any]) -> bool:
    """Whether a run with these settings changes the open scene's own data."""
    return runs_here(stage) and bool(settings.get("armature"))
