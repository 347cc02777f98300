"""Template stage: place a template's skeleton in the prepped mesh -> rig.json and a grid picture of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import bpy

from ..core.creature import save_creature
from ..core.errors import BadInputError
from ..core.ortho_picture import Surface
from ..core.rig import RigSpec, load_rig_spec, save_rig_spec
from ..core.rig_sheet import rig_sheet
from ..core.rig_template import RigTemplate, load_template, sided
from ..core.stage_context import StageContext
from ..core.template_fit import fit_template
from .compat import open_blend
from .png import write_png
from .rig_build import mesh_soup


def run(ctx: StageContext) -> dict[str, Any]:
    """The template stage: see the module.

    Raises:
        BadInputError: nothing was prepped, no template of that name, or a rig.json that is another's work.
    """
    template = load_template(ctx.settings["template"])
    keep_edits(ctx, template)
    ctx.progress(0, 3, "opening")
    open_blend(ctx.paths.static_blend)
    points, triangles = mesh_soup([o for o in bpy.context.scene.objects if o.type == "MESH"])
    ctx.progress(1, 3, f"placing the {template.label.lower()}")
    fit = fit_template(template, points, triangles)
    save_rig_spec(ctx.paths.rig_json, fit.spec)
    creature = ctx.load_creature()
    pose = sided(template.testpose, [bone.name for bone in fit.spec.bones])
    if not creature.testpose and pose:
        save_creature(ctx.paths.creature_json, replace(creature, testpose=pose))
    ctx.progress(2, 3, "grid picture")
    write_png(ctx.paths.rig_sheet, rig_sheet(Surface.plain(points, triangles), fit.spec, fit.doubtful), level=6)
    for note in fit.notes:
        ctx.log(note)
    ctx.progress(3, 3)
    return {
        "template": template.name,
        "bones": len(fit.spec.bones),
        "joints": len(fit.spec.joints),
        "doubtful": list(fit.doubtful),
        "notes": list(fit.notes),
    }


def keep_edits(ctx: StageContext, template: RigTemplate) -> None:
    """Refuse to replace a rig.json unless asked to.

    Raises:
        BadInputError: there is one, and `overwrite` is not set.
    """
    if not ctx.paths.rig_json.exists() or ctx.settings.get("overwrite"):
        return
    spec: RigSpec = load_rig_spec(ctx.paths.rig_json)
    raise BadInputError(
        f"There is a skeleton already, with {len(spec.bones)} bones; the {template.label.lower()} would replace it.",
        file=ctx.paths.rig_json,
        hint="Use overwrite to replace it and what you changed in it.",
    )
