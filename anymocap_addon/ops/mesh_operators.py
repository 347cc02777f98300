"""A mesh from one picture, made at fal after a yes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import bpy

from ..core.errors import AnyMoCapError
from ..core.film.key import key_source
from ..core.film.ledger import Request
from ..core.film.order import Order
from ..core.film.orders import mesh_order
from ..jobs.registry import REGISTRY
from ..jobs.stage_run import StageRun
from .film_operators import NO_KEY, film_known
from .foreground import run_or_start
from .preference_values import user_folder
from .reported_errors import ReportsErrors
from .running import HOST
from .said_polls import NeedsCreature
from .scene_settings import creature_paths, scene_paths, wanted_settings
from .settled_requests import DECISIONS, SettlesRequest

if TYPE_CHECKING:
    from bpy.types import Context

_PICTURES = "*.png;*.jpg;*.jpeg;*.webp"
_DIALOG_WIDTH = 420


class ANYMOCAP_OT_pick_mesh_picture(NeedsCreature, bpy.types.Operator):
    """Choose one picture of the creature: alone, whole, limbs apart, on a plain backdrop. A mesh is made from it at
    fal; you see what it costs before anything is sent"""

    bl_idname = "anymocap.pick_mesh_picture"
    bl_label = "Make a Mesh from a Picture"

    filepath: bpy.props.StringProperty(subtype="FILE_PATH")  # type: ignore[valid-type]
    filter_glob: bpy.props.StringProperty(default=_PICTURES, options={"HIDDEN"})  # type: ignore[valid-type]

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        paths = scene_paths(context.scene)
        running = HOST.of(paths, "mesh") if paths is not None else None
        if running is not None and running.at_work:
            return "A mesh is being made"
        return "" if key_source(user_folder()) != "none" else NO_KEY

    def invoke(self, context: Context, event: Any) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Context) -> set[str]:
        answer: set[str] = bpy.ops.anymocap.order_mesh("INVOKE_DEFAULT", picture=self.filepath)
        return {"FINISHED"} if answer != {"CANCELLED"} else answer


class ANYMOCAP_OT_order_mesh(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Have a mesh made from the picture"""

    bl_idname = "anymocap.order_mesh"
    bl_label = "Make Mesh"
    bl_options = {"INTERNAL"}

    picture: bpy.props.StringProperty(subtype="FILE_PATH", options={"SKIP_SAVE"})  # type: ignore[valid-type]
    yes: bpy.props.BoolProperty(name="Pay", options={"SKIP_SAVE"})  # type: ignore[valid-type]

    order: Order | None = None

    def invoke(self, context: Context, event: Any) -> set[str]:
        try:
            type(self).order = mesh_order(creature_paths(context), self._settings(context))
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.yes = True  # what the dialog's button says; a script gives it itself
        answer: set[str] = context.window_manager.invoke_props_dialog(
            self, width=_DIALOG_WIDTH, title="Pay for This Mesh?", confirm_text="Pay and Make"
        )
        return answer

    def draw(self, context: Context) -> None:
        order = type(self).order
        assert order is not None
        price = "price unknown: see its page" if order.estimate_usd is None else f"about ${order.estimate_usd:.2f}"
        column = self.layout.column(align=True)
        column.label(text=f"One mesh from {order.model.label}: {price}", icon="INFO")
        column.label(text=f"Picture {Path(self.picture).name}", icon="BLANK1")
        column.label(text="An estimate: fal's own bill counts.", icon="BLANK1")
        column.operator("wm.url_open", text="Price and Terms", icon="URL").url = order.model.terms

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._make(context))

    def _make(self, context: Context) -> None:
        _start(context, {**self._settings(context), "yes": self.yes})

    def _settings(self, context: Context) -> dict[str, Any]:
        return {**wanted_settings(context, REGISTRY["mesh"]), "picture": bpy.path.abspath(self.picture)}


class ANYMOCAP_OT_settle_mesh_request(NeedsCreature, SettlesRequest, bpy.types.Operator):
    """Say what became of the request for a mesh whose reply was lost, after a look at your fal account's requests"""

    bl_idname = "anymocap.settle_mesh_request"
    bl_label = "Settle"

    decision: bpy.props.EnumProperty(items=DECISIONS, name="What you found")  # type: ignore[valid-type]
    request: bpy.props.StringProperty(name="Request ID", options={"SKIP_SAVE"})  # type: ignore[valid-type]

    def unknown(self, context: Context) -> tuple[Request, ...]:
        film = film_known(context)
        return film.mesh_unknown if film is not None else ()

    def go_on(self, context: Context, **once: Any) -> None:
        _start(context, {**wanted_settings(context, REGISTRY["mesh"]), **once})


def _start(context: Context, settings: dict[str, Any]) -> None:
    run = StageRun(creature_paths(context), REGISTRY["mesh"], settings, pool=HOST.pool, force=True)
    run_or_start(run)


CLASSES: tuple[type, ...] = (
    ANYMOCAP_OT_pick_mesh_picture,
    ANYMOCAP_OT_order_mesh,
    ANYMOCAP_OT_settle_mesh_request,
)
