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
from ..core.stage_context import StageContext
from .draw import PosedMeshes
from .png import write_png
from .posed import PosedCreature, open_for_drawing, start_euler
from .render import TwoViewRenderer

REACH_SHARE = 0.12  # of the creature's largest extent: room for its motion around it
EDGE_PX = 3.0
SMALLEST_SHARE = 0.25  # of a view's height or of its width: smaller, and limbs are a few pixels thin

Array = NDArray[np.float64]


def run(ctx: StageContext) -> dict[str, Any]:
    """Draw ref.png in the start pose (rest, where creature.json names none); store the layout where there is none.

    Raises:
        BadInputError: the layout of creature.json cuts the creature off or shows it tiny.
    """
    creature = ctx.load_creature()
    posed = PosedCreature(open_for_drawing(ctx))
    posed.rest()
    meshes = PosedMeshes(posed.meshes, bpy.context.evaluated_depsgraph_get())
    bounds = [meshes.bounds()]
    posed.rest(start_euler(creature, posed.rig))
    bounds.append(meshes.bounds())
    layout = creature.layout or _framed(ctx, creature, bounds)
    size = check_framing(layout, *bounds[1])
    with TwoViewRenderer(meshes, layout, samples="8") as renderer:
        picture = renderer.frame()
    write_png(ctx.paths.ref_png, picture, level=6)
    return {"ref": str(ctx.paths.ref_png), "layout": vars(layout), "creature_px": size}


def _framed(ctx: StageContext, creature: Creature, bounds: list[tuple[Array, Array]]) -> Layout:
    """The layout that holds the creature at rest and in its start pose, kept in creature.json for every later stage."""
    low = np.min([pair[0] for pair in bounds], axis=0)
    high = np.max([pair[1] for pair in bounds], axis=0)
    layout = Layout.framing(low, high, REACH_SHARE * float((high - low).max()))
    save_creature(ctx.paths.creature_json, replace(creature, layout=layout))
    return layout


def check_framing(layout: Layout, low: Array, high: Array) -> list[float]:
    """Width in the front view, width in the side view and height of the creature, px.

    Raises:
        BadInputError: it is cut off, or tiny.
    """
    corners = np.array([low, high])
    front, side = layout.project(corners)
    room = {
        "left of the front view": front[:, 0].min(),
        "right of the front view": layout.w_front - front[:, 0].max(),
        "left of the side view": side[:, 0].min() - layout.w_front,
        "right of the side view": layout.width - side[:, 0].max(),
        "top": front[:, 1].min(),
        "bottom": layout.height - front[:, 1].max(),
    }
    hint = "Remove layout from creature.json: the ref stage then frames the creature itself."
    where = min(room, key=lambda key: room[key])
    if room[where] < EDGE_PX:
        raise BadInputError(
            f"The creature is cut off at the {where} ({-room[where]:.0f} px outside).", key="layout", hint=hint
        )
    size = [float(np.ptp(front[:, 0])), float(np.ptp(side[:, 0])), float(np.ptp(front[:, 1]))]
    shares = size[0] / layout.w_front, size[1] / layout.w_side, size[2] / layout.height
    if max(shares) < SMALLEST_SHARE:
        raise BadInputError(f"The creature fills only {100 * max(shares):.0f} % of its view.", key="layout", hint=hint)
    return [round(value, 1) for value in size]
