"""Project and creature: what is worked on, and the one next step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy

from ...jobs.duration_words import about
from ...jobs.next_step import NextStep
from ...ops.creature_operators import why_no_project
from ...ops.current_capture import current_view
from ...ops.preference_values import preference_values
from ...ops.running import HOST
from ...ops.running_stage import RunningStage
from ...ops.states import STATES, SceneStates
from ..stage_look import running_look
from ..wrapped_text import draw_text
from .stage_body import draw_progress

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_BOX = 16
_BIG = 1.35
# A clip that is read is fitted at once; in a window a motion goes onto an armature of the scene.
_BUTTON = {"detect": "anymocap.capture", "apply": "anymocap.apply_here"}
_BESIDE = "//anymocap/"  # a folder beside the .blend
_WHAT_IT_IS = "AnyMoCap gives a creature motion from one clip that shows it from the front and from its side."


def draw_first_time(layout: UILayout, context: Context) -> None:
    """What a first-time user sees: what this is, an example to try, and the way to an own creature."""
    draw_text(layout, context, _WHAT_IT_IS)
    layout.separator()
    column = layout.column()
    column.scale_y = _BIG
    column.operator("anymocap.try_example", icon="PLAY")
    layout.separator()
    layout.label(text="Your own creature")
    _draw_folder(layout, context)
    layout.menu("ANYMOCAP_MT_add_creature", text="Add Creature", icon="ADD")


def _draw_folder(layout: UILayout, context: Context) -> None:
    """The project folder, and folders that suggest themselves while none is chosen."""
    settings = context.scene.anymocap
    layout.prop(settings, "project", text="", placeholder="Project folder")
    why = why_no_project(context)
    if not why:
        return
    if settings.project:
        draw_text(layout, context, why + ".", icon="INFO")
    column = layout.column(align=True)
    if preferred := preference_values(context).project_folder:
        column.operator("anymocap.use_folder", text="Use the Preferences' Folder").folder = preferred
    if bpy.data.filepath:
        column.operator("anymocap.use_folder", text=f"Use {_BESIDE}").folder = _BESIDE
    elif not settings.project:
        draw_text(layout, context, "A folder beside this file (//) can be chosen once it is saved.", icon="INFO")


def draw_project(layout: UILayout, context: Context, states: SceneStates) -> None:
    """Creature and project folder."""
    settings = context.scene.anymocap
    column = layout.column(align=True)
    row = column.row(align=True)
    row.menu("ANYMOCAP_MT_creatures", text=settings.creature or "No creature", icon="ARMATURE_DATA")
    row.menu("ANYMOCAP_MT_add_creature", text="", icon="ADD")
    row = column.row(align=True)
    row.prop(settings, "project", text="")
    row.operator("anymocap.clean_caches", text="", icon="DISK_DRIVE")


def draw_next(layout: UILayout, context: Context, states: SceneStates) -> None:
    """What is at work, else the one next step with its button."""
    step = states.next_step
    assert states.survey is not None and step is not None
    box = layout.box()
    at_work = HOST.at_work(states.survey.paths)
    if at_work:
        _draw_at_work(box, context, at_work)
    elif step.action == "wait":
        draw_text(box, context, f"At work in another program: {step.title}.", icon="PLAY", inset=_BOX)
    else:
        draw_text(box, context, f"Next: {step.title}{_time(step)}", inset=_BOX)
        if text := _why(context, step):
            why = box.column()
            why.active = False
            draw_text(why, context, text, inset=_BOX)
        _draw_button(box, step, states)
        if step.action == "stage":
            layout.operator("anymocap.run_stale", icon="FILE_REFRESH")
    _draw_others(layout, context, states)


def _draw_at_work(box: UILayout, context: Context, at_work: list[RunningStage]) -> None:
    """The stages at work with their progress, and in one line what follows."""
    waiting = [running for running in at_work if running.word == "queued"]
    for running in at_work:
        if running.word != "queued":
            box.label(text=_named(running), icon="PLAY")
            draw_progress(box, context, running_look(running))
    if waiting:
        row = box.row(align=True)
        more = _named(waiting[0]) if len(waiting) == 1 else f"{len(waiting)} more stages"
        row.label(text=f"Then {more}", icon="SORTTIME")
        row.operator("anymocap.cancel", text="", icon="X")


def _draw_others(layout: UILayout, context: Context, states: SceneStates) -> None:
    """What runs for other creatures, which would else not be seen."""
    assert states.survey is not None
    for running in HOST.at_work():
        if running.paths != states.survey.paths and running.word != "queued":
            look = running_look(running)
            draw_text(layout, context, f"{running.paths.name}, {_named(running)}: {look.figure}", icon="PLAY")


def _named(running: RunningStage) -> str:
    return f"{running.stage.label} {running.item or ''}".strip()


def _why(context: Context, step: NextStep) -> str:
    """Why it comes next; of a motion that is applied also where to look first, if there are such frames."""
    view = current_view(context) if step.action == "done" else None
    return f"{step.why} Go from bad frame to bad frame." if view is not None and view.bad_runs else step.why


def _time(step: NextStep) -> str:
    return f", {about(step.seconds)}" if step.seconds is not None else ""


def _draw_button(box: UILayout, step: NextStep, states: SceneStates) -> None:
    """The one main button; an artist without a mesh chooses it in Prep."""
    row = box.row()
    row.scale_y = _BIG
    if step.action == "stage":
        row.operator(_BUTTON.get(step.stage, f"anymocap.{step.stage}"), text="Run", icon="PLAY")
    elif step.action == "check_creature":
        row.operator("anymocap.check_creature", text="Check", icon="VIEWZOOM")
    elif step.action == "say_facing":
        assert states.survey is not None
        picture = str(states.survey.paths.facing_png)
        row.operator("anymocap.open_file", text="Open the Picture", icon="IMAGE_DATA").filepath = picture
    elif step.action == "test_reader":
        row.operator("anymocap.test_reader", text="Test", icon="PLAY")
    elif step.action == "train_again":
        row.operator("anymocap.run_again", text="Train Again", icon="PLAY").stage = "train"
    elif step.action == "add_clip":
        row.operator("anymocap.add_clip", text="Add Clip", icon="ADD")
    elif step.action == "bring_in":
        row.operator("anymocap.bring_in", text="Bring In", icon="IMPORT")


class ANYMOCAP_MT_creatures(bpy.types.Menu):
    """The creatures of the project."""

    bl_label = "Creature"

    def draw(self, context: Context) -> None:
        states = STATES.of(context)
        for name in states.creatures if states is not None else ():
            self.layout.operator("anymocap.choose_creature", text=name).name = name
        self.layout.separator()
        self.layout.menu("ANYMOCAP_MT_add_creature", icon="ADD")
        for folder, text in (("CREATURE", "Open Its Folder"), ("RUNS", "Open Its Results")):
            self.layout.operator("anymocap.open_folder", text=text, icon="FILE_FOLDER").folder = folder


class ANYMOCAP_MT_add_creature(bpy.types.Menu):
    """Ways to add a creature."""

    bl_label = "Add Creature"

    def draw(self, context: Context) -> None:
        self.layout.operator("anymocap.add_creature_from_file", text="From a Mesh File", icon="FILE_3D")
        self.layout.operator("anymocap.add_creature_from_scene", text="From This Scene", icon="OBJECT_DATA")
        self.layout.operator("anymocap.add_builtin_creature", text="The Built-in Lynx", icon="MONKEY")


class ANYMOCAP_MT_clips(bpy.types.Menu):
    """The clips of the creature."""

    bl_label = "Clip"

    def draw(self, context: Context) -> None:
        states = STATES.of(context)
        clips = states.survey.clips if states is not None and states.survey is not None else ()
        for clip in clips:
            text = f"{clip.name} (test)" if clip.is_test else clip.name
            self.layout.operator("anymocap.choose_clip", text=text).name = clip.name
        self.layout.separator()
        self.layout.operator("anymocap.add_clip", icon="ADD")


CLASSES: tuple[type, ...] = (ANYMOCAP_MT_creatures, ANYMOCAP_MT_add_creature, ANYMOCAP_MT_clips)
