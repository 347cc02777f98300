"""A skeleton for a creature that came without: template, joints to drag, grid picture, limits, test pose, skin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.project import CreaturePaths
from ...jobs.rig_builder_survey import RigBuilderSurvey
from ...ops.rig_builder_ranges import AXES
from ...ops.rig_builder_scene import PLACING, main_object
from ...ops.rig_builder_trial import tried_armature
from ...ops.states import SceneStates
from ..pictures import picture_icon
from ..stage_look import DOUBT_ICON, ICONS, stage_look
from ..wrapped_text import draw_text
from .stage_body import draw_failure, draw_progress

if TYPE_CHECKING:
    from pathlib import Path

    from bpy.types import Context, Object, UILayout

_PICTURE_SCALE = 8.0
_BIG = 1.35


def draw_skeleton(layout: UILayout, context: Context, states: SceneStates) -> None:
    """Before the rig: place a skeleton, where the creature has none or is to get another one."""
    assert states.survey is not None
    builder = states.survey.rig_builder
    if builder is None or (builder.bare is False and not builder.has_skeleton):
        return
    placed = main_object(context.scene, PLACING, states.survey.paths.name)
    # What is to be done next is another panel to Blender, so that it opens by itself once.
    wanted = placed is not None or (builder.is_for_this and not builder.built)
    header, body = layout.panel(f"ANYMOCAP_skeleton{'_wanted' if wanted else ''}", default_closed=not wanted)
    header.label(text=_standing(builder))
    if body is None:
        return
    if placed is not None:
        _draw_placing(body, context, placed)
    else:
        _draw_template(body, context, states, builder)
    if builder.sheet_made:
        _picture(body, states.survey.paths.rig_sheet, builder.sheet_made, "Open Grid Picture")


def _standing(builder: RigBuilderSurvey) -> str:
    if builder.damage:
        return "Skeleton: damaged"
    return f"Skeleton: {builder.bones} bones" if builder.bones else "Skeleton: none yet"


def _draw_template(layout: UILayout, context: Context, states: SceneStates, builder: RigBuilderSurvey) -> None:
    """Choose and place; or move what was placed."""
    if not builder.has_skeleton:
        draw_text(layout, context, "The mesh has no skeleton. Choose the body that is most like it.", icon="INFO")
    if builder.damage:
        draw_text(layout, context, builder.damage, icon="ERROR")
    look = stage_look(states, "template")
    if look.running is not None or look.word == "running":
        draw_progress(layout, context, look)
        return
    if look.word == "failed":
        draw_failure(layout, context, look)
    layout.prop(context.scene.anymocap.stages.template, "template", text="")
    row = layout.row()
    row.scale_y = 1.0 if builder.has_skeleton else _BIG
    row.operator("anymocap.place_joints", text="Place Again" if builder.has_skeleton else "Place Joints")
    if builder.has_skeleton:
        layout.operator("anymocap.show_joints", icon="EMPTY_AXIS")
        _draw_doubts(layout, context, states)


def _draw_doubts(layout: UILayout, context: Context, states: SceneStates) -> None:
    """What the template could not find on the surface."""
    state = states.of("template")
    result = state.record.result if state is not None and state.record is not None else None
    for note in (result or {}).get("notes", ()):
        draw_text(layout, context, note, icon=DOUBT_ICON)


def _draw_placing(layout: UILayout, context: Context, points: Object) -> None:
    """While the joints are in the view."""
    if points.mode == "EDIT":
        draw_text(layout, context, "Select joints and drag them (G), each into the middle of its limb.", icon="INFO")
    else:
        draw_text(layout, context, "Select the joints' points and press Tab to drag them.", icon="INFO")
    layout.prop(points.data, "use_mirror_x", text="Move the other side along")
    row = layout.row(align=True)
    row.scale_y = _BIG
    row.operator("anymocap.write_joints", icon="CHECKMARK")
    row.operator("anymocap.leave_joints", text="", icon="X")


def draw_trial(layout: UILayout, context: Context, states: SceneStates) -> None:
    """After the rig: limits, test pose and skin check of a rig that was built."""
    assert states.survey is not None
    builder, paths = states.survey.rig_builder, states.survey.paths
    if builder is None or not builder.built:
        return
    armature = tried_armature(context)
    name = f"ANYMOCAP_trial{'_shown' if armature is not None else ''}"
    header, body = layout.panel(name, default_closed=armature is None)
    header.label(text="Limits and Test Pose")
    if body is not None:
        if armature is None:
            draw_text(body, context, "See how far each bone turns, and change it.", icon="INFO")
            body.operator("anymocap.try_rig", icon="POSE_HLT")
        else:
            _draw_limits(body, context, armature)
            _draw_poses(body)
    header, body = layout.panel("ANYMOCAP_skin", default_closed=True)
    header.label(text="Skin Check")
    if body is not None:
        _draw_skin(body, context, states, builder, paths)


def _draw_limits(layout: UILayout, context: Context, armature: Object) -> None:
    """The ranges of the bone that is active."""
    bone = armature.data.bones.active
    bone = armature.pose.bones.get(bone.name) if bone is not None else None
    if bone is None or bone.parent is None:
        draw_text(layout, context, "Click a bone to see its limits. The root has none.", icon="INFO")
    else:
        ranges = bone.anymocap_ranges
        layout.label(text=bone.name, icon="BONE_DATA")
        for axis in AXES:
            column = layout.column(align=True)
            column.prop(ranges, f"swing_{axis}", text=f"Swing {axis.upper()}", slider=True)
            row = column.row(align=True)
            row.prop(ranges, f"low_{axis}", text="")
            row.prop(ranges, f"high_{axis}", text="")
        layout.prop(ranges, "both_sides")
    row = layout.row(align=True)
    row.operator("anymocap.write_limits", icon="CHECKMARK")
    row.operator("anymocap.leave_trial", text="", icon="X")


def _draw_poses(layout: UILayout) -> None:
    row = layout.row(align=True)
    for pose, text in (("TEST", "Test Pose"), ("REST", "Rest")):
        row.operator("anymocap.show_pose", text=text).pose = pose
    layout.operator("anymocap.keep_test_pose")


def _draw_skin(
    layout: UILayout, context: Context, states: SceneStates, builder: RigBuilderSurvey, paths: CreaturePaths
) -> None:
    """What the skin does not bear."""
    look = stage_look(states, "skin")
    if look.running is not None or look.word == "running":
        draw_progress(layout, context, look)
        return
    if look.word == "failed":
        draw_failure(layout, context, look)
    elif look.word == "stale":
        draw_text(layout, context, f"Out of date: {look.why}.", icon=look.icon)
    state = states.of("skin")
    result = state.record.result if state is not None and state.record is not None else None
    if result and look.word in ("ready", "stale"):
        for finding in result["findings"]:
            draw_text(layout, context, finding, icon=DOUBT_ICON)
        if not result["findings"]:
            draw_text(layout, context, "The skin holds in the test pose.", icon=ICONS["ready"])
        if builder.skin_made:
            draw_text(layout, context, "Red: stretched. Amber: torn. Pink: moved by no bone.")
            _picture(layout, paths.skin_png, builder.skin_made, "Open Picture")
    layout.operator("anymocap.skin", text="Check Again" if result else "Check the Skin", icon="VIEWZOOM")


def _picture(layout: UILayout, path: Path, made: str, text: str) -> None:
    layout.template_icon(icon_value=picture_icon(path, made), scale=_PICTURE_SCALE)
    layout.operator("anymocap.open_file", text=text, icon="IMAGE_DATA").filepath = str(path)
