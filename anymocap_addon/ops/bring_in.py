"""Bring the rigged creature into the open file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..blender.scene import RiggedScene, append_rigged
from ..core.errors import AnyMoCapError, BadInputError
from ..core.project import CreaturePaths
from .said_polls import NeedsCreature
from .scene_settings import creature_paths

if TYPE_CHECKING:
    from bpy.types import Collection, Context, Object, Scene

CREATURE_PROPERTY = "anymocap_creature"  # on armature and collection, whatever the artist calls them


class ANYMOCAP_OT_bring_in(NeedsCreature, bpy.types.Operator):
    """Bring the rigged creature into this scene, in a collection of its own, ready for its motions"""

    bl_idname = "anymocap.bring_in"
    bl_label = "Bring In"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        here = context.mode in {"OBJECT", "POSE"}
        return "" if here else "Leave this mode first: objects are brought in in Object and in Pose Mode"

    def execute(self, context: Context) -> set[str]:
        try:
            paths = creature_paths(context)
            armature = brought_armature(context.scene, paths.name)
            if armature is not None:
                self.report({"INFO"}, f"{paths.name} is in this scene already")
            else:
                armature = bring_in(context, paths).armature
                self.report({"INFO"}, f"{paths.name} was brought in")
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        context.scene.anymocap.armature = armature
        _select(context, armature)
        return {"FINISHED"}


def brought_armature(scene: Scene, creature: str) -> Object | None:
    """The armature of that creature which was brought into the scene, also when it was renamed since."""
    found = (o for o in scene.objects if o.type == "ARMATURE" and o.get(CREATURE_PROPERTY) == creature)
    return next(found, None)


def bring_in(context: Context, paths: CreaturePaths) -> RiggedScene:
    """Append the objects of rigged.blend into a collection named by the creature.

    The shapes of its bones stay out of the scene: they are seen on the bones, and would lie about as meshes.

    Raises:
        BadInputError: the creature is not rigged yet, its file is damaged or the open one; the scene is as it was.
    """
    if bpy.data.filepath and Path(bpy.data.filepath).resolve() == paths.rigged_blend.resolve():
        raise BadInputError(
            "This file is the creature's own, which all stages read.",
            file=paths.rigged_blend,
            hint="Open or begin the file of your shot and bring the creature in there.",
        )
    collection = _collection(context.scene, paths.name)
    before = set(bpy.data.objects)
    try:
        rigged = append_rigged(paths, collection)
    except AnyMoCapError:
        bpy.data.batch_remove(set(bpy.data.objects) - before)
        if not collection.objects:
            bpy.data.collections.remove(collection)
        raise
    rigged.armature[CREATURE_PROPERTY] = paths.name
    for shape in {bone.custom_shape for bone in rigged.armature.pose.bones} - {None}:
        if shape.name in collection.objects:
            collection.objects.unlink(shape)
    context.view_layer.update()
    for obj in collection.objects:
        if obj.type == "EMPTY":  # carries the creature to its real size and place; nothing to look at
            obj.hide_set(True)
    return rigged


def _collection(scene: Scene, creature: str) -> Collection:
    """The collection that an earlier creature of this name left, emptied by the artist; else a new one."""
    for collection in scene.collection.children_recursive:
        if collection.get(CREATURE_PROPERTY) == creature and not collection.objects:
            return collection
    collection = bpy.data.collections.new(creature)
    collection[CREATURE_PROPERTY] = creature
    scene.collection.children.link(collection)
    return collection


def _select(context: Context, armature: Object) -> None:
    """Make it the selection, unless the artist is posing something."""
    if context.mode != "OBJECT" or armature.name not in context.view_layer.objects:
        return
    for obj in context.view_layer.objects.selected:
        obj.select_set(False)
    armature.select_set(True)
    context.view_layer.objects.active = armature


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_bring_in,)
