"""Look through the front and the side camera of the two-view layout, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ..blender.layout_camera import fit_camera, is_even, prep_place
from ..core.creature import load_creature
from ..core.errors import AnyMoCapError
from ..core.layout import Layout
from ..core.project import CreaturePaths
from ..core.rig import RigInfo, load_rig_info
from .former_view import FORMER
from .said_polls import NeedsCreature
from .scene_settings import creature_paths

if TYPE_CHECKING:
    from bpy.types import Collection, Context, Object, Scene, SpaceView3D

COLLECTION = "AnyMoCap cameras"
VIEW_PROPERTY = "anymocap_view"  # on the camera object: "creature/front", whatever the artist calls it
VIEWS = ("front", "side")


class ANYMOCAP_OT_look_through(NeedsCreature, bpy.types.Operator):
    """Look at the creature as the clip does, with the clip behind it. The camera stands where the armature stands now;
    your own camera and render settings stay as they are"""

    bl_idname = "anymocap.look_through"
    bl_label = "Look Through"
    bl_options = {"REGISTER", "UNDO"}

    view: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="View",
        items=(("FRONT", "Front", "The left part of the clip"), ("SIDE", "Side", "The right part of the clip")),
        default="SIDE",
    )
    render: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Render With It",
        description="Also make it the scene's camera, and the size of a render that of this view's part of the clip",
        default=False,
        options={"SKIP_SAVE"},
    )

    def execute(self, context: Context) -> set[str]:
        view = self.view.lower()
        try:
            paths = creature_paths(context)
            layout, rig = layout_of(paths), load_rig_info(paths.rig_info)
            place = prep_place(rig, context.scene.anymocap.armature)
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if not is_even(place):
            self.report({"WARNING"}, "The armature is stretched or sheared: clip and creature cannot match exactly")
        camera = layout_camera(context.scene, rig, layout, view)
        fit_camera(camera, layout.camera(view), place)
        if self.render:
            _render_with(context.scene, camera, layout, view)
        context.view_layer.update()
        camera.hide_set(True)  # far away from the creature: it would draw View All out
        space = context.space_data
        if space is not None and space.type == "VIEW_3D":
            look_through(space, camera)
            _fill_view(context)
        return {"FINISHED"}


class ANYMOCAP_OT_leave_view(bpy.types.Operator):
    """Go back to where you looked from before"""

    bl_idname = "anymocap.leave_view"
    bl_label = "Leave"

    @classmethod
    def poll(cls, context: Context) -> bool:
        space = context.space_data
        if space is not None and space.type == "VIEW_3D" and may_leave(space):
            return True
        cls.poll_message_set("This view does not look through a camera of the clip")
        return False

    def execute(self, context: Context) -> set[str]:
        FORMER.restore(context.space_data)
        return {"FINISHED"}


def layout_of(paths: CreaturePaths) -> Layout:
    """The creature's layout; the wolf's when creature.json names none.

    Raises:
        BadInputError: creature.json is damaged.
    """
    return (load_creature(paths.creature_json).layout if paths.creature_json.exists() else None) or Layout()


def layout_camera(scene: Scene, rig: RigInfo, layout: Layout, view: str) -> Object:
    """The camera object of a view in this scene, made when it isn't there."""
    mark = f"{rig.creature}/{view}"
    for obj in scene.objects:
        if obj.type == "CAMERA" and obj.get(VIEW_PROPERTY) == mark:
            return obj
    name = f"{rig.creature} {view}"
    camera = bpy.data.objects.new(name, bpy.data.cameras.new(name))
    camera[VIEW_PROPERTY] = mark
    camera.hide_render = True
    _collection(scene).objects.link(camera)
    return camera


def _collection(scene: Scene) -> Collection:
    """Where our cameras lie in this scene."""
    for collection in scene.collection.children_recursive:
        if collection.get(VIEW_PROPERTY):
            return collection
    collection = bpy.data.collections.new(COLLECTION)
    collection[VIEW_PROPERTY] = True
    scene.collection.children.link(collection)
    return collection


def _render_with(scene: Scene, camera: Object, layout: Layout, view: str) -> None:
    scene.camera = camera
    part = layout.camera(view)
    render = scene.render
    render.resolution_x, render.resolution_y = part.width, part.height
    render.pixel_aspect_x = render.pixel_aspect_y = 1.0


def look_through(space: SpaceView3D, camera: Object) -> None:
    """Let a 3D view look through `camera`, as its own camera: the scene's stays."""
    if not may_leave(space):
        FORMER.keep(space)
    space.use_local_camera = True
    space.camera = camera
    space.lock_camera = False
    space.region_3d.view_perspective = "CAMERA"


def _fill_view(context: Context) -> None:
    """Let the camera's frame fill the 3D view that the operator was called from."""
    window = next(region for region in context.area.regions if region.type == "WINDOW")
    with context.temp_override(region=window):
        bpy.ops.view3d.view_center_camera()


def may_leave(space: SpaceView3D) -> bool:
    """Whether a 3D view looks through one of our cameras, or did until an undo took that away: Blender then gives the
    view no camera or the scene's, also after a redo.
    """
    lost = space.camera is None or space.use_local_camera
    return looked_through(space) is not None or (lost and space in FORMER)


def looked_through(space: SpaceView3D) -> str | None:
    """ "front" or "side" when a 3D view has one of our cameras as its own, else None."""
    camera = space.camera if space.use_local_camera else None
    mark = camera.get(VIEW_PROPERTY) if camera is not None else None
    return str(mark).rpartition("/")[2] if mark else None


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_look_through, ANYMOCAP_OT_leave_view)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator, unused-ignore]
def _file_loaded(*_: object) -> None:
    FORMER.clear()


def register() -> None:
    """Addresses of views mean nothing in another file."""
    bpy.app.handlers.load_post.append(_file_loaded)


def unregister() -> None:
    """Take the handler back."""
    bpy.app.handlers.load_post.remove(_file_loaded)
