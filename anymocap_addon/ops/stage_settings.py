"""The settings of every stage as PropertyGroups of the Scene, made from the registry."""

from __future__ import annotations

from typing import Any

import bpy

from ..core.project import CreaturePaths
from ..core.stage_record import StageRecord
from ..jobs.registry import REGISTRY
from ..jobs.setting import Setting
from ..jobs.stage import Registry, Stage
from .running import HOST
from .setting_property import put_value, set_values, setting_property

# What the Scene itself holds, once for all stages.
FROM_SCENE = ("clip", "move", "armature", "start_frame")


def own_settings(stage: Stage) -> tuple[Setting, ...]:
    """The settings that the stage's group holds: all but those that the Scene holds for all stages, and those that hold
    for one run.
    """
    return tuple(setting for setting in stage.settings if setting.name not in FROM_SCENE and not setting.once)


def chosen_values(group: Any, stage: Stage) -> dict[str, Any]:
    """What is set in the stage's group."""
    return set_values(group, own_settings(stage))


def load_recorded(group: Any, stage: Stage, paths: CreaturePaths, item: str | None, record: StageRecord | None) -> None:
    """Show the settings of the last run; without one nothing is set.

    A group that has shown this run before keeps what was chosen since. Settings that do not change the result
    (threads, device) stay as they are: the last run may have been on another machine.
    """
    run = f"{paths.root} {paths.name} {item or ''} {record.started if record else ''}"
    if group.shown_run == run:
        return
    group.shown_run = run
    for setting in own_settings(stage):
        if not setting.portable:
            value = record.settings.get(setting.name) if record else None
            put_value(group, setting, value, paths.root)


def _touched(group: Any, context: Any) -> None:
    HOST.touch()


def make_groups(registry: Registry) -> tuple[type, ...]:
    """One PropertyGroup a stage and, last, the group that holds them under the stages' names."""
    groups = {stage.name: _make_group(stage) for stage in registry}
    holders = {name: bpy.props.PointerProperty(type=group) for name, group in groups.items()}
    members = {"__doc__": "The stages' settings.", "__annotations__": holders, "__module__": __name__}
    return (*groups.values(), type("ANYMOCAP_PG_stages", (bpy.types.PropertyGroup,), members))


def _make_group(stage: Stage) -> type:
    properties = {setting.name: setting_property(setting, _touched) for setting in own_settings(stage)}
    properties["shown_run"] = bpy.props.StringProperty(options={"HIDDEN"})
    members = {"__doc__": f"Settings of {stage.label}.", "__annotations__": properties, "__module__": __name__}
    return type(f"ANYMOCAP_PG_stage_{stage.name}", (bpy.types.PropertyGroup,), members)


CLASSES: tuple[type, ...] = make_groups(REGISTRY)
ANYMOCAP_PG_stages = CLASSES[-1]
