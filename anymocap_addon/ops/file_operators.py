"""Open folders, files and logs, and clean caches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..core.errors import AnyMoCapError
from ..core.project import CreaturePaths
from ..jobs.disk_use import DiskItem, clean, disk_use, shown_size
from ..jobs.job_folder import all_jobs
from ..jobs.registry import REGISTRY
from .running import HOST
from .said_polls import NeedsCreature
from .scene_settings import creature_paths, item_of
from .states import STATES

if TYPE_CHECKING:
    from bpy.types import Context

_LOG_TEXT = "AnyMoCap Log"
_END_LINES = 25  # of a long log, that are seen at once
_FOLDERS = (
    ("PROJECT", "Project", "The project folder"),
    ("CREATURE", "Creature", "The creature's mesh, rig and creature.json"),
    ("RUNS", "Results", "All that was made for the creature"),
    ("CLIP", "Clip", "Reading, motion, report and GLB of the clip"),
    ("PROMPTS", "Prompts", "The prompts of the creature's moves"),
)


class ANYMOCAP_OT_open_folder(NeedsCreature, bpy.types.Operator):
    """Open the folder in the system's file browser"""

    bl_idname = "anymocap.open_folder"
    bl_label = "Open Folder"
    bl_options = {"INTERNAL"}

    folder: bpy.props.EnumProperty(items=_FOLDERS, name="Folder")  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[str]:
        try:
            path = _folder(creature_paths(context), self.folder, context.scene.anymocap.clip)
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return _open(self, path, "There is nothing in it yet")


class ANYMOCAP_OT_open_file(bpy.types.Operator):
    """Open the file in the program that the system uses for it"""

    bl_idname = "anymocap.open_file"
    bl_label = "Open"
    bl_options = {"INTERNAL"}

    filepath: bpy.props.StringProperty(subtype="FILE_PATH")  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[str]:
        return _open(self, Path(bpy.path.abspath(self.filepath)), "It is gone")


class ANYMOCAP_OT_copy_prompt(NeedsCreature, bpy.types.Operator):
    """Copy the prompt of this move, to paste it into an image-to-video service"""

    bl_idname = "anymocap.copy_prompt"
    bl_label = "Copy Prompt"
    bl_options = {"INTERNAL"}

    def execute(self, context: Context) -> set[str]:
        try:
            file = creature_paths(context).prompt(context.scene.anymocap.move)
        except AnyMoCapError as error:  # the move has no name yet, or one that is no file's
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if not file.is_file():
            self.report({"ERROR"}, f"{file}: there is no prompt yet. Write it first.")
            return {"CANCELLED"}
        context.window_manager.clipboard = file.read_text(encoding="utf-8")
        self.report({"INFO"}, "Prompt copied")
        return {"FINISHED"}


class ANYMOCAP_OT_open_log(NeedsCreature, bpy.types.Operator):
    """Show the log of the stage's last run in a text editor"""

    bl_idname = "anymocap.open_log"
    bl_label = "Open Log"
    bl_options = {"INTERNAL"}

    stage: bpy.props.StringProperty(name="Stage")  # type: ignore[valid-type]
    item: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Clip", description="Clip or move; empty = the Scene's", options={"SKIP_SAVE"}
    )

    def execute(self, context: Context) -> set[str]:
        if self.stage not in REGISTRY:
            self.report({"ERROR"}, f"There is no stage {self.stage!r}.")
            return {"CANCELLED"}
        log = _latest_log(context, self.stage, self.item)
        if log is None:
            self.report({"WARNING"}, f"{REGISTRY[self.stage].label} has left no log: it stopped before its work began.")
            return {"CANCELLED"}
        text = bpy.data.texts.get(_LOG_TEXT) or bpy.data.texts.new(_LOG_TEXT)
        text.use_fake_user = False  # it is read, and need not stay in the file
        text.clear()
        text.write(f"{log}\n\n{log.read_text(encoding='utf-8', errors='replace')}")
        show_text(context, text, at_end=True)
        self.report({"INFO"}, str(log))
        return {"FINISHED"}


