"""Exam stage, rendering step: a motion whose truth is known, as frames of the two-view clip."""

from __future__ import annotations

import hashlib
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInputError
from ..core.exam.motions import random_motion
from ..core.exam.truth import Truth, save_truth
from ..core.kinematics import continuous_quaternion, matrix_to_quaternion
from ..core.layout import Layout
from ..core.stage_context import StageContext
from .action_playback import find_action, scene_fps
from .draw import PosedMeshes
from .frame_shard import FrameShard
from .png import write_png
from .pose import sample_action
from .posed import PosedCreature, open_for_drawing
from .render import TwoViewRenderer
from .scene import RiggedScene

Array = NDArray[np.float64]
Motion = tuple[Array, Array, Array]

RANDOM_SECONDS = 5.0
SHORTEST_S, LONGEST_S = 2.0, 5.0  # an Action's own length, looped to the shortest, cut at the longest
EDGE_PX = 2.0


def run(ctx: StageContext) -> dict[str, Any]:
    """Render this shard's frames; the first shard also writes truth.npz, the joints as Blender has them.

    Raises:
        BadInputError: no such Action, or the motion leaves the layout's views.
    """
    files, layout = ctx.paths.exam(ctx.settings["clip"]), ctx.layout()
    scene = open_for_drawing(ctx)
    action = _action_name(ctx, scene)
    trans, root_R, euler = _motion(ctx, scene, layout, action)
    origin = hashlib.sha256(b"".join(a.tobytes() for a in (trans, root_R, euler)))
    origin.update(repr(layout).encode() + ctx.paths.rigged_blend.read_bytes())
    size = (layout.width, layout.height)
    shard = FrameShard(files.frames, len(trans), ctx.shard, size, origin.hexdigest())
    missing = shard.missing()
    creature = PosedCreature(scene)
    joints = np.array([creature.joints() for _ in creature.play(trans, root_R, euler)])
    _check_frame(layout, joints, action)
    if ctx.shard[0] == 0:
        save_truth(files.truth, _truth(ctx, creature, joints, (trans, root_R, euler), action))
    meshes = PosedMeshes(creature.meshes, bpy.context.evaluated_depsgraph_get())
    with TwoViewRenderer(meshes, layout) as renderer:
        for done, number in enumerate(creature.play(trans[missing], root_R[missing], euler[missing]), 1):
            write_png(shard.path(missing[number]), renderer.frame())
            ctx.progress(done, len(missing), "frames")
    return {"frames": len(trans), "rendered": len(missing), "folder": str(files.frames), "action": action}


def _action_name(ctx: StageContext, scene: RiggedScene) -> str:
    """The Action that is asked for; "" for a random motion."""
    if ctx.settings["kind"] == "random":
        return ""
    name = ctx.settings["action"]
    known = sorted(action.name for action in bpy.data.actions)
    if not known:
        raise BadInputError(
            f"{scene.rig.creature} has no Action.", key="action", hint="Use kind random, or a mesh that came with one."
        )
    if not name:
        walks = [action for action in known if "walk" in action.lower()]
        return min(walks, key=len) if walks else known[0]  # Walking before WalkJump
    return str(find_action(name, scene.armature).name)


def _motion(ctx: StageContext, scene: RiggedScene, layout: Layout, action: str) -> Motion:
    """trans (T, 3), root_R (T, 3, 3), euler (T, B, 3): the same in every shard."""
    frames, fps = ctx.settings["frames"], ctx.settings["fps"]
    if not action:
        return random_motion(scene.rig, layout, frames or round(RANDOM_SECONDS * fps), fps, ctx.settings["seed"])
    if not frames:
        first, last = bpy.data.actions[action].frame_range
        seconds = max((last - first) / scene_fps(bpy.context.scene), 1 / fps)
        cycles = max(1, int(np.ceil(SHORTEST_S / seconds)))
        frames = max(2, round(min(cycles * seconds, LONGEST_S) * fps))
    return sample_action(scene.armature, scene.rig, action, frames, fps)


def _check_frame(layout: Layout, joints: Array, action: str) -> None:
    front, side = layout.project(joints)
    low = min(front[..., 0].min(), side[..., 0].min() - layout.w_front, front[..., 1].min())
    high = min(
        layout.w_front - front[..., 0].max(), layout.width - side[..., 0].max(), layout.height - front[..., 1].max()
    )
    if min(low, high) < EDGE_PX:
        raise BadInputError(
            f"The motion {action or 'at random'} leaves the picture by {-min(low, high):.0f} px.",
            key="layout",
            hint="Give creature.json a layout with a larger m_per_px and run ref, dataset and train again.",
        )


def _truth(ctx: StageContext, creature: PosedCreature, joints: Array, motion: Motion, action: str) -> Truth:
    trans, root_R, euler = motion
    return Truth(
        names=creature.rig.keypoints,
        joints=joints,
        bones=creature.rig.bones,
        trans=trans,
        root_quat=continuous_quaternion(matrix_to_quaternion(root_R)),
        euler=euler,
        fps=ctx.settings["fps"],
        body_length=creature.rig.body_length,
        action=action,
    )
