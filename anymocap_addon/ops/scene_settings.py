"""What the Scene holds: project folder, creature, clip, armature, and the settings of the stages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..blender.compat import relative_path_options
from ..core.clip_source import known_clips
from ..core.errors import AnyMoCapError, BadInputError
from ..core.film.filmed_clips import known_moves
from ..core.project import CreaturePaths, Project
from ..core.stage_record import load_record
from ..jobs.registry import REGISTRY
from ..jobs.stage import Stage
from ..jobs.state import remembered_settings
from .armature_id import give_id
from .overlay_settings import ANYMOCAP_PG_overlay
from .preference_values import preference_values
from .running import HOST
from .stage_settings import FROM_SCENE, ANYMOCAP_PG_stages, chosen_values, load_recorded

if TYPE_CHECKING:
    from bpy.types import Context, Scene


def _creature_changed(settings: Any, context: Context) -> None:
    """Another creature has other clips and other runs."""
    try:
        paths = _paths(settings)
        clips = known_clips(paths)
        if settings.clip not in clips:
            settings.clip = clips[0] if clips else ""
        moves = known_moves(paths)
        if settings.move not in moves:
            settings.move = moves[0] if moves else ""
    except AnyMoCapError:
        pass  # half chosen yet; the panel says what is missing
    _show_recorded(settings)
    HOST.touch()


def _clip_changed(settings: Any, context: Context) -> None:
    _show_recorded(settings)
    HOST.touch()


def _armature_changed(settings: Any, context: Context) -> None:
    if settings.armature is not None:
        give_id(settings.armature)
    HOST.touch()


def _start_changed(settings: Any, context: Context) -> None:
    # A function of this module: a lambda in an annotation finds no name of it.
    HOST.touch()


def _is_armature(settings: Any, candidate: bpy.types.Object) -> bool:
    return bool(candidate.type == "ARMATURE")


class ANYMOCAP_PG_scene(bpy.types.PropertyGroup):
    """What a scene works on."""

    project: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Project",
        description="Folder that holds the creatures and everything made for them",
        subtype="DIR_PATH",
        options=relative_path_options(),
        update=_creature_changed,
    )
    creature: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Creature", description="Name of the creature's folder under assets", update=_creature_changed
    )
    clip: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Clip", description="Name of the clip at work", update=_clip_changed
    )
    move: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Move", description="Name of the move that is filmed, e.g. walk", update=_clip_changed
    )
    armature: bpy.props.PointerProperty(  # type: ignore[valid-type]
        name="Armature",
        description="The creature's armature in this file, which gets the fitted motion",
        type=bpy.types.Object,
        poll=_is_armature,
        update=_armature_changed,
    )
    start_frame: bpy.props.IntProperty(  # type: ignore[valid-type]
        name="Start Frame",
        description="Frame of the scene at which the clip begins",
        default=1,
        min=-100000,
        max=1000000,
        update=_start_changed,
    )
    apply_when_fitted: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Apply When Fitted",
        description="Key the motion onto the armature as soon as it is fitted, as one undo step",
        default=True,
    )
    overlay: bpy.props.PointerProperty(type=ANYMOCAP_PG_overlay)  # type: ignore[valid-type]
    stages: bpy.props.PointerProperty(type=ANYMOCAP_PG_stages)  # type: ignore[valid-type]


def has_creature(context: Context) -> bool:
    """Whether the scene names a project and a creature."""
    settings = getattr(context.scene, "anymocap", None)
    return bool(settings and settings.project and settings.creature)


def project_of(context: Context) -> Project | None:
    """The project that the scene names; None when it names none or only one that is relative to an unsaved file."""
    settings = getattr(context.scene, "anymocap", None)
    if not settings or not settings.project or needs_saving(settings):
        return None
    return Project(Path(bpy.path.abspath(settings.project)))


def creature_paths(context: Context) -> CreaturePaths:
    """The creature that the scene names.

    Raises:
        BadInputError: it names none, or the project's path is relative to a .blend that is not saved.
    """
    if not has_creature(context):
        raise BadInputError("The scene names no creature.", hint="Choose project folder and creature.")
    return _paths(context.scene.anymocap)


def scene_paths(scene: Scene) -> CreaturePaths | None:
    """The creature that a scene names; None when it names none that can be found."""
    try:
        return _paths(scene.anymocap)
    except BadInputError:
        return None


def needs_saving(settings: Any) -> bool:
    """Whether the project is relative to a .blend that is not saved. Looks at no file, so a draw may ask."""
    return settings.project.startswith("//") and not bpy.data.filepath


def _paths(settings: Any) -> CreaturePaths:
    if not settings.project or not settings.creature:
        raise BadInputError("The scene names no creature.", hint="Choose project folder and creature.")
    if needs_saving(settings):
        raise BadInputError(
            "The project folder is relative to this .blend, which is not saved.",
            key=settings.project,
            hint="Save the .blend, or choose an absolute folder.",
        )
    return Project(Path(bpy.path.abspath(settings.project))).creature(settings.creature)


def item_of(context: Context, stage: Stage, item: str | None = None) -> str | None:
    """The clip or move that a stage would work on: the one named, else the Scene's; None for a stage per creature."""
    return None if stage.per == "creature" else item or str(getattr(context.scene.anymocap, stage.per))


