"""All that a panel shows of a creature, gathered in small parts so that no part keeps a window waiting."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..core.clip_source import known_clips
from ..core.errors import AnyMoCapError
from ..core.file_mark import hashing
from ..core.project import CreaturePaths
from .checkup_survey import CheckupSurvey, checkup_survey, facing_is_asked
from .clip_summary import ClipSummary, is_test_of, summarise_clip
from .cores import usable_cores
from .expected_seconds import expected_seconds
from .film_survey import FilmSurvey, film_survey
from .next_step import NextStep, Situation, next_step
from .plain_reason import plain_reason
from .reader_test import STAGES as TEST_STAGES
from .rig_builder_survey import RigBuilderSurvey, rig_builder_survey
from .setting_paths import portable_paths
from .stage import Registry, Stage
from .stage_figure import stage_doubt
from .state import StageState, StateReader, unsure_inputs

Settings = dict[str, Any]


@dataclass(frozen=True)
class Survey:
    """What is known of a creature and of its active clip.

    Attributes:
        clip: name of the active clip, empty when none is chosen.
        film: of the active move.
        clips: all clips, by name.
        states: by stage name; stages of a clip or move are left out while none is chosen.
        blocked: why a stage cannot run yet, by stage name.
        seconds: what a stage would take, by stage name; "test" is the test of the reader.
        made_elsewhere: stages that never ran here although all that they make is there.
        next_step: the one next step.
        has_armature: there is an armature to put a motion on.
        error: what keeps the states from being known (a damaged creature.json), one sentence, else empty.
        unsure: a file could not be read.
        watched: files and folders whose change makes all this out of date.
        checkup: the last check-up, None where there was none.
        rig_builder: the skeleton of a creature that came without one; None where it was not looked at.
    """

    paths: CreaturePaths
    clip: str
    film: FilmSurvey | None
    clips: tuple[ClipSummary, ...]
    states: Mapping[str, StageState]
    blocked: Mapping[str, str]
    seconds: Mapping[str, float | None]
    made_elsewhere: frozenset[str]
    next_step: NextStep
    has_armature: bool = True
    error: str = ""
    unsure: bool = False
    watched: tuple[Path, ...] = ()
    checkup: CheckupSurvey | None = None
    rig_builder: RigBuilderSurvey | None = None

    def summary(self, clip: str) -> ClipSummary | None:
        """The clip of this name."""
        return next((summary for summary in self.clips if summary.name == clip), None)


@dataclass
class _Findings:
    """What the stages were found to be."""

    states: dict[str, StageState] = field(default_factory=dict)
    blocked: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float | None] = field(default_factory=dict)
    made_elsewhere: set[str] = field(default_factory=set)
    watched: set[Path] = field(default_factory=set)
    errors: list[AnyMoCapError] = field(default_factory=list)


def survey(
    registry: Registry,
    paths: CreaturePaths,
    clip: str,
    wanted: Callable[[Stage], Settings],
    has_armature: bool = True,
    move: str = "",
) -> Generator[None, None, Survey]:
    """Look at all stages and clips, one at each step of the generator; it returns the survey.

    Args:
        clip: the active clip, empty for none.
        wanted: the settings that a stage would run with, paths absolute.
        has_armature: there is an armature to put a motion on.
        move: the active move, empty for none.
    """
    items = {"creature": None, "clip": clip, "move": move}
    reader, found, cores = StateReader(registry, paths), _Findings(), usable_cores()
    for stage in registry:
        item = items[stage.per]
        if item != "":
            try:
                yield from hashing(unsure_inputs(paths, stage, item))
                _look_at(registry, paths, stage, item, wanted, reader, found, cores)
            except AnyMoCapError as error:
                found.states[stage.name] = StageState(stage, item, "failed", error.message, None)
                found.errors.append(error)
            yield
    _want_again(registry, paths, found)
    clips = []
    for name in known_clips(paths):
        clips.append(_summary(paths, name, found))
        yield
    film = film_survey(paths, move, wanted(registry["film"])) if "film" in registry else None
    yield
    found.seconds["test"] = sum(expected_seconds(name, {}, None, cores) or 0.0 for name in TEST_STAGES)
    found.watched |= {paths.creature_json, paths.stages, paths.assets, paths.runs / "clips", paths.runs / "exam"}
    found.watched |= set(film.watched) if film is not None else set()
    found.watched |= {paths.checkup_json, paths.facing_png}
    checked = checkup_survey(paths)
    yield
    found.watched |= {paths.rig_json, paths.rig_sheet, paths.skin_png, paths.static_blend}
    builder = rig_builder_survey(paths, found.states)
    lacks_skeleton = builder.bare is True and not builder.has_skeleton
    if lacks_skeleton and "rig" not in found.blocked:
        found.blocked["rig"] = _NO_SKELETON
    yield
    return Survey(
        paths=paths,
        clip=clip,
        film=film,
        clips=tuple(clips),
        states=found.states,
        blocked=found.blocked,
        seconds=found.seconds,
        made_elsewhere=frozenset(found.made_elsewhere),
        next_step=next_step(_situation(paths, clip, clips, found, has_armature, film, lacks_skeleton, checked)),
        has_armature=has_armature,
        error=_damage(paths, found.errors),
        unsure=bool(found.errors),
        watched=tuple(sorted(found.watched)),
        checkup=checked,
        rig_builder=builder,
    )


def _look_at(
    registry: Registry,
    paths: CreaturePaths,
    stage: Stage,
    item: str | None,
    wanted: Callable[[Stage], Settings],
    reader: StateReader,
    found: _Findings,
    cores: int,
) -> None:
    values = portable_paths(stage, wanted(stage), paths.root)
    state = reader.state(stage, item, values)
    state = replace(state, because=plain_reason(state.because, registry)) if state.word == "stale" else state
    found.states[stage.name] = state
    found.seconds[stage.name] = expected_seconds(stage.name, values, state.record, cores)
    inputs, outputs = stage.inputs(paths, values), stage.outputs(paths, values)
    found.watched.update(inputs, stage.optional_inputs(paths, values), outputs)
    if reason := _blocked(registry, paths, stage, item, values, inputs):
        found.blocked[stage.name] = reason
    elif state.word == "missing" and outputs and all(path.exists() for path in outputs):
        found.made_elsewhere.add(stage.name)


def _blocked(
    registry: Registry, paths: CreaturePaths, stage: Stage, item: str | None, values: Settings, inputs: list[Path]
) -> str:
    """Why the stage cannot run yet, as its tooltip says it; empty when it can."""
    gathered = stage.gather and values.get("object") and not values.get("mesh")
    for path in inputs:
        if path.exists() or gathered:
            continue
        makers = [
            other
            for other in registry.upstream(stage, paths, values)
            if other.automatic and path in other.outputs(paths, other.item_settings(item))
        ]
        if makers:
            return (
                f"{stage.label} needs the {_NOUNS.get(makers[-1].name, makers[-1].label)}: run {makers[-1].label} first"
            )
        return _NO_FILE.get(stage.name, f"{stage.label} needs {path.name}, which is not there")
    return ""


_NOUNS = {
    "prep": "prepped mesh",
    "rig": "rig",
    "ref": "reference",
    "dataset": "dataset",
    "train": "reader",
    "detect": "reading",
    "fit": "motion",
}
_NO_SKELETON = "The mesh has no skeleton: place one first"
_NO_FILE = {
    "grid": "There is no skeleton to draw: place one first",
    "prep": "The creature has no mesh yet: choose a file or an object of the scene",
    "detect": "The clip has no video yet: add a clip from a video file",
}


def _want_again(registry: Registry, paths: CreaturePaths, found: _Findings) -> None:
    """What was cleaned away is out of date as soon as a later stage has to read it again."""
    for name, state in list(found.states.items()):
        if state.record is None or not state.record.cleaned or state.word != "ready":
            continue
        for reader in registry.readers(state.stage, paths, state.stage.item_settings(state.item)):
            if found.states[reader.name].word != "ready":
                found.states[name] = replace(state, word="stale", because="its pictures were cleaned away")
                label = state.stage.label
                found.blocked[reader.name] = f"The {_NOUNS[name]} was cleaned away: run {label} again first"


def _summary(paths: CreaturePaths, name: str, found: _Findings) -> ClipSummary:
    files = paths.clip(name)
    found.watched |= {files.source, files.motion, files.report_png}
    try:
        return summarise_clip(paths, name)
    except AnyMoCapError as error:
        return ClipSummary(name, warnings=(str(error),))


def _situation(
    paths: CreaturePaths,
    clip: str,
    clips: list[ClipSummary],
    found: _Findings,
    has_armature: bool,
    film: FilmSurvey | None,
    lacks_skeleton: bool,
    checked: CheckupSurvey | None,
) -> Situation:
    mine = next((summary for summary in clips if summary.name == clip), None)
    train = found.states["train"].record if "train" in found.states else None
    tests = [summary for summary in clips if is_test_of(summary, train)]
    doubts = [stage_doubt(train), *(f"the test: {test.score}" for test in tests if test.doubts)]
    return Situation(
        states=found.states,
        clip=clip,
        has_mesh="prep" not in found.blocked or paths.static_blend.exists(),
        has_armature=has_armature,
        has_video=mine is not None and mine.video is not None,
        tested=bool(tests),
        test_score=tests[0].score if tests else "",
        reader_doubt=next((text for text in doubts if text), ""),
        capture_doubt=mine.doubts[0] if mine is not None and mine.doubts else "",
        made_elsewhere=frozenset(found.made_elsewhere),
        seconds=found.seconds,
        move=film.move if film is not None else "",
        lacks_skeleton=lacks_skeleton,
        facing_asked=facing_is_asked(paths),
        checked=checked is not None,
        usable_takes=sum(take.verdict != "refused" for take in film.takes) if film is not None else 0,
    )


def _damage(paths: CreaturePaths, errors: list[AnyMoCapError]) -> str:
    """One sentence on a file that all stages need; a fault of one stage stands with that stage."""
    shared = [error for error in errors if error.file == str(paths.creature_json)]
    if not shared:
        return ""
    where = f" ({shared[0].key})" if shared[0].key else ""
    return f"creature.json{where}: {shared[0].message} {shared[0].hint}".strip()
