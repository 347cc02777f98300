"""Everything that Blender is told when the extension is enabled, and taken back in reverse when it is disabled.

A module that Blender must know exports CLASSES, and where classes are not all it has (handlers, timers, properties of
Blender's types) also register() and unregister(). The modules stand here in the order of their registration.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import bpy

from .cli import main
from .ops import (
    apply_operators,
    bone_map_operators,
    bring_in,
    cancel,
    checkup_operators,
    clip_operators,
    creature_operators,
    example_operators,
    file_operators,
    film_operators,
    jump,
    layout_cameras,
    mesh_operators,
    overlay_operators,
    overlay_settings,
    plan_operators,
    prompt_operators,
    rig_builder_operators,
    rig_builder_ranges,
    rig_builder_trial,
    role_operators,
    run_again,
    running,
    scene_settings,
    stage_operator,
    stage_settings,
    states,
    take_operators,
    worker_operators,
)
from .ops.preference_values import host_pool
from .ui import panels, preferences, rig_builder_draw
from .ui.overlay import handlers

MODULES: tuple[ModuleType, ...] = (
    preferences,
    overlay_settings,
    stage_settings,
    scene_settings,
    running,
    states,
    stage_operator,
    run_again,
    plan_operators,
    cancel,
    apply_operators,
    bone_map_operators,
    bring_in,
    creature_operators,
    checkup_operators,
    clip_operators,
    file_operators,
    film_operators,
    take_operators,
    prompt_operators,
    role_operators,
    mesh_operators,
    rig_builder_ranges,
    rig_builder_operators,
    rig_builder_trial,
    worker_operators,
    example_operators,
    overlay_operators,
    layout_cameras,
    jump,
    panels,
    handlers,
    rig_builder_draw,
)
CLASSES: tuple[type, ...] = tuple(cls for module in MODULES for cls in module.CLASSES)
COMMAND = "anymocap"

_command_handles: list[Any] = []


def _command(argv: list[str]) -> int:
    """`blender --command anymocap …`, with the worker that the preferences name."""
    return main(argv, pool=host_pool())


def register_all() -> None:
    """Register the modules and the command `blender --command anymocap`."""
    for module in MODULES:
        for cls in module.CLASSES:
            bpy.utils.register_class(cls)
        if hasattr(module, "register"):
            module.register()
    _command_handles.append(bpy.utils.register_cli_command(COMMAND, _command))


def unregister_all() -> None:
    """The mirror of register_all; stages at work are ended and stay resumable."""
    bpy.utils.unregister_cli_command(_command_handles.pop())
    for module in reversed(MODULES):
        if hasattr(module, "unregister"):
            module.unregister()
        for cls in reversed(module.CLASSES):
            bpy.utils.unregister_class(cls)
