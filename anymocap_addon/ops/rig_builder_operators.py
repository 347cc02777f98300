"""Place a skeleton in a mesh that has none: template, joints to drag in the 3D view, rig.json."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..blender.joint_points import joint_places, make_joint_points
from ..blender.rig_build import check_joints
from ..blender.scene import append_objects
from ..core.errors import BadInputError
from ..core.file_mark import file_sha256
from ..core.rig import load_rig_spec, save_rig_spec
from ..core.skeleton_edits import moved_joints
from ..jobs.registry import REGISTRY
from ..jobs.stage_run import StageRun
from .apply_ready import why_waiting
from .foreground import run_to_end
from .reported_errors import ReportsErrors
from .rig_builder_scene import (
    MODES,
    PLACING,
    TRIAL,
    beside,
    clear,
    leave_alone,
    leave_mode,
    main_object,
    show_alone,
    workplace,
)
from .running import HOST
from .running_stage import RunningStage
from .said_polls import NeedsCreature
from .scene_settings import creature_paths, scene_paths
from .stage_operator import why_not
from .stage_request import asked_settings
from .states import STATES

if TYPE_CHECKING:
    from bpy.types import Context, Object, Window

READ_FROM = "anymocap_read_from"  # on the joints: what rig.json was when they were shown
_LOOK_EVERY_S = 0.3


def skeleton_lack(context: Context) -> str:
    """Why there are no joints to show, for the artist; empty where there are, and without a window. Reads no file."""
    if bpy.app.background:
        return ""  # no timer keeps what a panel would show; the operator says what is missing
    states = STATES.of(context)
    if states is None or states.survey is None:
        return ""
    builder = states.survey.rig_builder
    return "" if builder is None or builder.has_skeleton else "There is no skeleton yet: place the joints first"


class ANYMOCAP_OT_place_joints(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Place the chosen template's skeleton in the prepped mesh, and show its joints to be dragged"""

    bl_idname = "anymocap.place_joints"
    bl_label = "Place Joints"

    overwrite: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Replace the Skeleton", description="Replace the skeleton that there is", options={"SKIP_SAVE"}
    )

    @classmethod
    def why_not(cls, context: Context) -> str:
        return why_not(context, REGISTRY["template"])

    def invoke(self, context: Context, event: Any) -> set[str]:
        states = STATES.of(context)
        builder = states.survey.rig_builder if states is not None and states.survey is not None else None
        if builder is None or not builder.has_skeleton:
            return self.execute(context)
        self.overwrite = True
        answer: set[str] = context.window_manager.invoke_confirm(
            self,
            event,
            title="Replace the skeleton?",
            message="Joints that you moved and limits that you changed are replaced by the template's.",
            confirm_text="Replace",
        )
        return answer

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._start(context))

    def _start(self, context: Context) -> None:
        stage = REGISTRY["template"]
        settings = asked_settings(context, stage, given={"overwrite": self.overwrite})
        run = StageRun(creature_paths(context), stage, settings, pool=HOST.pool, force=True)
        if bpy.app.background:
            run_to_end(run)
            show_joints(context)
        else:
            HOST.start(run)


