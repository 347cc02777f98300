"""How the state of a stage looks: one word, an icon, the figure that matters."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import AnyMoCapError
from ..jobs.duration_words import clock
from ..jobs.stage_figure import stage_doubt, stage_figure
from ..jobs.state import StageState
from ..ops.running import HOST
from ..ops.running_stage import RunningStage
from ..ops.states import SceneStates

ICONS = {
    "missing": "RADIOBUT_OFF",
    "ready": "CHECKMARK",
    "stale": "FILE_REFRESH",
    "running": "PLAY",
    "queued": "SORTTIME",
    "stopping": "CANCEL",
    "stopped": "PAUSE",
    "failed": "ERROR",
}
DOUBT_ICON = "ERROR"  # Blender's sign of a warning; a failure is red as well
# Which of several stages a header speaks of: the one that asks most for attention.
_URGENCY = ("running", "stopping", "queued", "failed", "stopped", "stale", "doubtful", "missing", "ready")
_FOLDERS = re.compile(r"^(?:/|[A-Za-z]:[\\/])[^:]*[\\/](?=[^:\\/]+: )")  # of the file that a recorded error begins with
_HOST_WORDS = {"running": "running", "queued": "queued", "cancelling": "stopping"}


@dataclass(frozen=True)
class StageLook:
    """What is shown of a stage.

    Attributes:
        word: one of ICONS.
        figure: the figure that matters, with its unit, or empty.
        doubt: what speaks against a result that is ready, figure and remedy in one sentence.
        why: the reason of stale and failed, one or two sentences.
        remedy: what to do about it.
        fraction: 0..1 while it runs.
        running: its run in this Blender, while it is at work.
    """

    name: str
    word: str
    figure: str = ""
    why: str = ""
    remedy: str = ""
    fraction: float = 0.0
    running: RunningStage | None = None
    doubt: str = ""

    @property
    def icon(self) -> str:
        return DOUBT_ICON if self.doubt else ICONS[self.word]

    @property
    def short(self) -> str:
        """For a header, where there is little room."""
        return f"{100 * self.fraction:.0f} %" if self.word == "running" else self.shown

    @property
    def shown(self) -> str:
        """The word, where what is ready can be doubtful."""
        return "doubtful" if self.doubt else self.word


def stage_look(states: SceneStates, name: str) -> StageLook:
    """How a stage looks: its run in this Blender, one in another process, else its record."""
    assert states.survey is not None
    state = states.of(name)
    if state is None:
        return StageLook(name, "missing")
    paths = states.survey.paths
    running = HOST.of(paths, name, state.item)
    if running is not None and running.at_work:
        return running_look(running)
    for watch in HOST.foreign(paths):
        if (watch.stage, watch.item) == (name, state.item):
            figure = _progress_text(0.0, 0.0, watch.fraction, watch.eta_s)
            return StageLook(name, "running", figure, "Another program does it.", "", watch.fraction)
    if name == "apply" and not states.survey.has_armature:
        return StageLook(name, "missing")  # what was applied is on an armature of another file
    if name in states.survey.made_elsewhere:
        return StageLook(name, "ready", "made elsewhere")
    if running is not None and running.error is not None and not _ran_later(state, running):
        return failed_look(name, running.error)
    if state.stopped:
        return StageLook(name, "stopped", why="It was stopped before its end and goes on from there.")
    if state.word == "failed":
        return StageLook(name, "failed", why=_FOLDERS.sub("", state.because))
    if state.word == "ready":
        return StageLook(name, "ready", stage_figure(state.record), doubt=_doubt(states, state))
    return StageLook(name, state.word, stage_figure(state.record), state.because if state.word == "stale" else "")


def _doubt(states: SceneStates, state: StageState) -> str:
    """What speaks against the result; a motion that was applied is as good as its capture."""
    if state.stage.name != "apply":
        return stage_doubt(state.record)
    before = [found for name in ("detect", "fit") if (found := states.of(name)) is not None]
    doubtful = any(stage_doubt(found.record) for found in before)
    return f"{stage_figure(state.record)}: the capture is doubtful, see 7  Capture." if doubtful else ""


def _ran_later(state: StageState, running: RunningStage) -> bool:
    """Whether the stage has run again since, in another process."""
    if state.record is None or running.started is None or state.record.pid == os.getpid():
        return False
    return state.record.started > time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(running.started))


def most_urgent(looks: list[StageLook]) -> StageLook:
    """The one that a header speaks of."""
    return min(looks, key=lambda look: _URGENCY.index(look.shown))


def running_look(running: RunningStage) -> StageLook:
    """How a stage looks that runs or waits in this Blender."""
    text = _progress_text(running.done, running.total, running.fraction, running.eta_s)
    word = _HOST_WORDS[running.word]
    figure = text if word == "running" else ""
    return StageLook(running.stage.name, word, figure, running.note, "", running.fraction, running)


def failed_look(name: str, error: AnyMoCapError) -> StageLook:
    """How a stage looks that failed in this session."""
    return StageLook(name, "failed", why=_sentence(error), remedy=error.hint)


def _progress_text(done: float, total: float, fraction: float, eta_s: float | None) -> str:
    """ "412 / 800   2:10 left"; a total of 1 means a share of the work, which the percentage shows."""
    count = f"{done:g} / {total:g}" if total > 1 else f"{100 * fraction:.0f} %"
    return count if eta_s is None else f"{count}   {clock(eta_s)} left"


def _sentence(error: AnyMoCapError) -> str:
    """The reason, with the name of the file alone; its remedy stands on its own, and the log has the whole path."""
    where = Path(error.file).name if error.file else ""
    parts = [part for part in (where, error.key) if part]
    return f"{', '.join(parts)}: {error.message}" if parts else error.message
