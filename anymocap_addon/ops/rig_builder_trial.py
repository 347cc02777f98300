"""Try a built rig in the open scene: swing its bones between their limits, write these, look at its test pose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np

from ..blender.scene import append_rigged
from ..blender.skin_check import test_pose
from ..core.creature import load_creature, save_creature
from ..core.errors import AnyMoCapError, BadInputError
from ..core.rig import RigInfo, load_rig_info, load_rig_spec, save_rig_spec
from ..core.skeleton_edits import changed_limits
from .reported_errors import ReportsErrors
from .rig_builder_ranges import fill_ranges, limits_of, rest_all
from .rig_builder_scene import (
    MODES,
    PLACING,
    TRIAL,
    clear,
    leave_alone,
    leave_mode,
    main_object,
    show_alone,
    workplace,
)
from .running import HOST
from .said_polls import NeedsCreature
from .scene_settings import creature_paths
from .states import STATES

if TYPE_CHECKING:
    from bpy.types import Context, Object

_STILL_DEG = 0.05  # bones that are turned by less are at rest


class _NeedsTrial(NeedsCreature):
    """For operators on the rig that is tried."""

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        return "" if tried_armature(context) is not None else "The rig is not shown: Try the Rig first"


def tried_armature(context: Context) -> Object | None:
    """The armature that is tried in the scene, of its creature."""
    return main_object(context.scene, TRIAL, context.scene.anymocap.creature)


class ANYMOCAP_OT_try_rig(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Show a copy of the built rig in Pose Mode: pose it, swing its bones between their limits. Your own scene stays as
    it is"""

    bl_idname = "anymocap.try_rig"
    bl_label = "Try the Rig"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        if not bpy.app.background and _is_unbuilt(context):
            return "There is no rig of this skeleton yet: run Rig first"
        return "" if context.mode in MODES else "Leave this mode first (Tab)"

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: try_rig(context))


def _is_unbuilt(context: Context) -> bool:
    """Whether it is known that nothing was built from a skeleton. Reads no file."""
    states = STATES.of(context)
    builder = states.survey.rig_builder if states is not None and states.survey is not None else None
    return builder is not None and not builder.built


def try_rig(context: Context) -> Object:
    """A copy of the built rig, alone in the view, in Pose Mode; bones carry their limits.

    Raises:
        BadInputError: the creature is not rigged, or rigged.blend is the open file.
    """
    paths, scene = creature_paths(context), context.scene
    leave_mode(context)
    clear(scene, PLACING)
    collection = workplace(scene, TRIAL, paths.name)
    try:
        rigged = append_rigged(paths, collection)
    except AnyMoCapError:
        clear(scene, TRIAL)
        raise
    armature = rigged.armature
    armature[TRIAL] = paths.name
    armature.show_in_front = True
    armature.pose.use_mirror_x = True
    fill_ranges(armature, rigged.rig)
    context.view_layer.update()
    show_alone(context, armature, "POSE")
    return armature


class ANYMOCAP_OT_write_limits(_NeedsTrial, ReportsErrors, bpy.types.Operator):
    """Write the limits that you changed to the creature's rig.json; Rig then has to be run again"""

    bl_idname = "anymocap.write_limits"
    bl_label = "Write Limits"

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._write(context))

    def _write(self, context: Context) -> None:
        paths, armature = creature_paths(context), tried_armature(context)
        assert armature is not None  # the poll
        spec, rig = load_rig_spec(paths.rig_json), load_rig_info(paths.rig_info)
        _check_same(rig, armature)
        limits = {name: np.degrees(limits_of(armature.pose.bones[name])) for name in rig.bones[1:]}
        changed = changed_limits(spec, rig, limits)
        if changed == spec:
            self.report({"INFO"}, "No limit was changed")
            return
        save_rig_spec(paths.rig_json, changed)
        HOST.touch()
        names = [name for name in changed.limits_deg if changed.limits_deg[name] != spec.limits_deg.get(name)]
        self.report({"INFO"}, f"Limits of {', '.join(names)} written. Run Rig again to use them")


def _check_same(rig: RigInfo, armature: Object) -> None:
    missing = [name for name in rig.bones if name not in armature.pose.bones]
    if missing:
        raise BadInputError(
            f"The rig has been built anew since it was shown; {missing[0]!r} is not in what is shown.",
            hint="Try the rig again.",
        )


class ANYMOCAP_OT_show_pose(_NeedsTrial, ReportsErrors, bpy.types.Operator):
    """Put the rig that is tried into a pose"""

    bl_idname = "anymocap.show_pose"
    bl_label = "Show Pose"
    bl_options = {"REGISTER", "UNDO"}

    pose: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Pose",
        items=[
            ("TEST", "Test Pose", "The pose that the skin check draws"),
            ("REST", "Rest", "The pose that it was modelled in"),
        ],
    )

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._show(context))

    def _show(self, context: Context) -> None:
        armature = tried_armature(context)
        assert armature is not None  # the poll
        if self.pose == "REST":
            rest_all(armature)
            return
        paths = creature_paths(context)
        rig = load_rig_info(paths.rig_info)
        _check_same(rig, armature)
        euler = test_pose(load_creature(paths.creature_json), rig)
        rest_all(armature)
        for name, angles in zip(rig.bones, euler, strict=True):
            armature.pose.bones[name].rotation_euler = angles


class ANYMOCAP_OT_keep_test_pose(_NeedsTrial, ReportsErrors, bpy.types.Operator):
    """Take the pose in which the rig is shown as the creature's test pose: the skin check draws it"""

    bl_idname = "anymocap.keep_test_pose"
    bl_label = "Keep as Test Pose"

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._keep(context))

    def _keep(self, context: Context) -> None:
        paths, armature = creature_paths(context), tried_armature(context)
        assert armature is not None  # the poll
        rig = load_rig_info(paths.rig_info)
        _check_same(rig, armature)
        pose = {name: _angles_deg(armature.pose.bones[name]) for name in rig.bones[1:]}
        pose = {name: angles for name, angles in pose.items() if any(angles)}
        if not pose:
            raise BadInputError("The rig stands at rest.", hint="Turn some bones first: the pose shows what bends.")
        save_creature(paths.creature_json, replace(load_creature(paths.creature_json), testpose=pose))
        HOST.touch()
        self.report({"INFO"}, f"{len(pose)} bones turned in the test pose")


def _angles_deg(bone: Any) -> tuple[float, float, float]:
    """XYZ degrees of a pose bone's own turn, 0 where it is still."""
    x, y, z = np.degrees(bone.matrix_basis.to_euler("XYZ"))
    clean = [round(float(angle), 1) if abs(angle) > _STILL_DEG else 0.0 for angle in (x, y, z)]
    return (clean[0], clean[1], clean[2])


class ANYMOCAP_OT_leave_trial(ReportsErrors, bpy.types.Operator):
    """Take the rig that is tried out of the scene"""

    bl_idname = "anymocap.leave_trial"
    bl_label = "Leave"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: leave_trial(context))


def leave_trial(context: Context) -> None:
    """Back to the artist's scene."""
    leave_mode(context)
    leave_alone(context)
    clear(context.scene, TRIAL)


CLASSES: tuple[type, ...] = (
    ANYMOCAP_OT_try_rig,
    ANYMOCAP_OT_write_limits,
    ANYMOCAP_OT_show_pose,
    ANYMOCAP_OT_keep_test_pose,
    ANYMOCAP_OT_leave_trial,
)
