"""The takes of a move: each with its picture and what the source gate says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...jobs.film_survey import FilmSurvey, Take
from ...ops.running import HOST
from ...ops.running_stage import RunningStage
from ...ops.states import SceneStates
from ..pictures import picture_icon
from ..stage_look import running_look
from ..wrapped_text import draw_text
from .stage_body import draw_progress

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_PICTURE_SCALE = 3.2
_BOX = 16
_ICONS = {"unchecked": "QUESTION", "good": "CHECKMARK", "refused": "ERROR", "allowed": "ERROR"}
_WORDS = {"unchecked": "not checked yet", "good": "good", "refused": "refused", "allowed": "refused, allowed"}


def draw_takes_of_move(layout: UILayout, context: Context, states: SceneStates, film: FilmSurvey) -> None:
    """One box a take."""
    if not film.takes:
        return
    layout.label(text=f"Takes of {film.move}")
    for take in film.takes:
        _draw_take(layout, context, states, take)
    if any(take.verdict == "unchecked" for take in film.takes):
        layout.operator("anymocap.check_takes", icon="VIEWZOOM")


def _draw_take(layout: UILayout, context: Context, states: SceneStates, take: Take) -> None:
    active = bool(take.clip) and take.clip == context.scene.anymocap.clip
    box = layout.box()
    beside = box.row()
    picture = beside.row()
    picture.alignment = "LEFT"
    picture.template_icon(icon_value=picture_icon(take.file, take.made), scale=_PICTURE_SCALE)
    column = beside.column(align=True)
    column.label(text=f"Seed {take.seed}, {take.model}", icon="RADIOBUT_ON" if active else "RADIOBUT_OFF")
    column.label(text="captured" if take.captured else _WORDS[take.verdict], icon=_ICONS[take.verdict])
    _draw_buttons(column.row(align=True), take, active)
    checking = _checking(states, take)
    if checking is not None:
        draw_progress(box, context, running_look(checking))
    for reason in take.reasons:
        draw_text(box, context, f"{reason[:1].upper()}{reason[1:]}.", icon="ERROR", inset=_BOX)


def _draw_buttons(row: UILayout, take: Take, active: bool) -> None:
    if not active:
        _aim(row.operator("anymocap.use_take", text="Use"), take)
    if take.verdict == "refused":
        _aim(row.operator("anymocap.allow_take"), take)
    row.operator("anymocap.open_file", text="", icon="PLAY").filepath = str(take.file)
    if take.picture is not None and take.reasons:
        row.operator("anymocap.open_file", text="", icon="IMAGE_DATA").filepath = str(take.picture)
    _aim(row.operator("anymocap.throw_take_away", text="", icon="TRASH"), take)


def _checking(states: SceneStates, take: Take) -> RunningStage | None:
    assert states.survey is not None
    found = [HOST.of(states.survey.paths, stage, take.clip) for stage in ("take", "gate")]
    return next((running for running in found if running is not None and running.word == "running"), None)


def _aim(properties: Any, take: Take) -> None:
    properties.seed, properties.model = take.seed, take.model
