"""Several stages one after the other: the one way in which more than one stage is run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..core.errors import BadInputError, CancelledError
from ..core.project import CreaturePaths
from ..core.stage_record import load_record
from .events import Event
from .pool import Pool
from .registry import REGISTRY
from .stage import Registry, Stage
from .stage_run import StageResult, StageRun
from .state import remembered_settings, stage_state

Values = dict[str, Any]
SettingsOf = Callable[[Stage, str | None], Values]


@dataclass(frozen=True)
class Planned:
    """One stage of a plan.

    Attributes:
        settings: by name, or what makes them when the stage's turn comes, for what earlier stages decide.
        item: clip or move, for stages that have one result for each.
        here: it changes the scene of this Blender, which is done whenever it is asked for.
    """

    stage_name: str
    settings: Values | Callable[[], Values] = field(default_factory=dict)
    item: str | None = None
    here: bool = False


class PlanRun:
    """Runs stages in order and stops at the first that fails. Iterate it like a StageRun; never blocks.

    A stage whose result is ready is passed over.

    Attributes:
        planned: what is to be run.
        index: number of the stage at work.
        current: its run; None before the first.
        results: results of the stages that have ended.

    Raises (while iterating):
        AnyMoCapError: what the stage at work raised; `index` tells which it is. The ones before it stay done.
        CancelledError: after `cancel()`.
    """

    def __init__(
        self, paths: CreaturePaths, planned: list[Planned], *, pool: Pool, registry: Registry = REGISTRY
    ) -> None:
        self.paths, self.planned, self.registry = paths, list(planned), registry
        self.index = 0
        self.current: StageRun | None = None
        self.results: list[StageResult] = []
        self._pool = pool
        self._cancelled = False
        self._events = self._run()

    def __iter__(self) -> Iterator[Event | None]:
        return self._events

    def runs(self) -> Iterator[StageRun]:
        """The stages' runs in order, each to be driven to its end before the next is taken."""
        while self.index < len(self.planned):
            if self._cancelled:
                raise CancelledError()
            planned = self.planned[self.index]
            self.current = self._new_run(planned)
            yield self.current
            if self.current.result is not None:
                self.results.append(self.current.result)
            self.index += 1

    def cut(self, index: int) -> None:
        """Leave out the stages from `index` on, which must not be at work yet."""
        del self.planned[max(index, self.index + 1) :]

    def cancel(self) -> None:
        """Ask it to stop; go on iterating until CancelledError comes."""
        self._cancelled = True
        if self.current is not None:
            self.current.cancel()

    def close(self) -> None:
        """Stop it now; the stage at work stays resumable."""
        if self.current is not None:
            self.current.close()

    def _run(self) -> Iterator[Event | None]:
        for run in self.runs():
            yield from run

    def _new_run(self, planned: Planned) -> StageRun:
        settings = planned.settings() if callable(planned.settings) else planned.settings
        return StageRun(
            self.paths,
            self.registry[planned.stage_name],
            settings,
            pool=self._pool,
            registry=self.registry,
            here=planned.here,
            force=planned.here,
        )


def stale_plan(
    registry: Registry, paths: CreaturePaths, clips: list[str], settings_of: SettingsOf | None = None
) -> list[Planned]:
    """All that may be missing or stale: stages that start by themselves, and those that ran before.

    Which of them are ready is seen when their turn comes, since the ones before decide.

    Args:
        clips: the clips to capture, after the stages of the creature itself.
        settings_of: settings of a stage for a clip; those of its last run by default.

    Raises:
        BadInputError: the creature has no mesh, or a clip no video.
    """
    settings_of = settings_of or as_last_time(paths)
    _check_mesh(registry, paths, settings_of)
    for clip in clips if "detect" in registry else []:
        _check_clip(registry, paths, clip, settings_of)
    planned = []
    for item, per in [(None, "creature"), *((clip, "clip") for clip in clips)]:
        for stage in registry:
            record = load_record(paths, stage.name, item) if stage.per == per else None
            if record is not None and record.cleaned and not _needed_again(registry, paths, stage, settings_of):
                continue
            if stage.per == per and not stage.paid and (stage.starts_by_itself(paths, item) or record is not None):
                planned.append(Planned(stage.name, settings_of(stage, item), item))
    return planned


def _needed_again(registry: Registry, paths: CreaturePaths, stage: Stage, settings_of: SettingsOf) -> bool:
    """Whether a later stage has to run that reads what was cleaned away."""
    states = [
        stage_state(registry, paths, other, None, settings_of(other, None))
        for other in registry.readers(stage, paths, settings_of(stage, None))
    ]
    return any(state.word != "ready" for state in states)


def as_last_time(paths: CreaturePaths) -> SettingsOf:
    """Settings of the last run of each stage."""
    return lambda stage, item: remembered_settings(stage, item, load_record(paths, stage.name, item))


def _check_mesh(registry: Registry, paths: CreaturePaths, settings_of: SettingsOf) -> None:
    if paths.model().exists() or load_record(paths, "prep") is not None:
        return
    if "prep" in registry and settings_of(registry["prep"], None)["mesh"]:
        return
    raise BadInputError(
        "The creature has no mesh.", file=paths.model(), hint="Put one there, or run prep with --mesh FILE."
    )


def _check_clip(registry: Registry, paths: CreaturePaths, clip: str, settings_of: SettingsOf) -> None:
    """Say before anything is drawn or trained that there is nothing to read."""
    detect = registry["detect"]
    video = detect.inputs(paths, settings_of(detect, clip))[0]
    if load_record(paths, "detect", clip) is None and not video.exists():
        raise BadInputError(
            f"There is no video for the clip {clip!r}.",
            file=video,
            hint=f"Run `detect --clip {clip} --video FILE` once there is a reader, or `exam --clip {clip}`.",
        )
