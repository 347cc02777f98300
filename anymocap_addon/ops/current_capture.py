"""The clip that a scene shows: loaded apart from any drawing, and again when its files change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..core.capture_view import CaptureView, capture_files, load_capture_view
from ..core.clip_clock import ClipClock
from ..core.errors import AnyMoCapError
from ..core.project import Project

if TYPE_CHECKING:
    from bpy.types import Context, Scene

Names = tuple[str, str, str]
Stamp = tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True)
class LoadedCapture:
    """A clip as it was loaded.

    Attributes:
        stamp: times and sizes of its files then.
        view: None where there is nothing to show.
        error: why the clip's files cannot be shown, one sentence, or empty.
    """

    stamp: Stamp
    view: CaptureView | None
    error: str = ""


class CaptureCache:
    """The clips of the scenes that are shown.

    Attributes:
        changed: raised whenever something else was loaded.
    """

    def __init__(self) -> None:
        self.changed = 0
        self._loaded: dict[Names, LoadedCapture] = {}

    def refresh(self, scenes: Iterable[Scene]) -> bool:
        """Load what the scenes name where that or its files changed, forget the rest; whether anything changed.

        Looks at files: not for a draw.
        """
        before = dict(self._loaded)
        self._loaded = {names: _load(names, before.get(names)) for names in map(_names, scenes) if names is not None}
        moved = before != self._loaded
        self.changed += moved
        return moved

    def of(self, scene: Scene) -> LoadedCapture | None:
        """What was loaded of the clip that the scene names."""
        names = _names(scene)
        return self._loaded.get(names) if names is not None else None

    def clear(self) -> None:
        """Forget all, as when another file was loaded."""
        self._loaded.clear()
        self.changed += 1


CAPTURES = CaptureCache()


def current_view(context: Context) -> CaptureView | None:
    """What is known of the scene's clip; None until it is loaded. Reads no file, so a draw may call it.

    The overlay's timer keeps it up to date; without a window call `loaded_view`.
    """
    loaded = CAPTURES.of(context.scene)
    return loaded.view if loaded is not None else None


def loaded_view(context: Context) -> CaptureView | None:
    """The same for operators: files that changed are read first."""
    CAPTURES.refresh([*shown_scenes(context), context.scene])
    return current_view(context)


def clock(context: Context) -> ClipClock | None:
    """The time lines of scene and clip; None where there is no view."""
    view = current_view(context)
    return clip_clock(context.scene, view) if view is not None else None


def clip_clock(scene: Scene, view: CaptureView) -> ClipClock:
    """The time lines of a scene and a clip that begins at the scene's chosen start frame."""
    rate = scene.render.fps / scene.render.fps_base
    return ClipClock(scene.anymocap.start_frame, rate, view.fps, view.T)


def shown_frame(scene: Scene, view: CaptureView) -> tuple[int, bool]:
    """The clip's frame that the scene stands at, and whether that is only the clip's nearer end."""
    clock = clip_clock(scene, view)
    frame = clock.clip_frame(scene.frame_current_final)
    if frame is not None:
        return frame, False
    return (0 if scene.frame_current_final < clock.start_frame else view.T - 1), True


def shown_scenes(context: Context) -> list[Scene]:
    """The scenes of all windows."""
    return [window.scene for window in context.window_manager.windows]


def _names(scene: Scene) -> Names | None:
    """Project, creature and clip that the scene names, or None while one is missing."""
    chosen = getattr(scene, "anymocap", None)
    if chosen is None or not (chosen.project and chosen.creature and chosen.clip):
        return None
    if chosen.project.startswith("//") and not bpy.data.filepath:
        return None
    return bpy.path.abspath(chosen.project), chosen.creature, chosen.clip


def _load(names: Names, before: LoadedCapture | None) -> LoadedCapture:
    """The clip, or `before` where its files are the same."""
    project, creature, clip = names
    stamp: Stamp = ()
    try:
        paths = Project(Path(project)).creature(creature)
        stamp = tuple(_file_stamp(path) for path in capture_files(paths, clip))
        if before is not None and before.stamp == stamp:
            return before
        return LoadedCapture(stamp, load_capture_view(paths, clip))
    except AnyMoCapError as error:
        return LoadedCapture(stamp, None, str(error))


def _file_stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
