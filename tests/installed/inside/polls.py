"""Run inside Blender: asks every operator's poll() in scenes and modes of all kinds, and prints what it answered."""

from __future__ import annotations

import json
import sys
from typing import Any

import bpy

HEAVY = ("torch", "cv2", "transformers", "fal_client", "httpx")


def answers() -> dict[str, Any]:
    return {name: getattr(bpy.ops.anymocap, name).poll() for name in dir(bpy.ops.anymocap)}


def new_armature() -> bpy.types.Object:
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    return armature


def main(project: str) -> None:
    found = {}
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.preferences.addon_enable(module="bl_ext.user_default.anymocap")
    found["empty scene"] = answers()
    bpy.context.scene.anymocap.project = "//nowhere"
    bpy.context.scene.anymocap.creature = "ghost"
    found["project beside a file that is not saved"] = answers()
    bpy.context.scene.anymocap.project = project
    bpy.context.scene.anymocap.creature = "lynx"
    found["creature"] = answers()
    bpy.context.scene.anymocap.armature = new_armature()
    for mode in ("OBJECT", "EDIT", "POSE"):
        bpy.ops.object.mode_set(mode=mode)
        found[f"armature in mode {mode}"] = answers()
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.data.objects.remove(bpy.context.scene.anymocap.armature)
    found["armature deleted"] = answers()
    bpy.context.scene.anymocap.creature = "a creature\x00 ü/.."
    found["odd name"] = answers()
    print(json.dumps({"answers": found, "heavy": [name for name in HEAVY if name in sys.modules]}))


main(sys.argv[sys.argv.index("--") + 1])
