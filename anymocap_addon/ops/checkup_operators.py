"""Check the creature, answer the question which way it faces, and make the safe fixes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import bpy

from ..blender.checkup import look_here
from ..blender.creature_fixes import apply_fixes
from ..blender.import_mesh import object_family
from ..core.checkup.file import load_checkup
from ..core.checkup.orientation import UPS
from ..core.checkup.prep_fixes import add_prep_fixes, confirm_facing, drop_prep_fixes, own_creature
from ..core.creature import PrepFix, save_creature
from ..core.errors import BadInputError
from ..jobs.registry import REGISTRY
from ..jobs.stage_run import StageRun
from .foreground import run_to_end
from .reported_errors import ReportsErrors
from .running import HOST
from .said_polls import NeedsCreature
from .scene_settings import creature_paths, wanted_settings
from .states import STATES

if TYPE_CHECKING:
    from bpy.types import Context


def scene_object(context: Context) -> str:
    """Name of the open scene's object that the creature is taken from; empty when it comes from a file."""
    wanted = wanted_settings(context, REGISTRY["prep"])
    name = str(wanted["object"] or "")
    own_snapshot = not wanted["mesh"] or str(wanted["mesh"]) == str(_snapshot(context))
    return name if own_snapshot and name in bpy.data.objects else ""


def _snapshot(context: Context) -> str:
    return str(creature_paths(context).static_blend.with_name("source.blend"))


def check_again(context: Context) -> None:
    """Look at the creature: at once where it stands in the open scene, else in a background Blender.

    Raises:
        AnyMoCapError: as the stage.
    """
    paths = creature_paths(context)
    name = scene_object(context)
    if name:
        creature = own_creature(paths)
        # On the artist's own objects the fixes are made for good, so the list for prep's copy is not needed.
        look_here(paths, creature, name)
        STATES.refresh(context)
        return
    wanted = wanted_settings(context, REGISTRY["prep"])
    settings = {"mesh": wanted["mesh"], "object": wanted["object"]}
    run = StageRun(paths, REGISTRY["checkup"], settings, pool=HOST.pool, force=True)
    if bpy.app.background:
        run_to_end(run)
    else:
        HOST.start(run)


class ANYMOCAP_OT_check_creature(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Look whether the creature can be captured as it is: scale, facing, weights, bones, names. Changes nothing"""

    bl_idname = "anymocap.check_creature"
    bl_label = "Check the Creature"

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: check_again(context))


class ANYMOCAP_OT_fix_creature(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Mend this: on your objects, with undo, where they are in this scene; else on the copy that Prep makes"""

    bl_idname = "anymocap.fix_creature"
    bl_label = "Fix"
    bl_options = {"UNDO", "INTERNAL"}

    fix: bpy.props.StringProperty(name="Fix", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    names: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Names", description="Objects or bones, a line each; none = all", options={"SKIP_SAVE"}
    )

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._fix(context))

    def _fix(self, context: Context) -> None:
        item = PrepFix(self.fix, tuple(filter(None, self.names.split("\n"))))
        name = scene_object(context)
        if name:
            if context.mode != "OBJECT":
                raise BadInputError("Fixes are made in Object Mode.", hint="Leave this mode first (Tab).")
            named = [bpy.data.objects[n] for n in item.names if n in bpy.data.objects]
            notes = apply_fixes(list(dict.fromkeys([*object_family(bpy.data.objects[name]), *named])), [item])
            self.report({"INFO"}, " ".join(notes) or "There was nothing to mend")
        else:
            add_prep_fixes(creature_paths(context), [item])
        check_again(context)


class ANYMOCAP_OT_drop_fixes(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Take the creature's file as it is: Prep mends nothing any more"""

    bl_idname = "anymocap.drop_fixes"
    bl_label = "Mend Nothing"
    bl_options = {"INTERNAL"}

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._drop(context))

    def _drop(self, context: Context) -> None:
        drop_prep_fixes(creature_paths(context))
        check_again(context)


class ANYMOCAP_OT_set_facing(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Say which way the creature stands and faces; the picture shows it so, and Prep turns it"""

    bl_idname = "anymocap.set_facing"
    bl_label = "Set Facing"
    bl_options = {"UNDO", "INTERNAL"}

    how: bpy.props.EnumProperty(  # type: ignore[valid-type]
        items=[
            ("CONFIRM", "Faces This Way", "The arrow points where the creature looks, and its feet are below"),
            ("TURN", "Turn", "Turn it about the vertical"),
            ("UP", "Up", "Another axis of the file points up"),
            ("SUGGESTED", "As Suggested", "Take what bones or shape suggest"),
        ],
        options={"SKIP_SAVE"},
    )
    degrees: bpy.props.FloatProperty(name="Degrees", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    up: bpy.props.EnumProperty(  # type: ignore[valid-type]
        items=[(up, up.upper(), f"{up.upper()} of the file points up") for up in UPS], options={"SKIP_SAVE"}
    )

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._set(context))

    def _set(self, context: Context) -> None:
        paths = creature_paths(context)
        creature = own_creature(paths)
        prep = creature.prep
        if self.how == "TURN":
            turn = (prep.rotz_deg + self.degrees + 180.0) % 360.0 - 180.0
            prep = replace(prep, rotz_deg=180.0 if turn == -180.0 else turn)
        elif self.how == "UP":
            prep = replace(prep, up=self.up)
        elif self.how == "SUGGESTED":
            guess = load_checkup(paths.checkup_json).suggestion
            prep = replace(prep, up=guess.up, rotz_deg=guess.turn_deg)
        paths.assets.mkdir(parents=True, exist_ok=True)
        save_creature(paths.creature_json, replace(creature, prep=prep))
        if self.how == "CONFIRM":
            confirm_facing(paths)
        # What prep was run with before would outdo creature.json.
        chosen = context.scene.anymocap.stages.prep
        chosen.rotz_deg, chosen.up = prep.rotz_deg, prep.up
        check_again(context)


CLASSES: tuple[type, ...] = (
    ANYMOCAP_OT_check_creature,
    ANYMOCAP_OT_fix_creature,
    ANYMOCAP_OT_drop_fixes,
    ANYMOCAP_OT_set_facing,
)
