"""truth.npz: what really happened in an exam clip. Light (numpy), because Blender's process writes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInputError
from ..formats import read_npz, write_npz_file

Array = NDArray[np.float64]


def _identity_calib() -> Array:
    return np.eye(2, 3)


@dataclass(frozen=True, eq=False)
class Truth:
    """The true motion of an exam clip, in prep space (metres, -Y forward, ground z = 0).

    Attributes:
        names: J keypoint names, in the order of rig_info.json.
        joints: (T, J, 3) true keypoint positions, metres.
        bones: B bone names, in the order of rig_info.json.
        trans: (T, 3) head of the root bone, metres.
        root_quat: (T, 4) world orientation of the root bone, wxyz.
        euler: (T, B, 3) basis Euler XYZ of every bone, radians; the root's is zero.
        fps: frames a second.
        body_length: metres, the base of every percentage.
        action: the name of the creature's own Action, or "" for random motion.
        calib_true: (2, 3) the affine from clip pixels to layout pixels that the clip's faults call for.
        lag_frames: how many frames the clip's front view lags behind its side view, which keeps the truth's time.
    """

    names: tuple[str, ...]
    joints: Array
    bones: tuple[str, ...]
    trans: Array
    root_quat: Array
    euler: Array
    fps: float
    body_length: float
    action: str = ""
    calib_true: Array = field(default_factory=_identity_calib)
    lag_frames: float = 0.0

    @property
    def T(self) -> int:
        """How many frames."""
        return len(self.joints)

    @property
    def J(self) -> int:
        """How many keypoints."""
        return self.joints.shape[1]


def truth_arrays(truth: Truth) -> dict[str, NDArray[Any]]:
    """The arrays of truth.npz."""
    return {
        "names": np.array(truth.names, np.str_),
        "joints": np.asarray(truth.joints, float),
        "bones": np.array(truth.bones, np.str_),
        "trans": np.asarray(truth.trans, float),
        "root_quat": np.asarray(truth.root_quat, float),
        "euler": np.asarray(truth.euler, float),
        "fps": np.array(float(truth.fps)),
        "body_length": np.array(float(truth.body_length)),
        "action": np.array(truth.action, np.str_),
        "calib_true": np.asarray(truth.calib_true, float),
        "lag_frames": np.array(float(truth.lag_frames)),
    }


def save_truth(path: Path | str, truth: Truth) -> None:
    """Write truth.npz.

    Raises:
        BadInputError: shapes disagree or something is not finite.
    """
    write_npz_file(path, "truth", truth_arrays(truth))


def load_truth(path: Path | str) -> Truth:
    """Read truth.npz.

    Raises:
        BadInputError: missing, truncated, of another version, not finite, or of a wrong shape.
    """
    arrays = read_npz(path, "truth")
    fps, body_length = float(arrays["fps"]), float(arrays["body_length"])
    for key, value in (("fps", fps), ("body_length", body_length)):
        if value <= 0:
            raise BadInputError(f"is {value}; it must be more than 0.", file=path, key=key, hint="Run exam again.")
    return Truth(
        names=tuple(str(name) for name in arrays["names"]),
        joints=np.asarray(arrays["joints"], float),
        bones=tuple(str(name) for name in arrays["bones"]),
        trans=np.asarray(arrays["trans"], float),
        root_quat=np.asarray(arrays["root_quat"], float),
        euler=np.asarray(arrays["euler"], float),
        fps=fps,
        body_length=body_length,
        action=str(arrays["action"]),
        calib_true=np.asarray(arrays["calib_true"], float),
        lag_frames=float(arrays["lag_frames"]) if "lag_frames" in arrays else 0.0,
    )
