"""A stand-in for UILayout: draws nothing, checks every call against the real Blender, remembers what was said."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import bpy

_ICONS = {item.identifier for item in bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items}
_CONTAINERS = ("row", "column", "box", "split", "grid_flow", "column_flow")


class OperatorProperties:
    """What layout.operator returns: takes only properties that the operator has."""

    def __init__(self, idname: str) -> None:
        group, _, name = idname.partition(".")
        self.__dict__["rna"] = getattr(getattr(bpy.ops, group), name).get_rna_type()  # KeyError: no such operator
        self.__dict__["given"] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        assert name in self.rna.properties, f"{self.rna.identifier} has no {name!r}"
        if self.rna.properties[name].type == "ENUM":
            assert value in self.rna.properties[name].enum_items, f"{self.rna.identifier}.{name}: {value!r}"
        self.given[name] = value


@dataclass
class Said:
    """What was drawn: kind, text, icon and, for operators, idname and given properties."""

    kind: str
    text: str = ""
    icon: str = "NONE"
    idname: str = ""
    given: dict[str, Any] = field(default_factory=dict)


class RecordedLayout:
    """Every panel within it is open, unless its name is in `closed`."""

    def __init__(self, said: list[Said] | None = None, closed: tuple[str, ...] = ()) -> None:
        self.__dict__.update(said=[] if said is None else said, closed=closed, panels={})

    def __setattr__(self, name: str, value: Any) -> None:
        assert name in bpy.types.UILayout.bl_rna.properties, f"UILayout has no {name!r}"

    def __getattr__(self, name: str) -> Any:
        if name in _CONTAINERS:
            return lambda **keywords: self._inner(name, keywords)
        raise AttributeError(f"UILayout.{name} is not recorded")

    def _inner(self, name: str, keywords: dict[str, Any]) -> RecordedLayout:
        self._check(name, keywords)
        return RecordedLayout(self.said, self.closed)

    def _check(self, name: str, keywords: dict[str, Any]) -> None:
        known = bpy.types.UILayout.bl_rna.functions[name].parameters
        assert all(key in known for key in keywords), f"{name} does not take all of {sorted(keywords)}"

    def _say(self, kind: str, text: str, icon: str, **more: Any) -> None:
        assert icon in _ICONS, f"there is no icon {icon!r}"
        self.said.append(Said(kind, text, icon, **more))

    def label(self, *, text: str = "", icon: str = "NONE") -> None:
        assert "\n" not in text, "a label has one line"
        self._say("label", text, icon)

    def operator(self, idname: str, *, text: str = "", icon: str = "NONE", **more: Any) -> OperatorProperties:
        self._check("operator", more)
        properties = OperatorProperties(idname)
        self._say("operator", text or properties.rna.name, icon, idname=idname, given=properties.given)
        return properties

    def menu(self, idname: str, *, text: str = "", icon: str = "NONE") -> None:
        assert hasattr(bpy.types, idname), f"there is no menu {idname}"
        self._say("menu", text, icon, idname=idname)

    def prop(self, owner: Any, name: str, *, text: str = "", icon: str = "NONE", **more: Any) -> None:
        self._check("prop", more)
        assert name in owner.bl_rna.properties, f"{owner} has no {name!r}"
        self._say("prop", text or owner.bl_rna.properties[name].name, icon)

    def prop_search(self, owner: Any, name: str, source: Any, collection: str, **more: Any) -> None:
        assert collection in source.bl_rna.properties
        self.prop(owner, name, text=more.get("text", ""))

    def progress(self, *, factor: float, text: str = "", **more: Any) -> None:
        self._check("progress", more)
        assert 0.0 <= factor <= 1.0
        self._say("progress", text, "NONE")

    def template_icon(self, *, icon_value: int, scale: float = 1.0) -> None:
        self.said.append(Said("picture", str(icon_value)))

    def separator(self, *, factor: float = 1.0, **more: Any) -> None:
        """Nothing is said."""

    def panel(self, idname: str, *, default_closed: bool = False) -> tuple[RecordedLayout, RecordedLayout | None]:
        assert idname not in self.panels, f"two panels are called {idname}"
        self.panels[idname] = default_closed
        body = None if idname in self.closed else RecordedLayout(self.said, self.closed)
        return RecordedLayout(self.said, self.closed), body

    @property
    def words(self) -> str:
        """All that can be read, joined."""
        return " ".join(said.text for said in self.said if said.text)

    def operators(self) -> list[str]:
        return [said.idname for said in self.said if said.kind == "operator"]


def sidebar_context(width: int = 291) -> Any:
    """The context of a draw in a sidebar `width` px wide."""
    window_manager = bpy.context.window_manager
    return SimpleNamespace(
        scene=bpy.context.scene,
        region=SimpleNamespace(width=width),
        preferences=bpy.context.preferences,
        window_manager=window_manager,
        object=bpy.context.object,
        window=None,
    )
