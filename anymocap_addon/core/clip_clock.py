"""Which moment of a clip a frame of the scene shows: the one rule by which keys, overlay and jumps are timed.

Frame t of a motion, a reading and its clip lies at scene frame start_frame + t * scene_fps / motion_fps, so a clip
lasts as long in the scene as by itself, whatever the two rates are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .errors import BadInputError

SAME_RATE = 1e-4  # 29.97 is meant as 30 / 1.001: keys stay on whole frames
_ROUNDING = 1e-6  # frames; a key that float arithmetic puts just before its frame is on it


@dataclass(frozen=True)
class ClipClock:
    """The two time lines of a scene and a clip.

    Attributes:
        start_frame: scene frame of the clip's first frame.
        scene_fps: frames a second of the scene (fps / fps_base); motion_fps: of the clip.
        frames: T, how many frames the clip has.

    Raises:
        BadInputError: a rate that is not above zero, or a clip without frames.
    """

    start_frame: float
    scene_fps: float
    motion_fps: float
    frames: int

    def __post_init__(self) -> None:
        if not (self.scene_fps > 0 and self.motion_fps > 0 and self.frames > 0):
            raise BadInputError(
                f"A clip of {self.frames} frames at {self.motion_fps:g} frames a second does not fit a scene of "
                f"{self.scene_fps:g}.",
                key="fps",
            )

    @property
    def step(self) -> float:
        """Scene frames between two frames of the clip."""
        ratio = self.scene_fps / self.motion_fps
        whole = round(ratio)
        return float(whole) if whole and abs(ratio - whole) < SAME_RATE else ratio

    @property
    def same_rate(self) -> bool:
        """Whether every frame of the clip lies on a frame of its own of the scene, so that no key falls between."""
        return self.step == 1.0

    @property
    def last_frame(self) -> float:
        """Scene frame of the clip's last frame."""
        return self.scene_frame(self.frames - 1)

    def key_frames(self) -> NDArray[np.float64]:
        """(T,) scene frames of all frames of the clip."""
        return self.start_frame + np.arange(self.frames) * self.step

    def scene_frame(self, motion_frame: float) -> float:
        """The scene frame, fractions included, that shows `motion_frame`."""
        return self.start_frame + motion_frame * self.step

    def motion_time(self, scene_frame: float) -> float:
        """The frame of the motion, fractions included, that scene frame `scene_frame` shows; not clamped."""
        return (scene_frame - self.start_frame) / self.step

    def clip_frame(self, scene_frame: float) -> int | None:
        """The clip's frame that is nearest in time; None where the scene is more than half a frame of the clip, and
        more than half one of its own, off its ends.
        """
        time = self.motion_time(scene_frame)
        last = self.frames - 1
        reach = max(0.5, 0.5 / self.step) + _ROUNDING
        if not -reach <= time <= last + reach:
            return None
        return min(max(int(np.floor(time + 0.5 + _ROUNDING)), 0), last)

    def scene_range(self) -> tuple[int, int]:
        """First and last whole frame of a scene that plays the whole clip."""
        first = int(np.floor(self.start_frame + _ROUNDING))
        return first, max(first, int(np.ceil(self.last_frame - _ROUNDING)))
