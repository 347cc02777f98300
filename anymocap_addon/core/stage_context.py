"""What a stage step is given: its project, its settings and the way to report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .creature import Creature, load_creature
from .errors import CancelledError
from .layout import Layout
from .project import CreaturePaths, Project
from .rig import RigInfo, load_rig_info

Reporter = Callable[[dict[str, Any]], None]


def _silent(event: dict[str, Any]) -> None:
    """Without a reporter a step runs quietly."""


def _never() -> bool:
    return False


@dataclass
class StageContext:
    """One run of one step of a stage.

    Attributes:
        project: the project folder.
        paths: the files of the creature at work.
        settings: validated settings of the stage, defaults filled in.
        shard: (k, n): this process does the k-th of n equal parts.
        report: receives event dicts of the job protocol.
        cancelled: tells whether the user asked to stop.
    """

    project: Project
    paths: CreaturePaths
    settings: dict[str, Any] = field(default_factory=dict)
    shard: tuple[int, int] = (0, 1)
    report: Reporter = _silent
    cancelled: Callable[[], bool] = _never

    def load_creature(self) -> Creature:
        """creature.json, or the defaults (the wolf's layout) when the creature has none."""
        if self.paths.creature_json.exists():
            return load_creature(self.paths.creature_json)
        return Creature(name=self.paths.name)

    def load_rig(self) -> RigInfo:
        """rig_info.json of the creature."""
        return load_rig_info(self.paths.rig_info)

    def layout(self) -> Layout:
        """The creature's layout; the wolf's when creature.json names none."""
        return self.load_creature().layout or Layout()

    def progress(self, done: float, total: float, note: str = "") -> None:
        """Report progress; the host adds the time left. Stops the step when the user cancelled."""
        self.check_cancel()
        self.report({"event": "progress", "done": done, "total": total, "note": note})

    def metric(self, name: str, value: float | str) -> None:
        """Report one figure while the step runs."""
        self.report({"event": "metric", "name": name, "value": value})

    def log(self, text: str) -> None:
        """Write a line to the job's log."""
        self.report({"event": "log", "text": text})

    def check_cancel(self) -> None:
        """Raise CancelledError when the user asked to stop."""
        if self.cancelled():
            raise CancelledError()
