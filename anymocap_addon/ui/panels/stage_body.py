"""The body of a stage in the panel: how it stands, its one button, its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...jobs.registry import REGISTRY
from ...ops.states import SceneStates
from ..setting_labels import SETTING_LABELS
from ..stage_look import StageLook, stage_look
from ..wrapped_text import draw_text

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_BOX = 16  # px that a box takes of the width
_BIG = 1.35


def draw_stage(
    layout: UILayout, context: Context, states: SceneStates, name: str, verb: str, is_next: bool = False
) -> StageLook:
    """How the stage stands, its button and its folded settings.

    Args:
        layout: of a panel's body, not of a row or box.
        verb: what the button says.
        is_next: it is the next step; its button is larger.
    """
    look = stage_look(states, name)
    draw_standing(layout, context, look)
    if look.running is None and look.word != "running":
        draw_button(layout, look, verb, is_next)
    draw_settings(layout, context, name)
    return look


def draw_standing(layout: UILayout, context: Context, look: StageLook) -> None:
    """How a stage stands: progress, figure, or reason and remedy."""
    if look.word in ("running", "queued", "stopping"):
        draw_progress(layout, context, look)
    elif look.word == "failed":
        draw_failure(layout, context, look)
    elif look.word == "stale":
        draw_text(layout, context, f"Out of date: {look.why}.", icon=look.icon)
    elif look.word == "stopped":
        draw_text(layout, context, look.why, icon=look.icon)
    elif look.figure:
        draw_text(layout, context, look.doubt or look.figure, icon=look.icon)


def draw_button(layout: UILayout, look: StageLook, verb: str, is_next: bool = False) -> None:
    """The stage's one button."""
    row = layout.row()
    row.scale_y = _BIG if is_next else 1.0
    icon = "PLAY" if is_next else "NONE"
    if look.word == "ready":
        row.operator("anymocap.run_again", text=f"{verb} Again", icon=icon).stage = look.name
        return
    text = "Go On" if look.word == "stopped" else verb if look.word == "missing" else f"{verb} Again"
    row.operator(f"anymocap.{look.name}", text=text, icon=icon)


def draw_progress(layout: UILayout, context: Context, look: StageLook) -> None:
    """A bar with what is done and the time left, and Cancel."""
    row = layout.row(align=True)
    if look.word == "queued":
        row.label(text="Waits for its turn", icon=look.icon)
    elif look.word == "stopping":
        row.label(text="Stopping", icon=look.icon)
    else:
        row.progress(factor=look.fraction, text=look.figure)
    if look.running is not None and look.word != "stopping":
        cancel = row.operator("anymocap.cancel", text="", icon="X")
        cancel.stage, cancel.item = look.name, look.running.item or ""
    if look.why and look.word == "running":
        draw_text(layout, context, look.why)


def draw_failure(layout: UILayout, context: Context, look: StageLook, item: str = "") -> None:
    """Why it failed, what to do about it, and its log.

    Args:
        item: clip or move, where it is not the Scene's.
    """
    box = layout.box()
    column = box.column(align=True)
    column.alert = True
    draw_text(column, context, look.why or "It stopped without a reason.", icon=look.icon, inset=_BOX)
    if look.remedy:
        draw_text(box, context, look.remedy, icon="INFO", inset=_BOX)
    log = box.operator("anymocap.open_log", icon="TEXT")
    log.stage, log.item = look.name, item


def draw_settings(layout: UILayout, context: Context, name: str) -> None:
    """The settings of a stage, folded."""
    labels = SETTING_LABELS.get(name)
    if not labels:
        return
    header, body = layout.panel(f"ANYMOCAP_settings_{name}", default_closed=True)
    header.label(text="Settings" if name in REGISTRY else name)
    if body is None:
        return
    group = getattr(context.scene.anymocap.stages, name)
    column = body.column()
    column.use_property_split = False
    for setting, label in labels.items():
        _draw_setting(column, context, group, name, setting, label)


def _draw_setting(column: UILayout, context: Context, group: object, stage: str, setting: str, label: str) -> None:
    if stage == "prep" and setting == "object":
        column.prop_search(group, setting, context.scene, "objects", text=label)
    else:
        column.prop(group, setting, text=label)
