"""Film a move at fal: order clips after a yes, settle requests of unknown fate, withdraw what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy

from ..core.errors import AnyMoCapError
from ..core.film.key import key_source
from ..core.film.ledger import Request
from ..jobs.film_survey import FilmSurvey, film_survey
from ..jobs.registry import REGISTRY
from ..jobs.stage_run import StageRun
from .foreground import run_or_start
from .preference_values import user_folder
from .reported_errors import ReportsErrors
from .running import HOST
from .said_polls import NeedsCreature
from .scene_settings import creature_paths, scene_paths, wanted_settings
from .settled_requests import DECISIONS, SettlesRequest
from .states import STATES

if TYPE_CHECKING:
    from bpy.types import Context

NO_KEY = "There is no fal key: enter it in the add-on's preferences"
_DIALOG_WIDTH = 420


def film_known(context: Context) -> FilmSurvey | None:
    """What is known of the film of the scene's move; reads no file."""
    states = STATES.of(context)
    return states.survey.film if states is not None and states.survey is not None else None


def cost_words(film: FilmSurvey) -> str:
    """ "2 new clips from MiniMax H3 Max, 5 s: about $0.80" """
    if film.model is None or film.choice is None:
        return ""
    clips = "1 new clip" if film.new == 1 else f"{film.new} new clips"
    price = "price unknown" if film.estimate_usd is None else f"about ${film.estimate_usd:.2f}"
    return f"{clips} of {film.choice.seconds:g} s from {film.model.label}: {price}"


def spent_words(film: FilmSurvey) -> str:
    """ "Spent today about $0.40 of at most $5.00, in all $2.10" """
    ceiling = film.choice.ceiling_usd if film.choice is not None else 0.0
    most = f" of at most ${ceiling:.2f}" if ceiling else ""
    return f"Spent today about ${film.spent_today_usd:.2f}{most}, in all ${film.spent_usd:.2f}"


class _FilmOperator(NeedsCreature, ReportsErrors):
    """What the operators share that run the stage film for the scene's move."""

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        move = context.scene.anymocap.move
        if not move:
            return "Name the move first"
        paths = scene_paths(context.scene)
        running = HOST.of(paths, "film", move) if paths is not None else None
        return "This move is being filmed" if running is not None and running.at_work else ""

    def film(self, context: Context, **once: Any) -> None:
        """Run the stage, with settings that hold for this run only."""
        stage = REGISTRY["film"]
        settings = {**wanted_settings(context, stage), "move": context.scene.anymocap.move, **once}
        # What is there counts as made; a run looks at the ledger and orders nothing twice, so it may always run.
        run = StageRun(creature_paths(context), stage, settings, pool=HOST.pool, force=True)
        run_or_start(run)
        if bpy.app.background:
            STATES.refresh(context)


class ANYMOCAP_OT_order_film(_FilmOperator, bpy.types.Operator):
    """Have the move filmed at fal. You see what it costs before anything is sent"""

    bl_idname = "anymocap.order_film"
    bl_label = "Film"

    yes: bpy.props.BoolProperty(  # type: ignore[valid-type]
        name="Pay", description="Pay for what is new", options={"SKIP_SAVE"}
    )

    film_shown: FilmSurvey | None = None

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        film = film_known(context)
        if film is None or bpy.app.background:
            return ""
        if not film.prompt:
            return "Write the prompt first"
        if film.unknown and not film.going:
            return "First say what became of the request whose reply was lost"
        if film.fault:
            return film.fault
        if not film.new and not film.going:
            return "These clips are there: choose other seeds for more"
        sends = film.new and not film.unknown
        return "" if not sends or key_source(user_folder()) != "none" else NO_KEY

    def invoke(self, context: Context, event: Any) -> set[str]:
        try:
            film = film_survey(
                creature_paths(context), context.scene.anymocap.move, wanted_settings(context, REGISTRY["film"])
            )
        except AnyMoCapError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if film.unknown or not film.new:  # what goes on at fal is fetched; it costs nothing
            return self.guarded(lambda: self.film(context))
        type(self).film_shown = film
        self.yes = True  # what the dialog's button says; a script gives it itself
        answer: set[str] = context.window_manager.invoke_props_dialog(
            self, width=_DIALOG_WIDTH, title="Pay for This Film?", confirm_text="Pay and Film"
        )
        return answer

    def draw(self, context: Context) -> None:
        film = type(self).film_shown
        assert film is not None and film.choice is not None and film.model is not None
        column = self.layout.column(align=True)
        column.label(text=cost_words(film), icon="INFO")
        column.label(
            text=f"Move {film.move}, seeds {', '.join(str(seed) for seed in film.choice.seeds)}", icon="BLANK1"
        )
        column.label(text=spent_words(film), icon="BLANK1")
        if film.model.note:
            column.label(text=film.model.note, icon="ERROR")
        column.label(text="An estimate: fal's own bill counts.", icon="BLANK1")
        column.operator("wm.url_open", text="Price and Terms", icon="URL").url = film.model.terms

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self.film(context, yes=self.yes))