def wanted_settings(context: Context, stage: Stage, item: str | None = None) -> dict[str, Any]:
    """What the stage would run with: the settings of its last run, over them what is set in the Scene.

    Args:
        item: clip or move; None means the Scene's. What is set in the Scene is about its own clip only.

    Returns:
        A value for every setting. Settings that do not change the result (threads, device) are the Scene's, else the
        preferences'; paths are absolute.

    Raises:
        BadInputError: the scene names no creature, or the record of the last run is damaged.
    """
    settings, paths = context.scene.anymocap, creature_paths(context)
    item = item_of(context, stage, item)
    record = load_record(paths, stage.name, item) if item != "" else None
    values = remembered_settings(stage, item, record)
    values.update(_portable_values(context, stage))
    if record is None:
        values.update(_preferred_values(context, stage))
    if item == item_of(context, stage):
        values.update(chosen_values(getattr(settings.stages, stage.name), stage))
    values.update({name: value for name, value in _scene_values(settings).items() if name in values})
    return values


def _scene_values(settings: Any) -> dict[str, Any]:
    armature = settings.armature.name if settings.armature is not None else ""
    return {"armature": armature, "start_frame": settings.start_frame}


def _portable_values(context: Context, stage: Stage) -> dict[str, Any]:
    """Portable settings as the preferences have them; the last run may have been on another machine."""
    preferences = preference_values(context)
    values = {}
    for setting in stage.settings:
        if setting.portable and setting.name not in FROM_SCENE:
            preferred = getattr(preferences, setting.name, setting.default)
            known = not setting.choices or preferred in setting.choices
            values[setting.name] = preferred if known else setting.default
    return values


def _preferred_values(context: Context, stage: Stage) -> dict[str, Any]:
    """Settings that the preferences have a default of their own for."""
    return {"rows": preference_values(context).preview_rows} if stage.name == "preview" else {}


def _show_recorded(settings: Any) -> None:
    """Load the settings of the last runs into the Scene, so that the panel shows what will be used."""
    try:
        paths = _paths(settings)
    except BadInputError:
        return
    for stage in REGISTRY:
        item = None if stage.per == "creature" else str(getattr(settings, stage.per))
        try:
            record = load_record(paths, stage.name, item) if item != "" else None
        except AnyMoCapError:
            record = None  # damaged: the stage's state says so
        load_recorded(getattr(settings.stages, stage.name), stage, paths, item, record)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _file_loaded(*_: Any) -> None:
    """Runs may have happened since the file was saved."""
    for scene in bpy.data.scenes:
        _show_recorded(scene.anymocap)
    HOST.touch()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _undone(*_: Any) -> None:
    """An undo or redo may have changed what is set, and calls no property's update."""
    HOST.touch()


CLASSES: tuple[type, ...] = (ANYMOCAP_PG_scene,)
_HANDLERS = (("load_post", _file_loaded), ("undo_post", _undone), ("redo_post", _undone))


def register() -> None:
    """Give every Scene its settings."""
    bpy.types.Scene.anymocap = bpy.props.PointerProperty(type=ANYMOCAP_PG_scene)
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).append(handler)


def unregister() -> None:
    """Take them away again."""
    for name, handler in _HANDLERS:
        getattr(bpy.app.handlers, name).remove(handler)
    del bpy.types.Scene.anymocap
