"""The bone map in the panel: what became of each bone, and the artist's changes. Rig obeys them when it runs again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy

from ..core.bone_map import BoneEdit, BoneMap, BoneState, load_bone_map, save_bone_map
from ..core.errors import BadInputError
from .reported_errors import ReportsErrors
from .running import HOST
from .said_polls import NeedsCreature
from .scene_settings import creature_paths

if TYPE_CHECKING:
    from bpy.types import Context

STATE_WORDS = {"captured": "Captured", "driven": "Follows others", "left_out": "Left out"}
_FOUND = "FOUND"


class ANYMOCAP_PG_bone(bpy.types.PropertyGroup):
    """One row of the list."""

    state: bpy.props.StringProperty()  # type: ignore[valid-type]
    parent: bpy.props.StringProperty()  # type: ignore[valid-type]
    reason: bpy.props.StringProperty()  # type: ignore[valid-type]
    depth: bpy.props.IntProperty()  # type: ignore[valid-type]
    edited: bpy.props.BoolProperty()  # type: ignore[valid-type]


class ANYMOCAP_PG_bone_map(bpy.types.PropertyGroup):
    """The list that is shown; `of` is the file that it was read from, empty while none is."""

    of: bpy.props.StringProperty()  # type: ignore[valid-type]
    bones: bpy.props.CollectionProperty(type=ANYMOCAP_PG_bone)  # type: ignore[valid-type]
    at: bpy.props.IntProperty(name="Bone", description="Bone that the buttons below change")  # type: ignore[valid-type]


def fill(context: Context, bone_map: BoneMap, file: str) -> None:
    """Show `bone_map`; the chosen bone stays chosen."""
    shown = context.window_manager.anymocap_bone_map
    chosen = shown.bones[shown.at].name if shown.at < len(shown.bones) else ""
    shown.bones.clear()
    depth: dict[str, int] = {}
    for bone in bone_map.bones:
        row = shown.bones.add()
        row.name, row.state, row.parent = bone.name, bone.state, bone.parent or ""
        row.reason = bone.reason
        row.depth = depth[bone.name] = depth.get(bone.parent, -1) + 1 if bone.parent else 0
        edit = bone_map.edits.get(bone.name)
        row.edited = edit is not None
        if edit is not None:
            row.state, row.parent = edit.state or row.state, edit.parent or row.parent
    shown.at = max(0, shown.bones.find(chosen))
    shown.of = file


class _ChangesMap(NeedsCreature, ReportsErrors):
    """For operators on the creature's bone map."""

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        running = HOST.of(creature_paths(context), "rig", None)
        return "Rig is at work" if running is not None and running.word == "running" else ""

    def _changed(self, context: Context, edits: dict[str, BoneEdit | None]) -> None:
        """Write these edits (None: as it was found) and show the map."""
        file = creature_paths(context).bone_map
        bone_map = load_bone_map(file)
        kept = {**bone_map.edits, **edits}
        bone_map = replace(bone_map, edits={name: edit for name, edit in kept.items() if edit is not None})
        if edits:
            save_bone_map(file, bone_map)
        fill(context, bone_map, str(file))
        HOST.touch()


class ANYMOCAP_OT_show_bones(_ChangesMap, bpy.types.Operator):
    """Show what became of each bone of the armature, and why"""

    bl_idname = "anymocap.show_bones"
    bl_label = "Show Bones"

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._changed(context, {}))


class ANYMOCAP_OT_edit_bone(_ChangesMap, bpy.types.Operator):
    """Capture this bone, leave it out, or hang it on another one. Holds from the next Rig on"""

    bl_idname = "anymocap.edit_bone"
    bl_label = "Change Bone"
    bl_options = {"REGISTER"}

    bone: bpy.props.StringProperty(name="Bone")  # type: ignore[valid-type]
    state: bpy.props.EnumProperty(  # type: ignore[valid-type]
        name="Is",
        items=(
            (_FOUND, "As found", "What AnyMoCap found"),
            ("captured", "Captured", "The motion is fitted to it"),
            ("driven", "Follows others", "A twist or helper bone: the rig moves it"),
            ("left_out", "Left out", "It takes no part; what hangs on it hangs on its parent"),
        ),
        default=_FOUND,
    )
    parent: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Hangs on", description="Captured bone that it hangs on; empty = as found"
    )

    def invoke(self, context: Context, event: Any) -> set[str]:
        try:
            edit = load_bone_map(creature_paths(context).bone_map).edits.get(self.bone, BoneEdit())
        except BadInputError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.state, self.parent = edit.state or _FOUND, edit.parent
        answer: set[str] = context.window_manager.invoke_props_dialog(self, width=360)
        return answer

    def draw(self, context: Context) -> None:
        column = self.layout.column()
        column.label(text=self.bone, icon="BONE_DATA")
        column.prop(self, "state")
        column.prop_search(self, "parent", context.window_manager.anymocap_bone_map, "bones", icon="BONE_DATA")

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._changed(context, {self.bone: self._edit(context)}))

    def _edit(self, context: Context) -> BoneEdit | None:
        known = {bone.name for bone in load_bone_map(creature_paths(context).bone_map).bones}
        for name in filter(None, (self.bone, self.parent)):
            if name not in known:
                raise BadInputError(f"The armature has no bone {name!r}.", hint="Choose one of the list.")
        if self.parent == self.bone:
            raise BadInputError(f"Bone {self.bone!r} cannot hang on itself.", hint="Choose another one.")
        state: BoneState | None = None if self.state == _FOUND else self.state
        return BoneEdit(state, self.parent) if state or self.parent else None


class ANYMOCAP_OT_reset_bones(_ChangesMap, bpy.types.Operator):
    """Take your changes back: this bone, or all bones, become what was found"""

    bl_idname = "anymocap.reset_bones"
    bl_label = "Reset Bones"

    bone: bpy.props.StringProperty(name="Bone", description="Empty = all bones")  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._reset(context))

    def _reset(self, context: Context) -> None:
        edits = load_bone_map(creature_paths(context).bone_map).edits
        self._changed(context, {name: None for name in edits if self.bone in ("", name)})


CLASSES: tuple[type, ...] = (
    ANYMOCAP_PG_bone,
    ANYMOCAP_PG_bone_map,
    ANYMOCAP_OT_show_bones,
    ANYMOCAP_OT_edit_bone,
    ANYMOCAP_OT_reset_bones,
)


def register() -> None:
    """The list lives with the window, not with the file."""
    bpy.types.WindowManager.anymocap_bone_map = bpy.props.PointerProperty(type=ANYMOCAP_PG_bone_map)


def unregister() -> None:
    del bpy.types.WindowManager.anymocap_bone_map