class ANYMOCAP_OT_settle_request(_FilmOperator, SettlesRequest, bpy.types.Operator):
    """Say what became of a request whose reply was lost, after a look at the requests of your fal account"""

    bl_idname = "anymocap.settle_request"
    bl_label = "Settle"

    decision: bpy.props.EnumProperty(items=DECISIONS, name="What you found")  # type: ignore[valid-type]
    request: bpy.props.StringProperty(  # type: ignore[valid-type]
        name="Request ID", description="As the account's list of requests shows it", options={"SKIP_SAVE"}
    )

    def unknown(self, context: Context) -> tuple[Request, ...]:
        film = film_known(context)
        return film.unknown if film is not None else ()

    def go_on(self, context: Context, **once: Any) -> None:
        self.film(context, **once)


class ANYMOCAP_OT_withdraw_film(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Drop what still waits in fal's queue, which is free. What is being made is paid and will be fetched"""

    bl_idname = "anymocap.withdraw_film"
    bl_label = "Withdraw What Waits"

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._withdraw(context))

    def _withdraw(self, context: Context) -> None:
        paths, move = creature_paths(context), context.scene.anymocap.move
        running = HOST.of(paths, "film", move)
        if running is not None and running.at_work:
            HOST.cancel(running)  # the one that follows takes the requests over from the ledger
        settings = {**wanted_settings(context, REGISTRY["film"]), "move": move, "withdraw": True}
        run = StageRun(paths, REGISTRY["film"], settings, pool=HOST.pool, force=True)
        run_or_start(run)


class ANYMOCAP_OT_choose_film_model(NeedsCreature, bpy.types.Operator):
    """Film with this model"""

    bl_idname = "anymocap.choose_film_model"
    bl_label = "Choose Model"
    bl_options = {"UNDO", "INTERNAL"}

    name: bpy.props.StringProperty(name="Model")  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[str]:
        film = context.scene.anymocap.stages.film
        film.model, film.resolution = self.name, ""  # the words for a resolution are each model's own
        return {"FINISHED"}


class ANYMOCAP_OT_choose_film_resolution(NeedsCreature, bpy.types.Operator):
    """Film at this size"""

    bl_idname = "anymocap.choose_film_resolution"
    bl_label = "Choose Resolution"
    bl_options = {"UNDO", "INTERNAL"}

    word: bpy.props.StringProperty(name="Resolution")  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[str]:
        context.scene.anymocap.stages.film.resolution = self.word
        return {"FINISHED"}


class ANYMOCAP_OT_choose_move(NeedsCreature, bpy.types.Operator):
    """Work on this move"""

    bl_idname = "anymocap.choose_move"
    bl_label = "Choose Move"
    bl_options = {"UNDO", "INTERNAL"}

    name: bpy.props.StringProperty(name="Move")  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[str]:
        context.scene.anymocap.move = self.name
        STATES.refresh(context)
        return {"FINISHED"}


CLASSES: tuple[type, ...] = (
    ANYMOCAP_OT_order_film,
    ANYMOCAP_OT_settle_request,
    ANYMOCAP_OT_withdraw_film,
    ANYMOCAP_OT_choose_film_model,
    ANYMOCAP_OT_choose_film_resolution,
    ANYMOCAP_OT_choose_move,
)
