"""Showcase stage, rendering step: the fitted creature in three-quarter view and through the layout's side camera."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.dataset.lights import SIDE_AXES, ViewLights
from ..core.errors import BadInputError
from ..core.motion import Motion, load_motion
from ..core.rig import RigInfo
from ..core.showcase_layout import PORTRAIT_SIZE
from ..core.stage_context import StageContext
from .draw import Drawer, PosedMeshes, layout_views
from .frame_shard import FrameShard
from .png import write_png
from .portrait import PortraitDrawer
from .posed import PosedCreature, open_for_drawing
from .render import over

Array = NDArray[np.float64]

BOUND_FRAMES = 12  # of the motion, enough for where the creature goes; joints of every frame are added


def run(ctx: StageContext) -> dict[str, Any]:
    """Draw this shard's pictures of motion.json.

    Raises:
        BadInputError: the motion is of another rig.
    """
    clip, layout = ctx.paths.clip(ctx.settings["clip"]), ctx.layout()
    motion, camera = load_motion(clip.motion), ctx.load_creature().showcase
    creature = PosedCreature(open_for_drawing(ctx))
    check_bones(motion, creature.rig)
    digest = hashlib.sha256(repr((layout, camera)).encode())
    for file in (clip.motion, ctx.paths.rigged_blend):
        digest.update(file.read_bytes())
    origin = digest.hexdigest()
    persp = FrameShard(clip.persp, motion.T, ctx.shard, PORTRAIT_SIZE, origin)
    side = FrameShard(clip.side, motion.T, ctx.shard, (layout.w_side, layout.height), origin)
    missing = sorted({*persp.missing(), *side.missing()})
    result = {"frames": motion.T, "drawn": len(missing), "folder": str(clip.persp.parent)}
    if not missing:
        return result
    meshes = PosedMeshes(creature.meshes, bpy.context.evaluated_depsgraph_get())
    portrait = PortraitDrawer(meshes, PORTRAIT_SIZE, camera, motion_bounds(creature, meshes, motion))
    view = replace(layout_views(layout, layout.height)[1], left=0)
    flank, lights = Drawer(meshes, [view]), [flank_lights()]
    studio = layout.studio()[:, layout.w_front :]
    frames = creature.play(motion.trans[missing], motion.root_R[missing], motion.euler[missing])
    for done, number in enumerate(frames, 1):
        shape = meshes.capture()
        write_png(persp.path(missing[number]), portrait.draw(shape))
        write_png(side.path(missing[number]), over(flank.draw([shape], lights), studio))
        ctx.progress(done, len(missing), "pictures")
    portrait.free()
    flank.free()
    return result


def check_bones(motion: Motion, rig: RigInfo) -> None:
    """Raise BadInputError when the motion was fitted to another rig."""
    if motion.bones != rig.bones:
        other = [bone for bone in motion.bones if bone not in rig.bones] or ["their order"]
        raise BadInputError(
            f"The motion was fitted to another rig: {other[0]!r} differs.", key="bones", hint="Run the fit again."
        )


def motion_bounds(creature: PosedCreature, meshes: PosedMeshes, motion: Motion) -> tuple[Array, Array]:
    """Lowest and highest point (3,) of the creature over the motion, the same in every shard."""
    chosen = np.unique(np.linspace(0, motion.T - 1, BOUND_FRAMES).round().astype(int))
    points = [motion.joints.reshape(-1, 3)]
    for _ in creature.play(motion.trans[chosen], motion.root_R[chosen], motion.euler[chosen]):
        points.append(np.array(meshes.bounds()))
    every = np.concatenate(points)
    return every.min(0), every.max(0)


def flank_lights() -> ViewLights:
    """Bright even light on the side that the side camera sees: key above, two fills, a rim."""
    towards = np.array([[0.35, 0.75, 0.6], [-0.7, 0.25, 0.7], [0.6, -0.2, 0.75], [0.0, 0.9, -0.45]])
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    colour = np.array([[0.50, 0.48, 0.45], [0.16, 0.17, 0.19], [0.12, 0.12, 0.12], [0.16, 0.17, 0.19]])
    return ViewLights(towards @ SIDE_AXES, colour, np.array([0.34, 0.35, 0.37]), 0.04)
