"""motion.json: the fitted motion of a capture skeleton."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import BadInputError
from .formats import read_json, write_json_file
from .kinematics import quaternion_to_matrix

DECIMALS = 7


@dataclass(frozen=True)
class Contact:
    """A planted joint: `joint` is a keypoint's name, frames [start, end)."""

    joint: str
    start: int
    end: int


@dataclass
class Motion:
    """A motion in prep space.

    Attributes:
        fps: frames a second; frame t is at t / fps seconds.
        trans: (T, 3) world position of the root bone's head, metres.
        root_quat: (T, 4) world rotation of the root bone, wxyz.
        euler: (T, B, 3) basis rotations, XYZ radians (zero for the root).
        joints: (T, J, 3) keypoints, metres.
        reproj_front, reproj_side: (T, J) distance in px between reprojection and reading.
        ground_velocity: (2,) the ground's own velocity in x and y, metres a frame (on-the-spot clips).
        sync: figures of the two views' agreement: paw_agreement, height_gap_px, lag_frames, ….
        settings: what the fit was told, and its cost: solver's constants, cpu_s.
    """

    creature: str
    move: str
    fps: float
    bones: tuple[str, ...]
    trans: NDArray[np.float64]
    root_quat: NDArray[np.float64]
    euler: NDArray[np.float64]
    joint_names: tuple[str, ...]
    joints: NDArray[np.float64]
    reproj_front: NDArray[np.float64]
    reproj_side: NDArray[np.float64]
    reproj_px: dict[str, float] = field(default_factory=dict)
    sync: dict[str, Any] = field(default_factory=dict)
    contacts: list[Contact] = field(default_factory=list)
    ground_velocity: NDArray[np.float64] = field(default_factory=lambda: np.zeros(2))
    solver: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def T(self) -> int:
        """How many frames."""
        return len(self.trans)

    @property
    def root_R(self) -> NDArray[np.float64]:
        """(T, 3, 3) world rotation of the root bone."""
        matrix: NDArray[np.float64] = quaternion_to_matrix(self.root_quat)
        return matrix

    def check(self, file: Path | str) -> None:
        """Hold the arrays' shapes together and finite.

        Raises:
            BadInputError: names the key.
        """
        T, B, J = self.T, len(self.bones), len(self.joint_names)
        shapes = {
            "trans": (T, 3),
            "root_quat": (T, 4),
            "euler": (T, B, 3),
            "joints": (T, J, 3),
            "reproj_front": (T, J),
            "reproj_side": (T, J),
            "ground_velocity": (2,),
        }
        for key, shape in shapes.items():
            array = getattr(self, key)
            if array.shape != shape:
                raise BadInputError(f"has shape {array.shape}, not {shape}.", file=file, key=key, hint="Fit again.")
            if not np.isfinite(array).all():
                raise BadInputError("holds numbers that are not finite.", file=file, key=key, hint="Fit again.")


_ARRAYS = ("trans", "root_quat", "euler", "joints", "reproj_front", "reproj_side", "ground_velocity")


def load_motion(path: Path | str) -> Motion:
    """Read motion.json.

    Raises:
        BadInputError: a key is missing or wrong, or shapes disagree.
    """
    data = read_json(path, "motion")
    try:
        arrays = {key: np.array(data[key], float) for key in _ARRAYS}
    except ValueError as error:
        raise BadInputError(f"holds rows of unequal length ({error}).", file=path, hint="Fit again.") from error
    motion = Motion(
        creature=data["creature"],
        move=data["move"],
        fps=float(data["fps"]),
        bones=tuple(data["bones"]),
        joint_names=tuple(data["joint_names"]),
        reproj_px=data["reproj_px"],
        sync=data["sync"],
        contacts=[Contact(c["joint"], c["start"], c["end"]) for c in data["contacts"]],
        solver=data["solver"],
        settings=data["settings"],
        **arrays,
    )
    motion.check(path)
    return motion


def save_motion(path: Path | str, motion: Motion) -> None:
    """Write motion.json; numbers are rounded to 1e-7 (metres, radians), far below what can be seen."""
    motion.check(path)
    data: dict[str, Any] = {
        "creature": motion.creature,
        "move": motion.move,
        "fps": motion.fps,
        "bones": list(motion.bones),
        "joint_names": list(motion.joint_names),
        "reproj_px": motion.reproj_px,
        "sync": motion.sync,
        "contacts": [vars(contact) for contact in motion.contacts],
        "solver": motion.solver,
        "settings": motion.settings,
    }
    data.update({key: np.round(getattr(motion, key), DECIMALS).tolist() for key in _ARRAYS})
    write_json_file(path, "motion", data)
