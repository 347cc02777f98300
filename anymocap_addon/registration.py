"""Everything that Blender is told when the extension is enabled, and taken back in reverse when it is disabled."""

from __future__ import annotations

from typing import Any

import bpy

from .cli import main
from .jobs.registry import REGISTRY
from .ops.running import HOST
from .ops.scene_settings import ANYMOCAP_PG_scene
from .ops.stage_operator import make_operators

CLASSES: tuple[type, ...] = (ANYMOCAP_PG_scene, *make_operators(REGISTRY))
COMMAND = "anymocap"

_command_handles: list[Any] = []


def register_all() -> None:
    """Register classes, the Scene's property and the command `blender --command anymocap`."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Scene.anymocap = bpy.props.PointerProperty(type=ANYMOCAP_PG_scene)
    _command_handles.append(bpy.utils.register_cli_command(COMMAND, main))


def unregister_all() -> None:
    """The mirror of register_all; stages at work are ended and stay resumable."""
    HOST.close()
    bpy.utils.unregister_cli_command(_command_handles.pop())
    del bpy.types.Scene.anymocap
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
