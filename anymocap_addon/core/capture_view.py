"""All that is known of one clip, in one place: what overlay, 3D overlay and jumps show."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .bad_frames import FrameScores, frame_scores, joined_runs
from .creature import load_creature
from .detections import Detections, load_detections
from .errors import BadInputError
from .joint_links import joint_links
from .layout import Layout
from .motion import Motion, load_motion
from .preview_frames import PreviewFrames, load_preview
from .project import CreaturePaths
from .rig import RigInfo, load_rig_info

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CaptureView:
    """One clip of a creature with its reading and, where there are, its motion and preview.

    Attributes:
        paths, clip: which clip.
        layout, rig, det: as their files hold them; T frames, J keypoints.
        motion: None where none was fitted to this reading; preview: None where none was made of it.
        problems: one sentence for each file that was there and could not be used.
    """

    paths: CreaturePaths
    clip: str
    layout: Layout
    rig: RigInfo
    det: Detections
    motion: Motion | None = None
    preview: PreviewFrames | None = None
    problems: tuple[str, ...] = field(default=())

    @property
    def T(self) -> int:
        """How many frames."""
        return self.det.T

    @property
    def fps(self) -> float:
        """Frames a second of reading and motion."""
        return self.motion.fps if self.motion is not None else self.det.fps

    @cached_property
    def links(self) -> list[tuple[int, int]]:
        """Pairs of keypoint indices that are joined by a line."""
        return joint_links(self.rig)

    @cached_property
    def scores(self) -> FrameScores:
        """Error and confidence of each frame, and the bounds beyond which a frame is bad."""
        return frame_scores(self.det, self.motion)

    @cached_property
    def bad_runs(self) -> list[range]:
        """Runs of frames that need a look."""
        return joined_runs(self.scores.bad)

    @cached_property
    def reprojected(self) -> tuple[Array, Array] | None:
        """(T, J, 2) layout px of the fitted keypoints in the front and the side view."""
        if self.motion is None:
            return None
        front, side = self.layout.project(self.motion.joints)
        return front, side

    @cached_property
    def to_clip(self) -> Array:
        """(2, 3) affine from layout px to clip px: the inverse of the reading's `calib`."""
        inverse = np.linalg.inv(self.det.calib[:, :2])
        return np.column_stack([inverse, -inverse @ self.det.calib[:, 2]])

    @cached_property
    def contacts(self) -> NDArray[np.bool_]:
        """(T, J) whether the fit holds a keypoint on the ground."""
        planted = np.zeros((self.T, self.rig.J), bool)
        for contact in self.motion.contacts if self.motion is not None else []:
            planted[contact.start : contact.end, self.rig.keypoints.index(contact.joint)] = True
        return planted


def capture_files(paths: CreaturePaths, clip: str) -> list[Path]:
    """The files that a view is made of; some may be missing."""
    files = paths.clip(clip)
    return [paths.creature_json, paths.rig_info, files.det, files.motion, files.preview, files.preview_json]


def load_capture_view(paths: CreaturePaths, clip: str) -> CaptureView | None:
    """Load what there is of a clip; None while it is not read yet.

    A motion or a preview that is damaged or of another reading is left out and named in `problems`.

    Raises:
        BadInputError: creature.json, rig_info.json or det.npz are damaged, or do not belong together.
    """
    files = paths.clip(clip)
    if not files.det.exists():
        return None
    rig, det = load_rig_info(paths.rig_info), load_detections(files.det)
    if det.names != rig.keypoints:
        raise BadInputError(
            "The reading has other keypoints than the rig.", file=files.det, key="names", hint="Read the clip again."
        )
    layout = (load_creature(paths.creature_json).layout if paths.creature_json.exists() else None) or Layout()
    problems: list[str] = []
    motion = preview = None
    try:
        motion = _motion_of(files.motion, det) if files.motion.exists() else None
    except BadInputError as error:
        problems.append(str(error))
    try:
        preview = _preview_of(files.preview, files.preview_json, det) if files.preview_json.exists() else None
    except BadInputError as error:
        problems.append(str(error))
    return CaptureView(paths, clip, layout, rig, det, motion, preview, tuple(problems))


def _motion_of(path: Path, det: Detections) -> Motion:
    motion = load_motion(path)
    if motion.joint_names != det.names or motion.T != det.T:
        raise BadInputError(
            "The motion was fitted to another reading of the clip.", file=path, hint="Run the fit stage again."
        )
    return motion


def _preview_of(array: Path, description: Path, det: Detections) -> PreviewFrames:
    preview = load_preview(array, description)
    if preview.frames != det.T:
        raise BadInputError(
            f"The preview has {preview.frames} frames and the reading {det.T}.",
            file=description,
            hint="Run the preview stage again.",
        )
    return preview
