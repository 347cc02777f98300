"""What is made once for a creature: Prep, Rig, Reference, Dataset, Reader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...jobs.clip_summary import ClipSummary, is_test_of
from ...jobs.reader_test import STAGES as TEST_STAGES
from ...jobs.reader_test import TEST_CLIP
from ...ops.running import HOST
from ...ops.states import SceneStates
from ..pictures import picture_icon
from ..stage_look import DOUBT_ICON, ICONS, failed_look, running_look, stage_look
from ..wrapped_text import draw_text
from .bone_map_section import draw_bone_map
from .checkup_section import draw_checkup
from .rig_builder import draw_skeleton, draw_trial
from .stage_body import draw_failure, draw_progress, draw_settings, draw_stage

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_PICTURE_SCALE = 8.0


def draw_prep(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """Size and facing of the mesh."""
    assert states.survey is not None
    blocked = states.survey.blocked.get("prep")
    if blocked and stage_look(states, "prep").running is None:
        draw_text(layout, context, blocked + ".", icon="INFO")
        prep = context.scene.anymocap.stages.prep
        column = layout.column(align=True)
        column.prop(prep, "mesh", text="", placeholder="Mesh file")
        column.prop_search(prep, "object", context.scene, "objects", text="")
        _draw_mesh_order(layout, context, states)
        draw_settings(layout, context, "prep")
        return
    header, body = layout.panel("ANYMOCAP_checkup", default_closed=not is_next)
    header.label(text="Check-up")
    if body is not None:
        draw_checkup(body, context, states)
    step = states.next_step
    draw_stage(layout, context, states, "prep", "Prep", is_next and step is not None and step.stage == "prep")


def _draw_mesh_order(layout: UILayout, context: Context, states: SceneStates) -> None:
    """A mesh made from one picture."""
    assert states.survey is not None
    look = stage_look(states, "mesh")
    if look.running is not None or look.word == "running":
        draw_progress(layout, context, look)
        return
    if look.word == "failed":
        draw_failure(layout, context, look)
    if states.survey.film is not None and states.survey.film.mesh_unknown:
        draw_text(
            layout, context, "The reply to the request for a mesh was lost: fal may have taken it.", icon="QUESTION"
        )
        layout.operator("anymocap.settle_mesh_request", text="Say What Became of It", icon="QUESTION")
        return
    layout.operator("anymocap.pick_mesh_picture", icon="IMAGE_DATA")


def draw_rig(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """Armature, capture skeleton and limb paint; before it a skeleton where the creature has none."""
    draw_skeleton(layout, context, states)
    draw_stage(layout, context, states, "rig", "Rig", is_next)
    draw_trial(layout, context, states)
    if stage_look(states, "rig").word in ("ready", "stale"):
        layout.operator("anymocap.set_body_part", text="Body Parts…", icon="ARMATURE_DATA")
    draw_bone_map(layout, context, states)


def draw_reference(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """The picture that the film starts from."""
    assert states.survey is not None
    look = draw_stage(layout, context, states, "ref", "Draw Reference", is_next)
    if look.word in ("ready", "stale"):
        _picture(layout, states, "ref", states.survey.paths.ref_png)
        layout.operator("anymocap.frame_anew", icon="FULLSCREEN_ENTER")


def draw_dataset(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """Poses that the reader learns from."""
    assert states.survey is not None
    look = draw_stage(layout, context, states, "dataset", "Draw Poses", is_next)
    if look.word in ("ready", "stale"):
        _picture(layout, states, "dataset", states.survey.paths.dataset_sheet)


def draw_reader(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """The reader and its test."""
    step = states.next_step
    testing = step is not None and step.action == "test_reader"
    look = draw_stage(layout, context, states, "train", "Train Reader", is_next and not testing)
    if look.word in ("ready", "stale"):
        draw_test(layout, context, states, testing)


def draw_test(layout: UILayout, context: Context, states: SceneStates, is_next: bool) -> None:
    """The test of the reader: figures and picture, before money is spent on a film."""
    assert states.survey is not None
    layout.separator(factor=0.5)
    tests = [clip for clip in states.survey.clips if clip.is_test]
    if not tests:
        draw_text(layout, context, "See how well it reads before you pay for a film.", icon="INFO")
    for clip in tests:
        _draw_score(layout, context, states, clip)
        if clip.report is not None:
            _report(layout, clip.report, clip.report_made)
    _draw_running_test(layout, context, states)
    row = layout.row()
    row.scale_y = 1.35 if is_next else 1.0
    row.operator("anymocap.test_reader", text="Test Again" if tests else "Test the Reader")


def _draw_score(layout: UILayout, context: Context, states: SceneStates, clip: ClipSummary) -> None:
    """What a test found; until it is scored nothing is, since the fit's figures say nothing of the reader."""
    name = "Test" if clip.name == TEST_CLIP else f"Test {clip.name}"
    train = states.of("train")
    if not clip.score:
        draw_text(layout, context, f"{name}: not scored yet", icon="INFO")
    elif not is_test_of(clip, train.record if train is not None else None):
        draw_text(layout, context, f"{name} of an earlier reader: reads {clip.score}", icon=ICONS["stale"])
    else:
        draw_text(layout, context, f"{name}: reads {clip.score}", icon=DOUBT_ICON if clip.doubts else ICONS["ready"])


def _draw_running_test(layout: UILayout, context: Context, states: SceneStates) -> None:
    """The stage of the test that is at work, or that failed."""
    assert states.survey is not None
    for name in TEST_STAGES:
        running = HOST.of(states.survey.paths, name, TEST_CLIP)
        if running is not None and running.word in ("running", "cancelling"):
            draw_progress(layout, context, running_look(running))
        elif running is not None and running.error is not None:
            draw_failure(layout, context, failed_look(name, running.error), TEST_CLIP)


def _report(layout: UILayout, report: Path, made: str) -> None:
    layout.template_icon(icon_value=picture_icon(report, made), scale=_PICTURE_SCALE)
    layout.operator("anymocap.open_file", text="Open Report", icon="IMAGE_DATA").filepath = str(report)


def _picture(layout: UILayout, states: SceneStates, stage: str, path: Path) -> None:
    state = states.of(stage)
    made = state.record.started if state is not None and state.record is not None else ""
    layout.template_icon(icon_value=picture_icon(path, made), scale=_PICTURE_SCALE)
    layout.operator("anymocap.open_file", text="Open Picture", icon="IMAGE_DATA").filepath = str(path)
