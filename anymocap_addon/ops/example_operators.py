"""Try the example: the built-in creature with a clip that is already read, ready to scrub without any training."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..core.errors import AnyMoCapError
from ..core.project import CreaturePaths, Project
from ..jobs.example import CLIP, example_creature, example_plan
from ..jobs.plan import PlanRun
from .current_capture import clip_clock, loaded_view
from .preference_values import preference_values, user_folder
from .running import HOST
from .running_stage import RunningPlan
from .scene_settings import project_of, scene_paths

if TYPE_CHECKING:
    from bpy.types import Context

LABEL = "Try the example"
_FOLDER = "example"
_LOOK_EVERY_S = 0.03


class ANYMOCAP_OT_try_example(bpy.types.Operator):
    """Make the built-in creature and fit a clip that is already read, to scrub it without training. Takes less than a
    minute and needs no network"""

    bl_idname = "anymocap.try_example"
    bl_label = "Try the Example"
    bl_options = {"UNDO"}

    project: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Project",
        description="Folder for the example's files, for a scene that has no project yet",
        subtype="DIR_PATH",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        if EXAMPLE.at_work:
            cls.poll_message_set("The example is being made")
        return not EXAMPLE.at_work

    def invoke(self, context: Context, event: Any) -> set[str]:
        self._window = True
        if self.project or _own_project(context) is not None:
            return self.execute(context)
        self.project = str(_default_folder())
        answer: set[str] = context.window_manager.invoke_props_dialog(self, width=460)
        return answer

    def draw(self, context: Context) -> None:
        self.layout.label(text="The example's files (20 MB) go into this folder:")
        self.layout.prop(self, "project")

    def execute(self, context: Context) -> set[str]:
        try:
            paths = self._begin(context)
            plan = PlanRun(paths, example_plan(paths, preference_values(context).preview_rows), pool=HOST.pool)
            if getattr(self, "_window", False):
                EXAMPLE.follow(HOST.start_plan(plan, LABEL))
                self.report({"INFO"}, f"The example is being made in {paths.root}")
                return {"FINISHED"}
            for event in plan:
                if event is None:
                    time.sleep(_LOOK_EVERY_S)
            show_example(context)
        except (AnyMoCapError, RuntimeError) as error:  # RuntimeError: what an operator that is called here reports
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def _begin(self, context: Context) -> CreaturePaths:
        """Let the scene name the example's project and creature."""
        project = _own_project(context) if not self.project else Project(Path(bpy.path.abspath(self.project)))
        paths = example_creature(project or Project(_default_folder()))
        settings = context.scene.anymocap
        if project_of(context) != Project(paths.root):
            settings.project = str(paths.root)
        settings.creature = paths.name
        return paths


class ANYMOCAP_OT_show_example(bpy.types.Operator):
    """Bring the example's creature into the file and key its motion"""

    bl_idname = "anymocap.show_example"
    bl_label = "Show the Example"
    bl_options = {"UNDO", "INTERNAL"}

    def execute(self, context: Context) -> set[str]:
        try:
            show_example(context)
        except (AnyMoCapError, RuntimeError) as error:  # RuntimeError: what an operator that is called here reports
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


def show_example(context: Context) -> None:
    """The creature with its motion in the open file, the scene's range on the clip, the overlay on.

    Raises:
        RuntimeError: what bring_in or apply report.
    """
    settings = context.scene.anymocap
    settings.clip = CLIP
    bpy.ops.anymocap.bring_in()
    bpy.ops.anymocap.apply(armature=settings.armature.name)
    view = loaded_view(context)
    if view is not None:
        times = clip_clock(context.scene, view)
        context.scene.frame_start = settings.start_frame
        context.scene.frame_end = math.floor(times.scene_frame(view.T - 1))
        context.scene.frame_set(settings.start_frame)
    settings.overlay.show = True


class ExampleWatch:
    """Waits for the example's plan, then for a moment in which the file may be changed."""

    def __init__(self) -> None:
        self._running: RunningPlan | None = None
        self.tick = self._tick  # one object, to be found again when it is taken back

    @property
    def at_work(self) -> bool:
        """Whether the example is being made, or about to be shown."""
        return self._running is not None

    def follow(self, running: RunningPlan) -> None:
        """Show the example when this plan has ended well."""
        self._running = running

    def forget(self) -> None:
        """Nothing is waited for any more."""
        self._running = None

    def _tick(self) -> None:
        if self._running is None or self._running.at_work:
            return
        if any(stage.word != "done" for stage in self._running.stages):
            self.forget()  # the stage that failed tells why in the panel
            return
        window = _window_of(self._running.plan.paths)
        if window is None or not may_change_scene(window):
            return
        self.forget()
        with bpy.context.temp_override(window=window):
            bpy.ops.anymocap.show_example("EXEC_DEFAULT", True)


EXAMPLE = ExampleWatch()


def may_change_scene(window: Any) -> bool:
    """Whether an operator may change the file now: no modal operator runs, and the mode is Object or Pose."""
    if len(getattr(window, "modal_operators", ())) > 0:
        return False
    active = window.view_layer.objects.active
    return active is None or active.mode in {"OBJECT", "POSE"}


def _window_of(paths: CreaturePaths) -> Any:
    """A window whose scene still names the example's creature; None when the artist has gone on to something else."""
    for window in bpy.context.window_manager.windows:
        if scene_paths(window.scene) == paths:
            return window
    return None


def _own_project(context: Context) -> Project | None:
    """The project of the scene, else that of the preferences."""
    preferred = preference_values(context).project_folder
    return project_of(context) or (Project(Path(bpy.path.abspath(preferred))) if preferred else None)


def _default_folder() -> Path:
    """A folder of the extension's own; where the package is no extension, one in the home folder."""
    own = user_folder()
    return own / _FOLDER if own is not None else Path.home() / "AnyMoCap example"


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_try_example, ANYMOCAP_OT_show_example)


def register() -> None:
    """Let the host's timer look for an example that is ready."""
    HOST.each_tick.append(EXAMPLE.tick)


def unregister() -> None:
    """Take it back."""
    HOST.each_tick.remove(EXAMPLE.tick)
    EXAMPLE.forget()
