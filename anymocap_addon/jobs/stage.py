"""What a stage is: data plus the functions that do its steps."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..core.errors import BadInputError
from ..core.project import CreaturePaths
from .setting import Setting, check_settings

Where = Literal["here", "blender", "worker"]
Files = Callable[[CreaturePaths, dict[str, Any]], list[Path]]
StepFunction = Callable[..., dict[str, Any] | None]


def no_files(paths: CreaturePaths, settings: dict[str, Any]) -> list[Path]:
    """A stage without such files."""
    return []


@dataclass(frozen=True)
class Step:
    """One function of a stage and the process that it runs in.

    Attributes:
        where: "here" in Blender's process, "blender" in a background Blender, "worker" in plain Python.
        function: "module:function" relative to the package, imported only where it runs.
        sharded: several processes do equal parts at the same time.
        weight: share of the stage's time, for the progress bar.
        package: package that the module is relative to; empty for this add-on's own.
    """

    where: Where
    function: str
    sharded: bool = False
    weight: float = 1.0
    package: str = ""


def load_function(function: str, package: str) -> StepFunction:
    """Import the function of a step.

    Args:
        function: "module:function".
        package: package that the module is relative to.
    """
    module, _, name = function.partition(":")
    loaded: StepFunction = getattr(importlib.import_module(f"{package}.{module}"), name)
    return loaded


@dataclass(frozen=True)
class Stage:
    """A stage of the pipeline.

    Attributes:
        name: the verb of the command line.
        label: what the artist reads.
        help: one sentence.
        steps: run one after the other.
        settings: what can be chosen.
        inputs: files that must be there; their content decides whether the result is stale.
        optional_inputs: files that are used when they are there, with the same effect.
        creature_keys: keys of creature.json that decide about the result. Stages complete creature.json (rig adds
            paint, ref adds layout), so the whole file would make stages stale that did not look at what changed.
        bone_edits: what the artist changed in bone_map.json decides too; the rest of that file is the stage's own.
        outputs: files that the stage leaves; all must be there for it to be ready.
        partial: files and folders of unfinished work, valid for the same inputs and settings only.
        per: "creature", or "clip" (setting `clip`) or "move" (setting `move`) when there is one result for each.
        automatic: `run` starts it by itself; others only again, after somebody asked for them once.
        only_with: files without which `run` leaves the stage out, automatic or not.
        gather: "module:function" that an operator calls in the artist's own process before the stage starts:
            (paths, given settings) -> settings, for what only the open scene knows.
        paid: it costs money: nothing but the artist's own request starts it, and its being out of date holds up no
            other stage.
        version: raised when the stage's result changes for the same input, which makes old results stale.
    """

    name: str
    label: str
    help: str
    steps: tuple[Step, ...]
    settings: tuple[Setting, ...] = ()
    inputs: Files = no_files
    optional_inputs: Files = no_files
    creature_keys: tuple[str, ...] = ()
    bone_edits: bool = False
    outputs: Files = no_files
    partial: Files = no_files
    per: Literal["creature", "clip", "move"] = "creature"
    automatic: bool = True
    only_with: Files = no_files
    gather: str = ""
    paid: bool = False
    version: int = 1

    def check(self, given: dict[str, Any]) -> dict[str, Any]:
        """Settings with defaults filled in; BadInputError names what is wrong."""
        return check_settings(self.name, self.settings, given)

    def item(self, settings: dict[str, Any]) -> str | None:
        """Name of the clip or move that these settings are about; None for a stage per creature."""
        return None if self.per == "creature" else str(settings[self.per])

    def starts_by_itself(self, paths: CreaturePaths, item: str | None) -> bool:
        """Whether `run` starts it for this clip or move without having been asked for it before."""
        if not self.automatic or (self.per != "creature" and item is None):
            return self.automatic
        return all(path.exists() for path in self.only_with(paths, self.item_settings(item)))

    def recorded(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings without those that hold for one run only."""
        once = {setting.name for setting in self.settings if setting.once}
        return {name: value for name, value in settings.items() if name not in once}

    def item_settings(self, item: str | None) -> dict[str, Any]:
        """Default settings for one clip or move, without any check of required values."""
        values = {setting.name: setting.default for setting in self.settings}
        return values if self.per == "creature" else {**values, self.per: item}


class Registry:
    """Stages by name, in the order of the pipeline."""

    def __init__(self, stages: tuple[Stage, ...]) -> None:
        self._stages = {stage.name: stage for stage in stages}
        if len(self._stages) != len(stages):
            raise ValueError("two stages have one name")

    def __iter__(self) -> Iterator[Stage]:
        return iter(self._stages.values())

    def __contains__(self, name: object) -> bool:
        return name in self._stages

    def names(self) -> list[str]:
        """Names in pipeline order."""
        return list(self._stages)

    def __getitem__(self, name: str) -> Stage:
        if name not in self._stages:
            raise BadInputError("There is no such stage.", key=name, hint=f"Stages: {', '.join(self._stages)}.")
        return self._stages[name]

    def upstream(self, stage: Stage, paths: CreaturePaths, settings: dict[str, Any]) -> list[Stage]:
        """The stages whose outputs are inputs of `stage` for these settings, in pipeline order."""
        wanted = set(stage.inputs(paths, settings)) | set(stage.optional_inputs(paths, settings))
        item = stage.item(settings)
        earlier = []
        for other in self:
            if other.name == stage.name:
                break
            if other.per != "creature" and other.per != stage.per:
                continue
            if wanted & set(other.outputs(paths, other.item_settings(item))):
                earlier.append(other)
        return earlier

    def readers(self, stage: Stage, paths: CreaturePaths, settings: dict[str, Any]) -> list[Stage]:
        """The stages per creature that read what `stage` makes with these settings, in pipeline order."""
        made = set(stage.outputs(paths, settings))
        return [
            other
            for other in self
            if other.per == "creature" and made & set(other.inputs(paths, other.item_settings(None)))
        ]
