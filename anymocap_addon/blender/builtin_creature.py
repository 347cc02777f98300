"""Stage `example`: the built-in lynx, made by code, as assets/<c>/model.glb and creature.json."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ..core.creature import Creature, Facing, PaintGroup, Prep, PromptWords, ShowcaseCamera, save_creature
from ..core.layout import Layout
from ..core.stage_context import StageContext
from .builtin_actions import add_action
from .builtin_gait import FPS, look_around, walk
from .builtin_legs import FEET
from .builtin_mesh import build_mesh
from .builtin_rig import bind, build_armature
from .export_glb import export_glb
from .scene import fresh_scene

REACH_M = 0.14  # how far limbs may leave the rest pose's bounds and stay in the picture

_LEGS = (
    ("front_left_leg", "red", (0.88, 0.13, 0.10), ("upper_arm_L", "forearm_L", "hand_L")),
    ("front_right_leg", "blue", (0.10, 0.32, 0.92), ("upper_arm_R", "forearm_R", "hand_R")),
    ("hind_left_leg", "pink", (0.95, 0.28, 0.72), ("thigh_L", "shin_L", "hock_L", "foot_L")),
    ("hind_right_leg", "green", (0.10, 0.66, 0.24), ("thigh_R", "shin_R", "hock_R", "foot_R")),
    ("tail", "turquoise", (0.10, 0.74, 0.78), ("tail_1", "tail_2", "tail_3")),
)


def run(ctx: StageContext) -> dict[str, Any]:
    """Write the model and its creature.json; an existing creature.json keeps the keys that AnyMoCap does not
    know.
    """
    name = ctx.paths.name
    ctx.progress(0, 4, "shape and coat")
    fresh_scene()
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = FPS, 1.0
    creature = build_mesh(name)
    ctx.progress(2, 4, "armature and skin")
    armature = build_armature(f"{name}_rig")
    bind(creature, armature)
    ctx.progress(3, 4, "walk")
    actions = [add_action(armature, "walk", walk()), add_action(armature, "look_around", look_around())]
    model = ctx.paths.assets / "model.glb"
    export_glb(model, armature, all_actions=True, jpeg=True)
    points = np.array([v.co for v in creature.data.vertices])
    save_creature(ctx.paths.creature_json, describe(name, points.min(0), points.max(0)))
    creature.data.calc_loop_triangles()
    ctx.progress(4, 4)
    return {
        "model": str(model),
        "triangles": len(creature.data.loop_triangles),
        "bones": len(armature.data.bones),
        "actions": [action.name for action in actions],
    }


def describe(name: str, low: np.ndarray, high: np.ndarray) -> Creature:
    """creature.json of the lynx whose rest mesh spans `low` to `high`, (3,) metres."""
    return Creature(
        name=name,
        prep=Prep(length_m=round(float(high[1] - low[1]), 4), rotz_deg=0.0, axis="y"),
        facing_confirmed=Facing(),  # it is built so
        layout=Layout.framing(low, high, REACH_M),
        paint=tuple(PaintGroup(*leg) for leg in _LEGS),
        feet=FEET,
        contacts=tuple(f"{foot}_tip" for foot in FEET),
        prompt=PromptWords(
            name=name,
            noun="lynx",
            describe="a stylised lynx with a sand-coloured, dark-spotted coat, a cream belly and muzzle, cheek ruffs, "
            "black ear tufts, amber eyes, dark paws and a short black-tipped tail",
            colour_code="its front left leg is red, its front right leg is blue, its hind left leg is pink, its hind "
            "right leg is green and its tail is turquoise",
            count="one head with two ears, one body, four legs and one short tail",
            flank="right",
            limbs="legs and tail",
        ),
        showcase=ShowcaseCamera(azimuth_deg=38.0, elevation_deg=12.0, zoom=1.0),
    )
