"""One operator a stage, made from the registry."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import bpy

from ..blender.compat import relative_path_options
from ..core.errors import AnyMoCapError
from ..core.project import CreaturePaths
from ..jobs.registry import REGISTRY
from ..jobs.setting import Setting
from ..jobs.stage import Registry, Stage, load_function
from ..jobs.stage_run import StageRun
from .running import HOST
from .scene_settings import creature_paths, has_creature

if TYPE_CHECKING:
    from bpy.types import Context

_PACKAGE = __package__.rpartition(".")[0]
_EMPTY_CHOICE = "AUTO"  # an enum of Blender has no empty identifier
_LOOK_EVERY_S = 0.03


class StageOperator:
    """What the operators of all stages do: in a window the stage runs in the background, else to its end here."""

    stage: Stage
    properties: Any

    @classmethod
    def poll(cls, context: Context) -> bool:
        if has_creature(context):
            return True
        cls.poll_message_set("Choose project folder and creature first")  # type: ignore[attr-defined]
        return False

    def invoke(self, context: Context, event: Any) -> set[str]:
        if self._changes_this_scene():
            return self.execute(context)
        return self._guarded(lambda: HOST.start(self._new_run(context)))

    def execute(self, context: Context) -> set[str]:
        return self._guarded(lambda: self._run_to_end(context))

    def _guarded(self, action: Any) -> set[str]:
        try:
            action()
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))  # type: ignore[attr-defined]
            return {"CANCELLED"}
        return {"FINISHED"}

    def _new_run(self, context: Context) -> StageRun:
        here = self._changes_this_scene()
        # What the scene holds is not known to the stage's record: a scene is always changed when asked.
        paths = creature_paths(context)
        return StageRun(paths, self.stage, self._gathered(paths), pool=HOST.pool, here=here, force=here)

    def _gathered(self, paths: CreaturePaths) -> dict[str, Any]:
        """The settings, with what only the open scene knows."""
        given = self._given()
        if not self.stage.gather:
            return given
        return load_function(self.stage.gather, _PACKAGE)(paths, given) or {}

    def _changes_this_scene(self) -> bool:
        return runs_here(self.stage) and bool(getattr(self, "armature", ""))

    def _run_to_end(self, context: Context) -> None:
        for event in self._new_run(context):
            if event is None:
                time.sleep(_LOOK_EVERY_S)

    def _given(self) -> dict[str, Any]:
        """The settings that were set; the others take their defaults."""
        given = {}
        for setting in self.stage.settings:
            if self.properties.is_property_set(setting.name):
                value = getattr(self, setting.name)
                if setting.kind == "path":
                    value = bpy.path.abspath(value)
                given[setting.name] = "" if setting.choices and value == _EMPTY_CHOICE else value
        return given


def runs_here(stage: Stage) -> bool:
    """Whether the stage can change this Blender's data, so that it must be an undo step."""
    return any(step.where == "here" for step in stage.steps)


def make_operators(registry: Registry) -> tuple[type, ...]:
    """Operator classes anymocap.<stage>, in the order of the registry."""
    return tuple(_make_operator(stage) for stage in registry)


def _make_operator(stage: Stage) -> type:
    options = {"REGISTER", "UNDO"} if runs_here(stage) else {"REGISTER"}
    members = {
        "__doc__": f"{stage.help[:1].upper()}{stage.help[1:]}",
        "__annotations__": {setting.name: _property(setting) for setting in stage.settings},
        "__module__": __name__,
        "bl_idname": f"anymocap.{stage.name}",
        "bl_label": stage.label,
        "bl_options": options,
        "stage": stage,
    }
    return type(f"ANYMOCAP_OT_{stage.name}", (StageOperator, bpy.types.Operator), members)


def _property(setting: Setting) -> Any:
    words: dict[str, Any] = {"name": setting.name.replace("_", " ").capitalize(), "description": setting.describe()}
    if setting.choices:
        items = [
            (choice or _EMPTY_CHOICE, (choice or "from the creature").capitalize(), "") for choice in setting.choices
        ]
        return bpy.props.EnumProperty(items=items, default=setting.default or items[0][0], **words)
    if setting.kind == "flag":
        return bpy.props.BoolProperty(default=setting.default, **words)
    if setting.kind in ("integer", "number"):
        if setting.minimum is not None:
            words["min"] = setting.minimum if setting.kind == "number" else int(setting.minimum)
        if setting.maximum is not None:
            words["max"] = setting.maximum if setting.kind == "number" else int(setting.maximum)
        make = bpy.props.FloatProperty if setting.kind == "number" else bpy.props.IntProperty
        return make(default=setting.default or 0, **words)
    if setting.kind == "path":
        words.update(subtype="FILE_PATH", options=relative_path_options())
    return bpy.props.StringProperty(default=setting.default or "", **words)


CLASSES: tuple[type, ...] = make_operators(REGISTRY)
