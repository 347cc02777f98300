"""The ways in which a motion goes onto an artist's rig.

deform: keys on the captured bones, constraints left alone. controls: keys on the IK targets, poles and controls that
move the captured bones (and on captured bones that nothing moves). bake: keys on the captured bones, while the Action
holds their constraints off. auto is deform where nothing moves the captured bones, controls where they all can be
reached through them, and else deform, which then says what disturbs it. Nothing is baked unless it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInputError
from ..core.motion import Motion
from ..core.rig import RigInfo
from .armature_space import prep_similarity
from .bake import key_constraints_off, moved_by_constraints, moved_by_drivers
from .control_plan import ControlPlan, disturbers, plan_controls
from .control_solver import ControlSolver
from .keyframes import write_keys
from .measured import measured_poses
from .own_actions import Bones, clear_keys
from .played_action import play_alone
from .pose import LocalBasis, local_basis

Array = NDArray[np.float64]

WAYS = ("auto", "deform", "controls", "bake")
_PASSES = 8  # of mending the keys of controls; mechanisms nest no deeper
_GOOD_MM = 0.05
_BETTER = 0.9  # a pass that leaves more than this share of the error is the last


@dataclass(frozen=True)
class Way:
    """How the motion goes onto the armature.

    Attributes:
        onto: "deform", "controls" or "bake".
        plan: for controls.
        doubts: what cannot be reached in this way, for a message when the joints do not follow.
    """

    onto: str
    plan: ControlPlan | None = None
    doubts: tuple[str, ...] = ()


def choose_way(armature: bpy.types.Object, rig: RigInfo, onto: str) -> Way:
    """The way that `onto` (see WAYS) means on this armature.

    Raises:
        BadInputError: controls that cannot be solved, or a bake against drivers; says what and what to do.
    """
    if onto == "bake":
        driven = moved_by_drivers(armature, rig.bones)
        if driven:
            raise BadInputError(
                f"Drivers set the transform of {', '.join(driven[:6])}: keys on them would do nothing.",
                key="onto",
                hint="Mute these drivers, then apply again.",
            )
        return Way("bake")
    if onto == "deform" or (onto == "auto" and not disturbers(armature, rig.bones)):
        return Way("deform")
    plan = plan_controls(armature, rig.bones)
    if not plan.reasons:
        return Way("controls", plan)
    doubts = tuple(dict.fromkeys(plan.reasons))
    if onto == "controls":
        raise BadInputError(
            f"The controls of armature {armature.name!r} cannot be solved. {' '.join(doubts[:4])}",
            key="onto",
            hint="Set Onto to Bake, or mute these constraints.",
        )
    return Way("deform", None, doubts)


def keyed_bones(way: Way, rig: RigInfo) -> frozenset[str]:
    """Bones that can get keys in this way."""
    return frozenset(rig.bones) | frozenset(way.plan.keyed if way.plan is not None else ())


def key_motion(
    way: Way,
    armature: bpy.types.Object,
    action: bpy.types.Action,
    rig: RigInfo,
    motion: Motion,
    frames: Array,
    bones: Bones,
) -> LocalBasis:
    """Key `motion` at the scene frames (T,) on `action`, which has no keys of `bones`, and let it play alone.

    Returns:
        What was keyed.
    """
    if way.plan is not None:
        return _key_controls(way.plan, armature, action, rig, motion, frames, bones)
    basis = local_basis(rig, armature, motion.trans, motion.root_R, motion.euler)
    off = moved_by_constraints(armature, rig.bones if bones is None else bones) if way.onto == "bake" else []
    write_keys(armature, action, basis, frames, bones)
    key_constraints_off(armature, action, off, frames)
    play_alone(armature)
    return basis


def _key_controls(
    plan: ControlPlan,
    armature: bpy.types.Object,
    action: bpy.types.Action,
    rig: RigInfo,
    motion: Motion,
    frames: Array,
    bones: Bones,
) -> LocalBasis:
    """Keys of the controls, mended by what Blender makes of them until the joints are where they belong."""
    solver, similarity = ControlSolver(rig, armature, motion, plan), prep_similarity(rig, armature)
    best: tuple[float, LocalBasis] = (np.inf, solver.basis())
    for number in range(_PASSES):
        basis = solver.basis() if number else best[1]
        clear_keys(action, armature, bones)
        write_keys(armature, action, basis, frames, bones)
        play_alone(armature)
        if bones is not None:
            return basis  # what the other bones do is the artist's
        joints, seen = measured_poses(armature, rig, similarity, frames, sorted(plan.influences))
        error_mm = float(np.linalg.norm(joints - motion.joints, axis=-1).max() * 1000)
        before, best = best, min(best, (error_mm, basis), key=lambda one: one[0])
        if error_mm <= _GOOD_MM or error_mm > _BETTER * before[0]:
            break
        solver.learn(seen)
    if basis is not best[1]:
        clear_keys(action, armature, bones)
        write_keys(armature, action, best[1], frames, bones)
    return best[1]