class ANYMOCAP_OT_clean_caches(NeedsCreature, bpy.types.Operator):
    """Show what the creature uses of the disk, and delete what can be made again. Meshes, readers, clips and motions
    are never deleted"""

    bl_idname = "anymocap.clean_caches"
    bl_label = "Disk Use and Caches"
    bl_options = {"INTERNAL"}

    reader_work: bpy.props.BoolProperty(name="Training cache", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    dataset: bpy.props.BoolProperty(name="Training pictures", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    exam_frames: bpy.props.BoolProperty(name="Frames of the tests", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    renders: bpy.props.BoolProperty(name="Frames of the showcases", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    previews: bpy.props.BoolProperty(name="Viewport previews", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    jobs: bpy.props.BoolProperty(name="Logs of ended jobs", options={"SKIP_SAVE"})  # type: ignore[valid-type]

    found: tuple[DiskItem, ...] = ()

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        states = STATES.of(context)
        paths = states.survey.paths if states is not None and states.survey is not None else None
        busy = paths is not None and (HOST.at_work(paths) or HOST.foreign(paths))
        return "A stage of this creature is at work: wait for its end, or cancel it" if busy else ""

    def invoke(self, context: Context, event: Any) -> set[str]:
        type(self).found = tuple(disk_use(creature_paths(context)))
        for item in self.found:
            if item.cache:
                setattr(self, item.name, item.name != "jobs")
        answer: set[str] = context.window_manager.invoke_props_dialog(self, width=460)
        return answer

    def draw(self, context: Context) -> None:
        column = self.layout.column()
        for item in self.found:
            row = column.split(factor=0.42)
            if item.cache:
                row.prop(self, item.name)
            else:
                row.label(text=item.label, icon="LOCKED")
            row = row.split(factor=0.25)
            row.label(text=shown_size(item.size))
            row.label(text=item.cost)
        column.separator()
        column.label(text=f"In all {shown_size(sum(item.size for item in self.found))}. OK deletes what is ticked.")

    def execute(self, context: Context) -> set[str]:
        paths = creature_paths(context)
        if HOST.at_work(paths):
            self.report({"ERROR"}, "A stage of this creature is at work.")
            return {"CANCELLED"}
        items = [item for item in disk_use(paths) if item.cache and getattr(self, item.name)]
        freed = clean(paths, items)
        STATES.refresh(context)
        self.report({"INFO"}, f"{shown_size(freed)} freed" if freed else "Nothing was deleted")
        return {"FINISHED"}


def _folder(paths: CreaturePaths, which: str, clip: str) -> Path:
    if which == "CLIP":
        return paths.clip(clip).folder if clip else paths.runs / "clips"
    folders = {
        "PROJECT": paths.root,
        "CREATURE": paths.assets,
        "RUNS": paths.runs,
        "PROMPTS": paths.root / "prompts" / paths.name,
    }
    return folders[which]


def _open(operator: bpy.types.Operator, path: Path, missing: str) -> set[str]:
    if not path.exists():
        operator.report({"WARNING"}, f"{path}: {missing}.")
        return {"CANCELLED"}
    opened: set[str] = bpy.ops.wm.path_open(filepath=str(path))
    return opened


def _latest_log(context: Context, stage_name: str, item: str) -> Path | None:
    """The log of the last run, of this session or an earlier one."""
    paths, wanted = creature_paths(context), item_of(context, REGISTRY[stage_name], item or None)
    running = HOST.of(paths, stage_name, wanted)
    if running is not None and running.log is not None and running.log.exists():
        return running.log
    for job in reversed(all_jobs(paths.jobs)):
        described = job.read()
        if described.get("stage") == stage_name and described.get("item") == wanted and job.log.exists():
            return job.log
    return None


def show_text(context: Context, text: bpy.types.Text, at_end: bool = False) -> None:
    """Show a text in a text editor that is open, else in a window of its own; a Blender without windows has it in its
    data.

    Args:
        at_end: of a long text its end.
    """
    if bpy.app.background or context.window is None:
        return
    areas = [area for area in context.window.screen.areas if area.type == "TEXT_EDITOR"]
    if not areas:
        bpy.ops.wm.window_new()
        areas = [max(context.window_manager.windows[-1].screen.areas, key=lambda area: area.width * area.height)]
        areas[0].ui_type = "TEXT_EDITOR"
        areas[0].spaces.active.show_word_wrap = True
    space = areas[0].spaces.active
    space.text = text
    if at_end:
        line = max(0, len(text.lines) - _END_LINES)
        text.cursor_set(line)
        space.top = line


CLASSES: tuple[type, ...] = (
    ANYMOCAP_OT_open_folder,
    ANYMOCAP_OT_open_file,
    ANYMOCAP_OT_copy_prompt,
    ANYMOCAP_OT_open_log,
    ANYMOCAP_OT_clean_caches,
)
