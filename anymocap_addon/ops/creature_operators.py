"""Choose and add creatures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..core.errors import AnyMoCapError, BadInputError
from ..core.project import MESH_SUFFIXES, Project, check_name
from .picked_file import PicksFile
from .said_polls import UNSAVED, SaidPoll
from .scene_settings import needs_saving, project_of
from .states import STATES

if TYPE_CHECKING:
    from bpy.types import Context

BUILT_IN = "lynx"
_MESH_FILES = ";".join(f"*{suffix}" for suffix in (*MESH_SUFFIXES, ".blend"))


def why_no_project(context: Context) -> str:
    """Why the scene has no project folder that can be used, for the artist; empty when it has one. Looks at no file."""
    settings = context.scene.anymocap
    if not settings.project:
        return "Choose a project folder first"
    if needs_saving(settings):
        return UNSAVED
    return ""


class _NeedsProject(SaidPoll):
    """For operators that put something into the project folder."""

    @classmethod
    def why_not(cls, context: Context) -> str:
        return why_no_project(context)


class ANYMOCAP_OT_use_folder(bpy.types.Operator):
    """Keep this scene's creatures in this folder; it is made when something is put into it"""

    bl_idname = "anymocap.use_folder"
    bl_label = "Use This Folder"
    bl_options = {"UNDO", "INTERNAL"}

    folder: bpy.props.StringProperty(name="Folder", subtype="DIR_PATH")  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[str]:
        context.scene.anymocap.project = self.folder
        STATES.refresh(context)
        return {"FINISHED"}


class ANYMOCAP_OT_choose_creature(_NeedsProject, bpy.types.Operator):
    """Work on this creature"""

    bl_idname = "anymocap.choose_creature"
    bl_label = "Choose Creature"
    bl_options = {"UNDO", "INTERNAL"}

    name: bpy.props.StringProperty(name="Creature")  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[str]:
        project = project_of(context)
        if project is None or self.name not in project.creatures():
            self.report({"ERROR"}, f"There is no creature {self.name!r} in this project.")
            return {"CANCELLED"}
        _choose(context, self.name)
        return {"FINISHED"}


class ANYMOCAP_OT_add_creature_from_file(PicksFile, _NeedsProject, bpy.types.Operator):
    """Add a creature whose mesh is a file: glb, gltf, fbx, obj, usd or blend. The file stays where it is"""

    bl_idname = "anymocap.add_creature_from_file"
    bl_label = "Add Creature"
    bl_options = {"UNDO"}

    filepath: bpy.props.StringProperty(subtype="FILE_PATH")  # type: ignore[valid-type]
    filter_glob: bpy.props.StringProperty(default=_MESH_FILES, options={"HIDDEN"})  # type: ignore[valid-type]
    name: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Name", description="Name of the creature's folder; empty = the file's name", options={"SKIP_SAVE"}
    )

    def execute(self, context: Context) -> set[str]:
        try:
            file = _mesh_file(bpy.path.abspath(self.filepath))
            _add(context, self.name.strip() or folder_name(file.stem), mesh=str(file))
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


class ANYMOCAP_OT_add_creature_from_scene(_NeedsProject, bpy.types.Operator):
    """Add the creature that the active object belongs to: its armature and all meshes that follow it"""

    bl_idname = "anymocap.add_creature_from_scene"
    bl_label = "Add Creature"
    bl_options = {"UNDO"}

    name: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Name", description="Name of the creature's folder; empty = the object's name", options={"SKIP_SAVE"}
    )

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        fits = context.object is not None and context.object.type in {"MESH", "ARMATURE"}
        return "" if fits else "Make the creature's mesh or armature the active object first"

    def invoke(self, context: Context, event: Any) -> set[str]:
        self.name = folder_name(context.object.name)
        answer: set[str] = context.window_manager.invoke_props_dialog(self)
        return answer

    def execute(self, context: Context) -> set[str]:
        try:
            _add(context, self.name.strip() or folder_name(context.object.name), object_name=context.object.name)
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.scene.anymocap.armature = _armature_of(context.object)
        return {"FINISHED"}


class ANYMOCAP_OT_add_builtin_creature(_NeedsProject, bpy.types.Operator):
    """Add the built-in lynx, with its skeleton and a walk, to learn the way on"""

    bl_idname = "anymocap.add_builtin_creature"
    bl_label = "Add the Built-in Creature"
    bl_options = {"UNDO"}

    def execute(self, context: Context) -> set[str]:
        project = project_of(context)
        assert project is not None  # the poll said so
        creature = project.creature(BUILT_IN)
        made = creature.model().exists()
        try:
            creature.assets.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.report({"ERROR"}, f"{creature.assets}: cannot be made: {error.strerror}")
            return {"CANCELLED"}
        _choose(context, BUILT_IN)
        if made:
            return {"FINISHED"}
        how = "EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT"
        try:
            result: set[str] = bpy.ops.anymocap.example(how)
        except RuntimeError as error:  # what an operator reports as an error
            self.report({"ERROR"}, str(error).removeprefix("Error: ").strip())
            return {"CANCELLED"}
        return result


def folder_name(text: str) -> str:
    """A name for a folder, from a file's or an object's name."""
    return re.sub(r"[^\w \-]+", "_", text).strip(" _") or "creature"


def _mesh_file(path: str) -> Path:
    file = Path(path)
    if file.suffix.lower() not in (*MESH_SUFFIXES, ".blend"):
        kinds = ", ".join(suffix[1:] for suffix in (*MESH_SUFFIXES, ".blend"))
        raise BadInputError("This is no mesh file.", file=file, hint=f"Choose one of these kinds: {kinds}.")
    if not file.is_file():
        raise BadInputError("There is no such file.", file=file, hint="Choose a mesh file.")
    return file


def _add(context: Context, creature: str, mesh: str = "", object_name: str = "") -> None:
    """Make the creature's folder and choose it; prep takes its mesh from there.

    Raises:
        BadInputError: the name is no folder's name, or taken.
        AnyMoCapError: the folder cannot be made.
    """
    project = project_of(context)
    assert project is not None  # the poll said so
    check_name(creature, "The creature")
    _check_free(project, creature)
    folder = project.creature(creature).assets
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise AnyMoCapError(
            f"The folder cannot be made: {error.strerror}.", file=folder, hint="Choose another project folder."
        ) from error
    _choose(context, creature)
    prep = context.scene.anymocap.stages.prep
    for name, value in (("mesh", mesh), ("object", object_name)):
        if value:
            setattr(prep, name, value)
        else:
            prep.property_unset(name)  # what is set, also to nothing, outdoes what prep makes of the scene's object
    STATES.refresh(context)


def _check_free(project: Project, name: str) -> None:
    taken = [other for other in project.creatures() if other.casefold() == name.casefold()]
    if taken:
        raise BadInputError(
            f"There is a creature {taken[0]!r} in this project already.", hint="Give this one another name."
        )


def _choose(context: Context, name: str) -> None:
    settings = context.scene.anymocap
    settings.creature = name
    settings.armature = None
    STATES.refresh(context)


def _armature_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    return obj if obj.type == "ARMATURE" else obj.find_armature()


CLASSES: tuple[type, ...] = (
    ANYMOCAP_OT_use_folder,
    ANYMOCAP_OT_choose_creature,
    ANYMOCAP_OT_add_creature_from_file,
    ANYMOCAP_OT_add_creature_from_scene,
    ANYMOCAP_OT_add_builtin_creature,
)
