"""The takes of a film: each is looked at by the source gate as soon as it is there; one is used, or thrown away."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import bpy

from ..core.atomic import write_error
from ..core.errors import AnyMoCapError, BadInputError
from ..core.film.filmed_clips import add_filmed_clips
from ..core.project import CreaturePaths
from ..jobs.film_survey import Take, film_survey
from ..jobs.plan import Planned, PlanRun
from ..jobs.registry import REGISTRY
from .film_operators import film_known
from .foreground import run_to_end
from .reported_errors import ReportsErrors
from .running import HOST
from .running_stage import RunningStage
from .said_polls import NeedsCreature
from .scene_settings import creature_paths
from .states import STATES

if TYPE_CHECKING:
    from bpy.types import Context

_TRASH = "thrown_away"


def check_takes(running: RunningStage) -> None:
    """A film has ended: what came of it is taken in and checked, also where something else of it failed."""
    if running.stage.name == "film" and not bpy.app.background:
        _check(running.paths, str(running.item))


def _check(paths: CreaturePaths, move: str) -> None:
    """Each take in a plan of its own: one that is refused stops no other."""
    add_filmed_clips(paths, move)
    values = REGISTRY["film"].item_settings(move)
    for take in film_survey(paths, move, values).takes:
        if take.verdict == "unchecked" and HOST.of(paths, "gate", take.clip) is None:
            HOST.start_plan(_look_at(paths, take.clip), "Check")


def _look_at(paths: CreaturePaths, clip: str, **settings: Any) -> PlanRun:
    planned = [
        Planned("take", {**REGISTRY["take"].item_settings(clip)}, clip),
        Planned("gate", {**REGISTRY["gate"].item_settings(clip), **settings}, clip),
    ]
    return PlanRun(paths, planned, pool=HOST.pool)


class _TakeOperator(NeedsCreature, ReportsErrors):
    """What the operators of one take share."""

    seed: int
    model: str

    def take(self, context: Context) -> Take:
        """The take that was pressed.

        Raises:
            BadInputError: it is gone.
        """
        paths, move = creature_paths(context), context.scene.anymocap.move
        add_filmed_clips(paths, move)
        for take in film_survey(paths, move, REGISTRY["film"].item_settings(move)).takes:
            if (take.seed, take.model) == (self.seed, self.model):
                return take
        raise BadInputError(f"The take of seed {self.seed} is gone.", key=self.model)


class ANYMOCAP_OT_use_take(_TakeOperator, bpy.types.Operator):
    """Work on this take: it becomes the clip that is read and fitted"""

    bl_idname = "anymocap.use_take"
    bl_label = "Use This Take"
    bl_options = {"UNDO"}

    seed: bpy.props.IntProperty(name="Seed")  # type: ignore[valid-type]
    model: bpy.props.StringProperty(name="Model")  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._use(context))

    def _use(self, context: Context) -> None:
        context.scene.anymocap.clip = self.take(context).clip
        STATES.refresh(context)


class ANYMOCAP_OT_check_takes(NeedsCreature, ReportsErrors, bpy.types.Operator):
    """Look whether the takes are worth reading: both views in step, colours held, camera locked, nothing cut off"""

    bl_idname = "anymocap.check_takes"
    bl_label = "Check the Takes"

    @classmethod
    def why_not(cls, context: Context) -> str:
        if reason := super().why_not(context):
            return reason
        film = film_known(context)
        unchecked = film is not None and any(take.verdict == "unchecked" for take in film.takes)
        return "" if unchecked or bpy.app.background else "All takes are checked"

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._run(context))

    def _run(self, context: Context) -> None:
        paths, move = creature_paths(context), context.scene.anymocap.move
        add_filmed_clips(paths, move)
        for take in film_survey(paths, move, REGISTRY["film"].item_settings(move)).takes:
            if take.verdict != "unchecked":
                continue
            plan = _look_at(paths, take.clip)
            if not bpy.app.background:
                HOST.start_plan(plan, "Check")
                continue
            try:
                run_to_end(plan)
            except AnyMoCapError as error:  # a take that is refused stops no other
                self.report({"WARNING"}, str(error))
        STATES.refresh(context)


class ANYMOCAP_OT_allow_take(_TakeOperator, bpy.types.Operator):
    """Read this take all the same, although the check refuses it"""

    bl_idname = "anymocap.allow_take"
    bl_label = "Allow"

    seed: bpy.props.IntProperty(name="Seed")  # type: ignore[valid-type]
    model: bpy.props.StringProperty(name="Model")  # type: ignore[valid-type]

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._allow(context))

    def _allow(self, context: Context) -> None:
        plan = _look_at(creature_paths(context), self.take(context).clip, allow=True)
        if bpy.app.background:
            run_to_end(plan)
        else:
            HOST.start_plan(plan, "Allow")


class ANYMOCAP_OT_throw_take_away(_TakeOperator, bpy.types.Operator):
    """Take the file off the list. It was paid, so it is kept in the folder thrown_away"""

    bl_idname = "anymocap.throw_take_away"
    bl_label = "Throw Away"

    seed: bpy.props.IntProperty(name="Seed")  # type: ignore[valid-type]
    model: bpy.props.StringProperty(name="Model")  # type: ignore[valid-type]

    def invoke(self, context: Context, event: Any) -> set[str]:
        answer: set[str] = context.window_manager.invoke_confirm(
            self,
            event,
            title="Throw this take away?",
            message=f"It was paid: its file is kept in the folder {_TRASH}, with all that was read in it.",
        )
        return answer

    def execute(self, context: Context) -> set[str]:
        return self.guarded(lambda: self._throw(context))

    def _throw(self, context: Context) -> None:
        take, paths, settings = self.take(context), creature_paths(context), context.scene.anymocap
        if HOST.at_work(paths):
            raise BadInputError("A stage of this creature is at work.", hint="Wait for its end, or cancel it.")
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
        trash = paths.runs / _TRASH / f"{take.clip}_{stamp}"
        try:
            trash.mkdir(parents=True, exist_ok=True)
            for path in (paths.clip(take.clip).folder, take.file.with_suffix(".json"), take.file):  # the film last
                if path.exists():
                    path.replace(trash / path.name)
        except OSError as error:
            raise write_error(trash, error) from None
        if settings.clip == take.clip:
            settings.clip = ""
        STATES.refresh(context)
        self.report({"INFO"}, f"Kept in {trash}")


CLASSES: tuple[type, ...] = (
    ANYMOCAP_OT_use_take,
    ANYMOCAP_OT_check_takes,
    ANYMOCAP_OT_allow_take,
    ANYMOCAP_OT_throw_take_away,
)


def register() -> None:
    """A film that has ended is checked."""
    HOST.when_ended.append(check_takes)


def unregister() -> None:
    """No more."""
    HOST.when_ended.remove(check_takes)
