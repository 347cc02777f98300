"""Run inside Blender: the operators block until a stage has ended, when there is no window."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy


def failure(call, **settings) -> str:
    """What an operator reports when it refuses."""
    try:
        call(**settings)
    except RuntimeError as error:
        return str(error)
    return ""


def main(project: Path) -> None:
    scene = bpy.context.scene
    scene.anymocap.project = str(project)
    scene.anymocap.creature = "lynx"
    finished = [bpy.ops.anymocap.example(), bpy.ops.anymocap.prep(), bpy.ops.anymocap.rig()]
    rigged = project / "assets" / "lynx" / "rigged" / "rigged.blend"
    refused = failure(bpy.ops.anymocap.train)
    with bpy.data.libraries.load(str(rigged)) as (source, target):
        target.objects = source.objects
    armatures = [each.name for each in target.objects if each.type == "ARMATURE"]
    print(json.dumps({"finished": [sorted(each) for each in finished], "refused": refused, "armatures": armatures}))


main(Path(sys.argv[sys.argv.index("--") + 1]))
