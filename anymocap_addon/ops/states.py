"""What the panels show of the creatures of the open scenes: looked up apart from any drawing, and kept."""

from __future__ import annotations

import time
import traceback
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import bpy

from ..core.errors import AnyMoCapError
from ..core.project import Project, check_name
from ..jobs.next_step import NextStep
from ..jobs.registry import REGISTRY
from ..jobs.stage import Stage
from ..jobs.state import StageState
from ..jobs.survey import Survey, survey
from .redraw import SidebarRedraw
from .running import HOST
from .scene_settings import wanted_settings
from .stage_settings import chosen_values

if TYPE_CHECKING:
    from bpy.types import Context, Scene

_BUDGET_S = 0.004  # of one tick
_FIRST_BUDGET_S = 0.2  # while the artist waits for what is not known yet; it usually takes 0.04
_SHARE = 0.06  # of the time since the last tick: a slow window, which ticks seldom, gets there too
_BUSY_EVERY_S = 0.01
_IDLE_EVERY_S = 0.25
_FILES_EVERY_S = 1.0
_CLOCK_TICK_NS = 50_000_000  # a file system's clock is no finer
_KEPT = 8  # scenes and creatures that are remembered

Key = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class SceneStates:
    """What is known of a scene's project and creature.

    Attributes:
        root: the project folder.
        creatures: names of its creatures.
        survey: of the scene's creature; None while it names none, or where nothing can be known of it.
        error: one sentence on what keeps the states from being known, else empty.
    """

    root: Path
    creatures: tuple[str, ...] = ()
    survey: Survey | None = None
    error: str = ""

    @property
    def next_step(self) -> NextStep | None:
        """The one next step."""
        return self.survey.next_step if self.survey is not None else None

    def of(self, stage_name: str) -> StageState | None:
        """State of a stage for the scene's creature and clip; None while there is none to have a state of."""
        return self.survey.states.get(stage_name) if self.survey is not None else None


class StateCache:
    """The states of the scenes that are shown. A timer keeps them; a draw only takes what is there.

    Attributes:
        version: raised whenever something else is known.
    """

    def __init__(self) -> None:
        self.version = 0
        self.timer = self._tick  # one object: Blender knows a timer by its identity, and a method is new at each look
        self._known: dict[Key, SceneStates] = {}
        self._seen: dict[Key, tuple[Any, Any]] = {}  # what was chosen, and the files, when it was looked at
        self._work: Generator[None, None, SceneStates] | None = None
        self._work_key: Key | None = None
        self._began_ns = 0
        self._host_changed = -1
        self._files_at = 0.0
        self._ticked_at = time.monotonic()
        self._redraw = SidebarRedraw()

    def of(self, context: Context) -> SceneStates | None:
        """What is known of the scene's creature and clip; None until the creature was looked at. Reads no file.

        For the moment that a look takes after another clip was chosen, it is what was known of the clip before: a
        panel that empties while one types a name would be worse.
        """
        key = _key(context.scene)
        if key is None:
            return None
        if key in self._known:
            return self._known[key]
        return next((known for other, known in reversed(self._known.items()) if other[:3] == key[:3]), None)

    def refresh(self, context: Context) -> SceneStates | None:
        """Look now, to the end; for operators and for a Blender without a window."""
        key = _key(context.scene)
        if key is None:
            return None
        self._begin(key, context.scene)
        while self._work is not None:
            self._step(float("inf"))
        return self._known.get(key)

    def open(self) -> None:
        """Let the timer run."""
        bpy.app.timers.register(self.timer, first_interval=0.0, persistent=True)

    def close(self) -> None:
        """Forget all."""
        if bpy.app.timers.is_registered(self.timer):
            bpy.app.timers.unregister(self.timer)
        self._work = self._work_key = None
        self._known.clear()
        self._seen.clear()

    def _tick(self) -> float:
        if self._work is None:
            self._look_for_work()
        now = time.monotonic()
        if self._work is not None:
            self._step(now + self._budget_s(now - self._ticked_at))
        self._ticked_at = now
        self._redraw.when_changed(self.version)
        return _BUSY_EVERY_S if self._work is not None else _IDLE_EVERY_S

    def _budget_s(self, since_tick_s: float) -> float:
        if self._work_key not in self._known:
            return _FIRST_BUDGET_S
        return min(_FIRST_BUDGET_S, max(_BUDGET_S, _SHARE * since_tick_s))

    def _look_for_work(self) -> None:
        """Begin to look at the first shown scene whose choice, settings or files have changed."""
        now = time.monotonic()
        moved, files_due = HOST.changed != self._host_changed, now - self._files_at > _FILES_EVERY_S
        shown = list(dict.fromkeys(window.scene for window in bpy.context.window_manager.windows))
        for scene in shown:
            key = _key(scene)
            if key is None:
                continue
            if key not in self._seen or self._out_of_date(key, scene, moved, files_due):
                self._begin(key, scene)
                return
        self._host_changed = HOST.changed
        if files_due:
            self._files_at = now

    def _out_of_date(self, key: Key, scene: Scene, moved: bool, files_due: bool) -> bool:
        chosen, files = self._seen[key]
        if moved and _chosen(scene) != chosen:
            return True
        known = self._known.get(key)
        if files_due and _may_change_unseen(known):
            return True
        return (moved or files_due) and _stamps(known) != files

    def _begin(self, key: Key, scene: Scene) -> None:
        self._seen[key] = (_chosen(scene), None)
        self._began_ns = time.time_ns()
        self._work, self._work_key = _looked(key, scene), key

    def _step(self, until: float) -> None:
        """Go on until time.monotonic() passes `until` s."""
        work, key = self._work, self._work_key
        assert work is not None and key is not None
        try:
            while time.monotonic() < until:
                next(work)
        except StopIteration as end:
            self._keep(key, end.value)
        except ReferenceError:  # the scene went away: another file was opened
            self._work = self._work_key = None
            self._seen.pop(key, None)

    def _keep(self, key: Key, states: SceneStates) -> None:
        self._work = self._work_key = None
        chosen, _ = self._seen[key]
        if self._known.pop(key, None) != states:
            self.version += 1
        self._known[key] = states
        stamps = _stamps(states)
        written_since = any(stamp is not None and stamp[0] > self._began_ns - _CLOCK_TICK_NS for stamp in stamps)
        self._seen[key] = (chosen, None if written_since else stamps)  # half of it may be older than that file
        for old in list(self._known)[:-_KEPT]:
            del self._known[old], self._seen[old]


