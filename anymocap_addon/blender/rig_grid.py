"""Grid stage: draw the skeleton of rig.json in the prepped mesh, on a grid in metres."""

from __future__ import annotations

from typing import Any

import bpy

from ..core.ortho_picture import Surface
from ..core.rig import load_rig_spec
from ..core.rig_sheet import rig_sheet
from ..core.stage_context import StageContext
from .compat import open_blend
from .png import write_png
from .rig_build import mesh_soup


def run(ctx: StageContext) -> dict[str, Any]:
    """The grid stage: see the module.

    Raises:
        BadInputError: nothing was prepped, or rig.json is missing or damaged.
    """
    spec = load_rig_spec(ctx.paths.rig_json)
    ctx.progress(0, 2, "opening")
    open_blend(ctx.paths.static_blend)
    points, triangles = mesh_soup([o for o in bpy.context.scene.objects if o.type == "MESH"])
    ctx.progress(1, 2, "drawing")
    write_png(ctx.paths.rig_sheet, rig_sheet(Surface.plain(points, triangles), spec), level=6)
    ctx.progress(2, 2)
    return {"joints": len(spec.joints), "picture": str(ctx.paths.rig_sheet)}
