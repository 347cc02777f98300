"""det.npz: the keypoints that were read in both views of a clip."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import BadInputError
from .formats import read_npz, write_npz_file


@dataclass
class Detections:
    """Keypoints of T frames in layout pixels.

    Attributes:
        names: J keypoint names, in the order of rig_info.json.
        front_uv, side_uv: (T, J, 2) layout px.
        front_conf, side_conf: (T, J) calibrated confidence, 0..1.
        fps: nominal frame rate of the clip; pts: (T,) presentation times, seconds.
        calib: (2, 3) affine from clip pixels to layout pixels.
        video: path of the clip.
        notes: how the clip was aligned, lost frames, warnings and the sync figures.
    """

    names: tuple[str, ...]
    front_uv: NDArray[np.float64]
    side_uv: NDArray[np.float64]
    front_conf: NDArray[np.float64]
    side_conf: NDArray[np.float64]
    fps: float
    pts: NDArray[np.float64]
    calib: NDArray[np.float64]
    video: str = ""
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def T(self) -> int:
        """How many frames."""
        return len(self.front_uv)


_AGAIN = "Read the clip again."
_FLOATS = ("front_uv", "side_uv", "front_conf", "side_conf", "pts", "calib")


def load_detections(path: Path | str) -> Detections:
    """Read det.npz.

    Raises:
        BadInputError: missing, truncated, not finite, or shapes disagree; no frames, or nothing can be made of its
            `calib` or `notes`.
    """
    arrays = read_npz(path, "det")
    try:
        notes = json.loads(str(arrays["notes"])) if "notes" in arrays else {}
    except ValueError as error:
        raise BadInputError(f"is not JSON ({error}).", file=path, key="notes", hint=_AGAIN) from error
    if not isinstance(notes, dict):
        raise BadInputError("is no object.", file=path, key="notes", hint=_AGAIN)
    if not len(arrays["front_uv"]):
        raise BadInputError("has no frames.", file=path, key="front_uv", hint=_AGAIN)
    if np.linalg.matrix_rank(arrays["calib"][:, :2].astype(float)) < 2:
        raise BadInputError("lays the clip's picture onto a line.", file=path, key="calib", hint=_AGAIN)
    return Detections(
        names=tuple(str(name) for name in arrays["names"]),
        fps=float(arrays["fps"]),
        video=str(arrays["video"]) if "video" in arrays else "",
        notes=notes,
        **{key: arrays[key].astype(float) for key in _FLOATS},
    )


def save_detections(path: Path | str, detections: Detections) -> None:
    """Write det.npz."""
    write_npz_file(
        path,
        "det",
        {
            "names": np.array(detections.names, str),
            "fps": np.array(float(detections.fps)),
            "video": np.array(detections.video),
            "notes": np.array(json.dumps(detections.notes)),
            **{key: np.asarray(getattr(detections, key), float) for key in _FLOATS},
        },
    )
