"""Try the example: the built-in creature with a clip that is already read, ready to scrub without any training."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..core.errors import AnyMoCapError
from ..core.project import CreaturePaths, Project
from ..jobs.example import CLIP, example_creature, example_plan
from ..jobs.plan import PlanRun
from ..jobs.registry import REGISTRY
from ..jobs.stage_run import StageRun
from .apply_ready import forget_ready, why_waiting
from .clear_view import hide_in_the_way, show_whole
from .current_capture import loaded_view
from .foreground import run_to_end
from .preference_values import preference_values
from .running import HOST
from .running_stage import RunningPlan
from .said_polls import SaidPoll
from .scene_settings import creature_paths, project_of, scene_paths
from .stage_request import asked_settings

if TYPE_CHECKING:
    from bpy.types import Context

LABEL = "Try the example"
_FOLDER = ("AnyMoCap", "example")


class ANYMOCAP_OT_try_example(SaidPoll, bpy.types.Operator):
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
    def why_not(cls, context: Context) -> str:
        return "The example is being made" if EXAMPLE.at_work else ""

    def invoke(self, context: Context, event: Any) -> set[str]:
        self._window = True
        if self.project or _own_project(context) is not None:
            return self.execute(context)
        self.project = str(_default_folder())
        answer: set[str] = context.window_manager.invoke_props_dialog(self, width=460, confirm_text="Make the Example")
        return answer

    def draw(self, context: Context) -> None:
        self.layout.label(text="The example's files (20 MB) go into this folder, which stays yours:")
        self.layout.prop(self, "project")
        self.layout.label(text="Creatures that you add later lie there too, until you choose another project folder.")

    def execute(self, context: Context) -> set[str]:
        try:
            paths = self._begin(context)
            plan = PlanRun(paths, example_plan(paths, preference_values(context).preview_rows), pool=HOST.pool)
            if getattr(self, "_window", False):
                EXAMPLE.follow(HOST.start_plan(plan, LABEL))
                self.report({"INFO"}, f"The example is being made in {paths.root}")
                return {"FINISHED"}
            run_to_end(plan)
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
        settings.creature, settings.clip = paths.name, CLIP
        return paths


class ANYMOCAP_OT_show_example(bpy.types.Operator):
    """Bring the example's creature into the file and key its motion"""

    bl_idname = "anymocap.show_example"
    bl_label = "Show the Example"
    bl_options = {"UNDO", "INTERNAL"}

    def execute(self, context: Context) -> set[str]:
        try:
            hidden = show_example(context)
        except (AnyMoCapError, RuntimeError) as error:  # RuntimeError: what an operator that is called here reports
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if hidden:
            self.report({"INFO"}, f"Hidden, because it stood in the creature's place: {', '.join(hidden)}")
        return {"FINISHED"}


def show_example(context: Context) -> list[str]:
    """The creature with its motion in the open file, the scene's range on the clip, the overlay on.

    Returns:
        Names of objects that were hidden because they stood in its place.

    Raises:
        AnyMoCapError: the motion cannot be keyed.
        RuntimeError: what an operator that is called here reports.
    """
    settings = context.scene.anymocap
    settings.clip = CLIP  # the artist may have looked at another one meanwhile
    bpy.ops.anymocap.bring_in()
    stage = REGISTRY["apply"]
    asked = asked_settings(context, stage)
    run_to_end(StageRun(creature_paths(context), stage, asked, pool=HOST.pool, here=True, force=True))
    forget_ready(context.scene)
    loaded_view(context)
    bpy.ops.anymocap.scene_range()
    context.scene.frame_set(context.scene.frame_start)
    settings.overlay.show = True
    hidden = hide_in_the_way(context, settings.armature)
    show_whole(context, settings.armature)
    return hidden


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
        if window is not None and why_waiting(window):
            return
        self.forget()
        if window is None:
            return  # another file or creature is looked at now; pressed again, all of it is there already
        with bpy.context.temp_override(window=window):
            try:
                bpy.ops.anymocap.show_example("EXEC_DEFAULT", True)
            except RuntimeError as error:  # what it reported; raised here, it would end the host's timer
                _tell(str(error))


EXAMPLE = ExampleWatch()


def _tell(message: str) -> None:
    """A report of an operator that a timer called is shown nowhere; this is."""

    def draw(menu: Any, context: Context) -> None:
        for line in message.strip().splitlines():
            menu.layout.label(text=line)

    bpy.context.window_manager.popup_menu(draw, title="The example cannot be shown", icon="ERROR")


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
    """A folder of the artist's: uninstalling the extension deletes its own, with all that lies there."""
    home = Path.home()
    documents = home / "Documents"
    return (documents if documents.is_dir() else home).joinpath(*_FOLDER)


CLASSES: tuple[type, ...] = (ANYMOCAP_OT_try_example, ANYMOCAP_OT_show_example)


def register() -> None:
    """Let the host's timer look for an example that is ready."""
    HOST.each_tick.append(EXAMPLE.tick)


def unregister() -> None:
    """Take it back."""
    HOST.each_tick.remove(EXAMPLE.tick)
    EXAMPLE.forget()
