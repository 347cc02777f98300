"""The check-up in the panel: the question of facing with its picture, then what was found, each with its fix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.checkup.finding import Finding
from ...jobs.checkup_survey import CheckupSurvey
from ...ops.states import SceneStates
from ..pictures import picture_icon
from ..stage_look import stage_look
from ..wrapped_text import draw_text
from .stage_body import draw_failure, draw_progress

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_BOX = 16  # px that a box takes of the width
_PICTURE_SCALE = 10.5
_ICONS = {"pass": "CHECKMARK", "warn": "ERROR", "fail": "CANCEL"}
_FIX_LABELS = {
    "apply_scale": "Apply Scale",
    "clean_weights": "Mend Weights",
    "fill_weights": "Fill Weights",
    "limit_weights": "Keep Four",
    "bind_parts": "Hang on Nearest Bone",
    "drop_bad_points": "Delete Them",
    "show_pose": "Show Pose",
    "clear_bone_scale": "Clear Scale",
}


def draw_checkup(layout: UILayout, context: Context, states: SceneStates) -> None:
    """Check the creature, and what came of it."""
    assert states.survey is not None
    look = stage_look(states, "checkup")
    found = states.survey.checkup
    if look.running is not None or look.word == "running":
        draw_progress(layout, context, look)
        return
    if look.word == "failed":
        draw_failure(layout, context, look)
    if found is None:
        draw_text(layout, context, "Check what you brought before it is prepared.", icon="INFO")
    layout.operator("anymocap.check_creature", text="Check Again" if found else "Check the Creature", icon="VIEWZOOM")
    if found is None:
        return
    _draw_facing(layout, context, states, found)
    for note in found.checkup.fixed:
        draw_text(layout, context, f"Mended on the copy: {note}", icon="CHECKMARK")
    if found.checkup.fixed:
        layout.operator("anymocap.drop_fixes", icon="LOOP_BACK")
    for finding in found.checkup.findings:
        if finding.level != "pass" and finding.rule != "facing":
            _draw_finding(layout, context, finding)
    _draw_passed(layout, context, found)


def _draw_facing(layout: UILayout, context: Context, states: SceneStates, found: CheckupSurvey) -> None:
    """Picture and answers; folded once it is answered."""
    assert states.survey is not None
    asked = [f for f in found.checkup.findings if f.rule == "facing"]
    if not asked:
        return
    open_now = asked[0].level != "pass"
    header, body = layout.panel(f"ANYMOCAP_facing{'_asked' if open_now else ''}", default_closed=not open_now)
    header.label(text="Which way does it look?" if open_now else "Facing: confirmed", icon=_ICONS[asked[0].level])
    if body is None:
        return
    if found.made:
        body.template_icon(icon_value=picture_icon(states.survey.paths.facing_png, found.made), scale=_PICTURE_SCALE)
        draw_text(body, context, "Left from above, right from its side.")
    draw_text(body, context, asked[0].text)
    _answer(body.row(), "CONFIRM", "Faces This Way", icon="CHECKMARK")
    if asked[0].fix == "take_suggestion":
        guess = found.checkup.suggestion
        _answer(body.row(), "SUGGESTED", f"As Suggested: {guess.up.upper()} up, {guess.turn_deg:g}°")
    row = body.row(align=True)
    for degrees in (90.0, 180.0, -90.0):
        _answer(row, "TURN", f"Turn {degrees:g}°").degrees = degrees
    row = body.row(align=True)
    row.label(text="Up:")
    for up in ("z", "y", "-y", "x", "-x", "-z"):
        _answer(row, "UP", up.upper()).up = up


def _answer(row: UILayout, how: str, text: str, icon: str = "NONE") -> Any:
    operator = row.operator("anymocap.set_facing", text=text, icon=icon)
    operator.how = how
    return operator


def _draw_finding(layout: UILayout, context: Context, finding: Finding) -> None:
    box = layout.box()
    column = box.column(align=True)
    head = column.row()
    head.alert = finding.level == "fail"
    head.label(text=finding.subject, icon=_ICONS[finding.level])
    draw_text(column, context, finding.text, inset=_BOX)
    if finding.hint:
        draw_text(column, context, finding.hint, inset=_BOX)
    if finding.fix:
        operator = column.operator("anymocap.fix_creature", text=_FIX_LABELS[finding.fix], icon="TOOL_SETTINGS")
        operator.fix, operator.names = finding.fix, "\n".join(finding.names)


def _draw_passed(layout: UILayout, context: Context, found: CheckupSurvey) -> None:
    passed = [f for f in found.checkup.findings if f.level == "pass" and f.rule != "facing"]
    header, body = layout.panel("ANYMOCAP_checkup_passed", default_closed=True)
    header.label(text=f"{len(passed)} as they should be", icon=_ICONS["pass"])
    if body is None:
        return
    for finding in passed:
        draw_text(body, context, f"{finding.subject}: {finding.text}", icon=_ICONS["pass"])
