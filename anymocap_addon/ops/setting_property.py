"""One Blender property a setting: of an operator, or of the Scene. The one place where a setting becomes a property."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy

from ..blender.compat import relative_path_options
from ..core.errors import BadInputError
from ..jobs.setting import Setting

_EMPTY_CHOICE = "AUTO"  # an enum of Blender has no empty identifier


def setting_property(setting: Setting, update: Callable[[Any, Any], None] | None = None) -> Any:
    """The property of a setting, with its unit, range and choices.

    Args:
        update: called with the owner and the context when the value changes.
    """
    words: dict[str, Any] = {"name": setting.name.replace("_", " ").capitalize(), "description": setting.describe()}
    if update is not None:
        words["update"] = update
    if setting.once:
        words["options"] = {"SKIP_SAVE"}  # a button does not say yes to a cost because it did the last time
    if setting.choices:
        items = [
            (choice or _EMPTY_CHOICE, (choice or "from the creature").capitalize(), "") for choice in setting.choices
        ]
        return bpy.props.EnumProperty(items=items, default=setting.default or items[0][0], **words)
    if setting.kind == "flag":
        return bpy.props.BoolProperty(default=setting.default, **words)
    if setting.kind in ("integer", "number"):
        return _number_property(setting, words)
    if setting.kind == "path":
        words.update(subtype="FILE_PATH", options=relative_path_options())
    return bpy.props.StringProperty(default=setting.default or "", **words)


def _number_property(setting: Setting, words: dict[str, Any]) -> Any:
    convert: type = float if setting.kind == "number" else int
    if setting.minimum is not None:
        words["min"] = convert(setting.minimum)
    if setting.maximum is not None:
        words["max"] = convert(setting.maximum)
    make = bpy.props.FloatProperty if setting.kind == "number" else bpy.props.IntProperty
    return make(default=setting.default or 0, **words)


def set_values(owner: Any, settings: tuple[Setting, ...]) -> dict[str, Any]:
    """The settings that are set on `owner` (operator or PropertyGroup); the others would take their defaults."""
    values = {}
    for setting in settings:
        if owner.is_property_set(setting.name):
            value = getattr(owner, setting.name)
            if setting.kind == "path":
                value = bpy.path.abspath(value)
            values[setting.name] = "" if setting.choices and value == _EMPTY_CHOICE else value
    return values


def put_value(owner: Any, setting: Setting, value: Any, root: Path) -> None:
    """Set one setting on `owner`, or unset it where the value says nothing: None, or a value of a former version.

    Args:
        root: the project folder that a recorded path is relative to.
    """
    try:
        value = setting.check(value, "")
    except BadInputError:
        value = None
    if value is None:
        owner.property_unset(setting.name)
        return
    if setting.kind == "path" and value:
        value = str(Path(root, value))
    value = _EMPTY_CHOICE if setting.choices and value == "" else value
    if getattr(owner, setting.name) != value or not owner.is_property_set(setting.name):
        setattr(owner, setting.name, value)
