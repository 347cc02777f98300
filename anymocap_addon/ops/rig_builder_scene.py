"""Where a skeleton is placed and tried: a collection of its own in the open scene, in prep space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

if TYPE_CHECKING:
    from bpy.types import Collection, Context, Object, Scene

PLACING = "anymocap_placing"  # on the collection and its main object: the creature's name
TRIAL = "anymocap_trial"
MODES = ("OBJECT", "POSE", "EDIT_MESH")


def workplace(scene: Scene, mark: str, creature: str) -> Collection:
    """A new collection for a creature; what an earlier one of that mark held is removed."""
    clear(scene, mark)
    titles = {PLACING: "skeleton", TRIAL: "trial of the rig"}
    collection = bpy.data.collections.new(f"{creature} {titles[mark]}")
    collection[mark] = creature
    scene.collection.children.link(collection)
    return collection


def main_object(scene: Scene, mark: str, creature: str = "") -> Object | None:
    """The object that is worked on: the joints, or the armature that is tried.

    Args:
        creature: of this one only; empty = of any.
    """
    for collection in scene.collection.children:
        if mark in collection and (not creature or collection[mark] == creature):
            return next((obj for obj in collection.objects if mark in obj), None)
    return None


def beside(obj: Object, mark: str) -> list[Object]:
    """The meshes that stand with the main object."""
    held = next(collection for collection in obj.users_collection if mark in collection)
    return [other for other in held.objects if other.type == "MESH" and mark not in other]


def clear(scene: Scene, mark: str) -> None:
    """Remove the collections of a mark with all that they hold."""
    for collection in [c for c in scene.collection.children if mark in c]:
        objects = list(collection.objects)
        data = {obj.data for obj in objects if obj.data is not None}
        bpy.data.batch_remove([*objects, collection])
        bpy.data.batch_remove([block for block in data if block.users == 0])


def show_alone(context: Context, obj: Object, mode: str) -> None:
    """Make `obj` the selection, show its collection alone in the 3D view that is there, and go into a mode."""
    held = next(c for c in obj.users_collection if PLACING in c or TRIAL in c)
    leave_mode(context)
    leave_alone(context)
    for other in context.view_layer.objects:
        other.select_set(other.name in held.objects)
    context.view_layer.objects.active = obj
    space = context.space_data
    if space is not None and space.type == "VIEW_3D":
        bpy.ops.view3d.localview(frame_selected=True)
    for other in held.objects:
        other.select_set(other == obj)
        other.hide_select = other != obj  # not to be picked by a click
    bpy.ops.object.mode_set(mode=mode)


def leave_alone(context: Context) -> None:
    """Show everything in the 3D view again."""
    space = context.space_data
    if space is not None and space.type == "VIEW_3D" and space.local_view is not None:
        bpy.ops.view3d.localview(frame_selected=False)


def leave_mode(context: Context) -> None:
    """Object Mode, whatever the active object is in."""
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
