"""What state each stage is in: missing, ready, stale, running or failed, and because of what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from ..core.bone_map import edits_json, load_edits
from ..core.file_mark import unsure
from ..core.formats import read_json
from ..core.project import CreaturePaths
from ..core.stage_record import StageRecord, load_record, stale_because
from .running_here import still_runs
from .stage import Registry, Stage

Word = Literal["missing", "ready", "stale", "running", "failed"]
STAGE_VERSION = "stage"


@dataclass(frozen=True)
class StageState:
    """State of one stage for one creature, clip or move."""

    stage: Stage
    item: str | None
    word: Word
    because: str
    record: StageRecord | None

    @property
    def stopped(self) -> bool:
        """Whether it was stopped, by the user or with its process, and goes on when it is run again."""
        return self.word == "stale" and self.record is not None and self.record.outcome in ("running", "cancelled")


def remembered_settings(stage: Stage, item: str | None, record: StageRecord | None) -> dict[str, Any]:
    """The settings of the last run, those that the stage no longer knows left out; defaults without one."""
    return {**stage.item_settings(item), **last_settings(stage, record)}


def last_settings(stage: Stage, record: StageRecord | None) -> dict[str, Any]:
    """The settings of the last run without those that the stage no longer knows; empty when it never ran."""
    known = {setting.name for setting in stage.settings}
    return {} if record is None else {name: value for name, value in record.settings.items() if name in known}


def creature_values(stage: Stage, paths: CreaturePaths) -> dict[str, Any]:
    """What creature.json says under the keys that the stage looks at, and the edits of bone_map.json where it looks at
    these, to be recorded beside its settings.

    Raises:
        BadInputError: creature.json or bone_map.json is damaged.
    """
    values: dict[str, Any] = {}
    if stage.bone_edits and (edits := edits_json(load_edits(paths.bone_map))):
        values["bone_map.json edits"] = edits
    if not stage.creature_keys or not paths.creature_json.exists():
        return values
    data = read_json(paths.creature_json, "creature")
    return values | {f"creature.json {key}": data[key] for key in stage.creature_keys if key in data}


def own_staleness(
    stage: Stage, paths: CreaturePaths, record: StageRecord, settings: dict[str, Any], with_outputs: bool = True
) -> str | None:
    """Why the recorded run does not stand for these settings and the files as they are now; None when it does."""
    if record.versions.get(STAGE_VERSION, str(stage.version)) != str(stage.version):
        return f"{stage.name} works differently now"
    portable = {setting.name for setting in stage.settings if setting.portable or setting.once}
    # A setting that the stage did not have yet counts as its default: that is how it ran.
    recorded = {**{setting.name: setting.default for setting in stage.settings}, **record.settings}
    record = replace(record, settings={k: v for k, v in recorded.items() if k not in portable})
    wanted = {name: value for name, value in settings.items() if name not in portable}
    wanted.update(creature_values(stage, paths))
    inputs = stage.inputs(paths, settings) + stage.optional_inputs(paths, settings)
    outputs = stage.outputs(paths, settings) if with_outputs else []
    return stale_because(record, wanted, inputs, outputs, paths.root)


def unsure_inputs(paths: CreaturePaths, stage: Stage, item: str | None) -> list[Path]:
    """Inputs of the last run whose content has to be looked at: they were touched since."""
    record = load_record(paths, stage.name, item)
    return unsure(record.inputs, paths.root) if record is not None else []


def unsure_files(registry: Registry, paths: CreaturePaths, stage: Stage, settings: dict[str, Any]) -> Iterator[Path]:
    """Files whose content has to be looked at to tell the state of a stage: they were touched since it, or a stage
    before it, ran.
    """
    item = stage.item(settings)
    seen, waiting = {stage.name}, [(stage, settings)]
    while waiting:
        stage, settings = waiting.pop()
        yield from unsure_inputs(paths, stage, None if stage.per == "creature" else item)
        for upstream in registry.upstream(stage, paths, settings):
            if upstream.name not in seen:
                seen.add(upstream.name)
                of = None if upstream.per == "creature" else item
                waiting.append((upstream, remembered_settings(upstream, of, load_record(paths, upstream.name, of))))


def stage_state(
    registry: Registry,
    paths: CreaturePaths,
    stage: Stage,
    item: str | None = None,
    settings: dict[str, Any] | None = None,
) -> StageState:
    """State of a stage.

    Args:
        item: clip or move, for stages that have one result for each.
        settings: the settings wanted; None means those of the last run.
    """
    return StateReader(registry, paths).state(stage, item, settings)


def all_states(registry: Registry, paths: CreaturePaths, clips: list[str]) -> list[StageState]:
    """States of the stages of a creature and of the named clips, in pipeline order."""
    reader = StateReader(registry, paths)
    per_creature = [reader.state(stage, None) for stage in registry if stage.per == "creature"]
    per_clip = [reader.state(stage, clip) for clip in clips for stage in registry if stage.per == "clip"]
    return per_creature + per_clip


class StateReader:
    """Remembers states while a graph is walked: each file is looked at once. Ask in pipeline order."""

    def __init__(self, registry: Registry, paths: CreaturePaths) -> None:
        self._registry, self._paths = registry, paths
        self._known: dict[tuple[str, str | None], StageState] = {}

    def state(self, stage: Stage, item: str | None, settings: dict[str, Any] | None = None) -> StageState:
        """The state with the settings wanted, which later stages then see too; None means those of the last run.

        Raises:
            BadInputError: creature.json or a record is damaged.
        """
        key = (stage.name, item)
        if key not in self._known or settings is not None:
            self._known[key] = self._look(stage, item, settings)
        return self._known[key]

    def _look(self, stage: Stage, item: str | None, settings: dict[str, Any] | None) -> StageState:
        record = load_record(self._paths, stage.name, item)
        values = remembered_settings(stage, item, record) if settings is None else settings
        word, because = self._judge(stage, record, values)
        if word == "ready":
            for upstream in self._registry.upstream(stage, self._paths, values):
                if reason := self._upstream_reason(upstream, item):
                    word, because = "stale", reason
                    break
        return StageState(stage, item, word, because, record)

    def _judge(self, stage: Stage, record: StageRecord | None, values: dict[str, Any]) -> tuple[Word, str]:
        if record is None:
            return "missing", ""
        if still_runs(self._paths, record):
            return "running", ""
        if record.outcome == "failed":
            return "failed", (record.error or {}).get("message", "")
        if record.outcome != "done":
            return "stale", "it was stopped before its end; it resumes"
        reason = own_staleness(stage, self._paths, record, values, with_outputs=not record.cleaned)
        if reason is None and record.cleaned and not self._gone_into_later(stage, values):
            reason = "what it made was cleaned away"
        return ("stale", reason) if reason else ("ready", "")

    def _gone_into_later(self, stage: Stage, values: dict[str, Any]) -> bool:
        """Whether the stages that read what this one makes have done so, for the inputs and settings that they have."""
        for other in self._registry.readers(stage, self._paths, values):
            record = load_record(self._paths, other.name)
            if record is None or record.outcome != "done":
                return False
            if own_staleness(other, self._paths, record, remembered_settings(other, None, record)):
                return False
        return True

    def _upstream_reason(self, upstream: Stage, item: str | None) -> str:
        state = self.state(upstream, None if upstream.per == "creature" else item)
        if state.word in ("ready", "missing") or (upstream.paid and state.word != "running"):
            return ""  # missing: its files are there, made in another way (an own mesh, a copied reader)
        return f"{upstream.name} is {state.word}"
