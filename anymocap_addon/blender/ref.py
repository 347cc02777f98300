"""Reference stage: frames the creature and draws ref.png, the picture that every clip starts from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.creature import Creature, save_creature
from ..core.errors import BadInputError
from ..core.layout import Layout
from ..core.rig import RigInfo
from ..core.room import default_room, outside, room, with_own_motions
from ..core.stage_context import StageContext
from .action_reach import action_reach
from .draw import PosedMeshes
from .png import write_png
from .posed import PosedCreature, open_for_drawing, start_euler
from .render import TwoViewRenderer

SMALLEST_SHARE = 0.25  # of a view's height or of its width: smaller, and limbs are a few pixels thin

Array = NDArray[np.float64]


def run(ctx: StageContext) -> dict[str, Any]:
    """Draw ref.png in the start pose (rest, where creature.json names none).

    The creature is framed, with the room that its move needs, where creature.json has no layout or where `room`,
    `reach_m` or `reframe` ask for it; the layout is kept there.

    Raises:
        BadInputError: the layout of creature.json cuts the creature off or shows it tiny.
    """
    creature = ctx.load_creature()
    scene = open_for_drawing(ctx)
    anew = ctx.settings.get("reframe") or ctx.settings.get("room") or ctx.settings.get("reach_m")
    moved = action_reach(scene) if creature.layout is None or anew else {}
    posed = PosedCreature(scene)
    posed.rest()
    meshes = PosedMeshes(posed.meshes, bpy.context.evaluated_depsgraph_get())
    bounds = [meshes.bounds()]
    posed.rest(start_euler(creature, posed.rig))
    bounds.append(meshes.bounds())
    low, high = np.min([pair[0] for pair in bounds], axis=0), np.max([pair[1] for pair in bounds], axis=0)
    if creature.layout is None or anew:
        layout = _framed(ctx, creature, posed.rig, (low, high), moved)
    else:
        layout = creature.layout
        _tell_tightness(ctx, layout, posed.rig, low, high)
    size = check_framing(layout, *bounds[1])
    with TwoViewRenderer(meshes, layout, samples="8") as renderer:
        picture = renderer.frame()
    write_png(ctx.paths.ref_png, picture, level=6)
    return {"ref": str(ctx.paths.ref_png), "layout": vars(layout), "creature_px": size}


def _framed(
    ctx: StageContext, creature: Creature, rig: RigInfo, box: tuple[Array, Array], moved: dict[str, Array]
) -> Layout:
    """The layout that holds what the move and the creature's own Actions need, kept in creature.json for every later
    stage."""
    kind = ctx.settings.get("room") or default_room(rig)
    need = room(rig, *box, kind, ctx.settings.get("reach_m") or 0.0)
    need, left_out = with_own_motions(rig, *box, need, moved)
    if left_out:
        ctx.log(
            f"The frame leaves no room for {', '.join(left_out)}: they go so far that the creature would be small. "
            "For them frame it anew with a reach in metres."
        )
    layout = Layout.framing(*need)
    save_creature(ctx.paths.creature_json, replace(creature, layout=layout))
    return layout


def _tell_tightness(ctx: StageContext, layout: Layout, rig: RigInfo, low: Array, high: Array) -> None:
    """Say where the artist's own layout is too tight for what the creature may do; it is his to choose."""
    kind = default_room(rig)
    edges = outside(layout, *room(rig, low, high, kind))
    if edges:
        what = "spread wings" if kind == "spread" else "a step"
        ctx.log(f"The frame is tight: {what} may leave it at the {max(edges, key=lambda edge: edges[edge])}.")


def check_framing(layout: Layout, low: Array, high: Array) -> list[float]:
    """Width in the front view, width in the side view and height of the creature, px.

    Raises:
        BadInputError: it is cut off, or tiny.
    """
    edges = outside(layout, low, high)
    hint = "Frame it anew (ref --reframe): the ref stage then finds the layout itself."
    if edges:
        where = max(edges, key=lambda edge: edges[edge])
        raise BadInputError(
            f"The creature is cut off at the {where} ({edges[where]:.0f} px outside).", key="layout", hint=hint
        )
    front, side = layout.project(np.array([low, high]))
    size = [float(np.ptp(front[:, 0])), float(np.ptp(side[:, 0])), float(np.ptp(front[:, 1]))]
    shares = size[0] / layout.w_front, size[1] / layout.w_side, size[2] / layout.height
    if max(shares) < SMALLEST_SHARE:
        raise BadInputError(f"The creature fills only {100 * max(shares):.0f} % of its view.", key="layout", hint=hint)
    return [round(value, 1) for value in size]