def _key(scene: Scene) -> Key | None:
    """Scene, project, creature, clip and move; None while there is no project folder that can be found."""
    chosen = getattr(scene, "anymocap", None)
    if chosen is None or not chosen.project or (chosen.project.startswith("//") and not bpy.data.filepath):
        return None
    return scene.name_full, bpy.path.abspath(chosen.project), chosen.creature, chosen.clip, chosen.move


def _chosen(scene: Scene) -> Any:
    """The settings of all stages, and what of the scene they depend on."""
    settings = scene.anymocap
    armature = settings.armature.name if settings.armature is not None else ""
    groups = tuple(tuple(chosen_values(getattr(settings.stages, s.name), s).items()) for s in REGISTRY)
    return armature, settings.start_frame, groups


def _may_change_unseen(states: SceneStates | None) -> bool:
    """Whether it may change although no file does: another process dies, or what kept a file from being read ends."""
    if states is None or states.survey is None:
        return False
    return states.survey.unsure or any(state.word == "running" for state in states.survey.states.values())


def _stamps(states: SceneStates | None) -> Any:
    """Times and sizes of the files that decide."""
    if states is None:
        return None
    files = states.survey.watched if states.survey is not None else ()
    return tuple(_stamp(path) for path in (states.root / "assets", *files))


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _looked(key: Key, scene: Scene) -> Generator[None, None, SceneStates]:
    """Look at project and creature in small steps; every fault becomes one sentence."""
    _, folder, creature, clip, move = key
    root = Path(folder)
    try:
        project = Project(root)
        names = tuple(project.creatures())
        yield
        if not creature:
            return SceneStates(project.root, names)
        paths = project.creature(creature)
        if clip:
            check_name(clip, "The clip")
        if move:
            check_name(move, "The move")
        context = SimpleNamespace(scene=scene, preferences=bpy.context.preferences)
        has_armature = scene.anymocap.armature is not None
        found = yield from survey(
            REGISTRY, paths, clip, lambda stage: wanted_settings(context, stage), has_armature, move
        )
        return SceneStates(project.root, names, found, found.error)
    except AnyMoCapError as error:
        return SceneStates(root, (), None, str(error))
    except OSError as error:
        return SceneStates(root, (), None, f"The project folder cannot be read: {error.strerror or error}.")
    except ReferenceError:
        raise
    except Exception as error:  # a timer that raises is never called again, and the panel would never know
        traceback.print_exc()
        return SceneStates(root, (), None, f"A fault of AnyMoCap: {type(error).__name__}: {error}")


def why_blocked(context: Context, stage: Stage) -> str:
    """Why a stage cannot run yet, for the artist; empty when it can or when nothing is known yet."""
    states = STATES.of(context)
    if states is None or states.survey is None:
        return ""
    return states.survey.blocked.get(stage.name, "")


STATES = StateCache()
CLASSES: tuple[type, ...] = ()


def register() -> None:
    """Let the timer run."""
    STATES.open()


def unregister() -> None:
    """Forget all."""
    STATES.close()