class ANYMOCAP_OT_show_joints(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Show the skeleton's joints in the prepped mesh as points to drag (G). The other side follows; what you dragged
    and did not write is forgotten"""

    bl_idname = "anymocap.show_joints"
    bl_label = "Move Joints"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context) or skeleton_lack(context):
            return reason
        return "" if context.mode in MODES else "Leave this mode first (Tab)"

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: show_joints(context))


def show_joints(context: Context) -> Object:
    """The joints of rig.json as points in the prepped mesh, alone in the view, in Edit Mode.

    Raises:
        BadInputError: nothing was prepped, or there is no rig.json that can be read.
    """
    paths, scene = creature_paths(context), context.scene
    spec, mark = load_rig_spec(paths.rig_json), file_sha256(paths.rig_json)
    leave_mode(context)
    clear(scene, TRIAL)
    objects = append_objects(paths.static_blend, "Run Prep first.")
    collection = workplace(scene, PLACING, paths.name)
    for obj in objects:
        if obj.type == "MESH":
            collection.objects.link(obj)
    context.view_layer.update()
    _keep_meshes(objects)
    points = make_joint_points(spec, f"{paths.name} joints", collection)
    points[PLACING], points[READ_FROM] = paths.name, mark
    context.view_layer.update()
    show_alone(context, points, "EDIT")
    context.scene.tool_settings.mesh_select_mode = (True, False, False)
    bpy.ops.mesh.select_all(action="DESELECT")
    return points


def _keep_meshes(objects: list[Object]) -> None:
    """The meshes where prep put them; what else the file holds goes."""
    for obj in objects:
        if obj.type == "MESH":
            place = obj.matrix_world.copy()
            obj.parent = None
            obj.matrix_world = place
    bpy.data.batch_remove([obj for obj in objects if obj.type != "MESH"])


class ANYMOCAP_OT_write_joints(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Write the joints as they lie now to the creature's rig.json, from which Rig builds the armature"""

    bl_idname = "anymocap.write_joints"
    bl_label = "Write Skeleton"

    overwrite: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Replace", description="Also where rig.json was changed since the joints were shown", options={"SKIP_SAVE"}
    )
    leave: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Leave", description="Take the joints out of the scene afterwards", default=True
    )

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        shown = main_object(context.scene, PLACING, context.scene.anymocap.creature)
        return "" if shown is not None else "The joints are not shown: Move Joints first"

    def invoke(self, context: Context, event: Any) -> set[str]:
        if not changed_since(context):
            return self.execute(context)
        self.overwrite = True
        answer: set[str] = context.window_manager.invoke_confirm(
            self,
            event,
            title="Replace what was changed?",
            message="The skeleton's file was changed since these joints were shown. Their places replace those in it.",
            confirm_text="Replace",
        )
        return answer

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._write(context))

    def _write(self, context: Context) -> None:
        paths = creature_paths(context)
        points = main_object(context.scene, PLACING, paths.name)
        assert points is not None  # the poll
        if changed_since(context) and not self.overwrite:
            raise BadInputError(
                "The skeleton was changed since these joints were shown.",
                file=paths.rig_json,
                hint="Show the joints again, or replace it on purpose.",
            )
        spec = moved_joints(load_rig_spec(paths.rig_json), joint_places(points))
        check_joints(spec, beside(points, PLACING), paths.rig_json)
        save_rig_spec(paths.rig_json, spec)
        points[READ_FROM] = file_sha256(paths.rig_json)
        if self.leave:
            leave_joints(context)
        _draw_grid(context)
        HOST.touch()
        self.report({"INFO"}, f"{len(spec.joints)} joints written")


class ANYMOCAP_OT_leave_joints(ReportsErrors, bpy.types.Operator):
    """Take the joints out of the scene without writing them"""

    bl_idname = "anymocap.leave_joints"
    bl_label = "Leave"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: leave_joints(context))


def leave_joints(context: Context) -> None:
    """Back to the artist's scene."""
    leave_mode(context)
    leave_alone(context)
    clear(context.scene, PLACING)


def changed_since(context: Context) -> bool:
    """Whether rig.json is another than when the joints were shown."""
    paths = creature_paths(context)
    points = main_object(context.scene, PLACING, paths.name)
    return points is not None and (not paths.rig_json.exists() or file_sha256(paths.rig_json) != points[READ_FROM])


def _draw_grid(context: Context) -> None:
    """The grid picture anew, in the background."""
    stage = REGISTRY["grid"]
    run = StageRun(creature_paths(context), stage, stage.check({}), pool=HOST.pool, force=True)
    if bpy.app.background:
        run_to_end(run)
    else:
        HOST.start(run)


class _Placed:
    """A skeleton that was placed in the background and waits to be shown."""

    def __init__(self) -> None:
        self.folder: Path | None = None
        self._last_look = 0.0

    def note(self, running: RunningStage) -> None:
        """A stage has ended: is it a template that was placed?"""
        if running.stage.name == "template" and running.word == "done":
            self.folder = running.paths.assets

    def show(self) -> None:
        """Show it as soon as the artist is not in the middle of something; called at each tick."""
        now = time.monotonic()
        if self.folder is None or now - self._last_look < _LOOK_EVERY_S:
            return
        self._last_look = now
        for window in bpy.context.window_manager.windows:
            paths = scene_paths(window.scene)
            if paths is not None and paths.assets == self.folder and not why_waiting(window):
                self.folder = None
                _show_in(window)
                return


def _show_in(window: Window) -> None:
    """One undo step, as for a button."""
    area = next((area for area in window.screen.areas if area.type == "VIEW_3D"), None)
    where = {"window": window}
    if area is not None:
        where |= {"area": area, "region": next(region for region in area.regions if region.type == "WINDOW")}
    with bpy.context.temp_override(**where):
        STATES.refresh(bpy.context)
        if bpy.ops.anymocap.show_joints.poll():
            bpy.ops.anymocap.show_joints("EXEC_DEFAULT", True)


PLACED = _Placed()
CLASSES: tuple[type, ...] = (
    ANYMOCAP_OT_place_joints,
    ANYMOCAP_OT_show_joints,
    ANYMOCAP_OT_write_joints,
    ANYMOCAP_OT_leave_joints,
)


def register() -> None:
    """A skeleton that was placed in the background is shown by this module's operator."""
    HOST.when_ended.append(PLACED.note)
    HOST.each_tick.append(PLACED.show)


def unregister() -> None:
    """No more."""
    HOST.when_ended.remove(PLACED.note)
    HOST.each_tick.remove(PLACED.show)
    PLACED.folder = None
