"""A made-up walker with known motion, for the tests of the fit: a body, a tail and two legs of two bones each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anymocap_addon.core.detections import Detections
from anymocap_addon.core.kinematics import Skeleton, rotvec_to_matrix
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.rig import RigInfo

Array = NDArray[np.float64]

FPS = 24.0
LAYOUT = Layout(m_per_px=0.0022)
LEG_M, HIP_M = 0.25, 0.47
GROUND_STEP_M = 0.02
STANCE, PERIOD = 12, 20

_BONES = {
    "body": (-1, (0.0, 0.25, 0.5), (0.0, -0.25, 0.5)),
    "tail": (0, (0.0, 0.3, 0.55), (0.0, 0.55, 0.45)),
    "neck": (0, (0.0, -0.25, 0.5), (0.0, -0.45, 0.65)),
    "thigh_L": (0, (0.1, 0.1, 0.5), (0.1, 0.1, 0.25)),
    "shin_L": (3, (0.1, 0.1, 0.25), (0.1, 0.1, 0.0)),
    "thigh_R": (0, (-0.1, 0.1, 0.5), (-0.1, 0.1, 0.25)),
    "shin_R": (5, (-0.1, 0.1, 0.25), (-0.1, 0.1, 0.0)),
}


def walker_rig(limit_deg: float = 100.0) -> RigInfo:
    """Seven bones, eleven keypoints; the shins' tips are the contacts."""
    rest, lengths = [], []
    for _, head, tail in _BONES.values():
        along = np.subtract(tail, head)
        lengths.append(float(np.linalg.norm(along)))
        y = along / lengths[-1]
        x = np.cross(y, [0.0, 0.0, 1.0] if abs(y[2]) < 0.9 else [0.0, 1.0, 0.0])
        x /= np.linalg.norm(x)
        matrix = np.eye(4)
        matrix[:3, :3] = np.stack([x, y, np.cross(x, y)], 1)
        matrix[:3, 3] = head
        rest.append(matrix)
    bones = tuple(_BONES)
    parents = np.array([parent for parent, _, _ in _BONES.values()])
    tips = [1, 2, 4, 6]
    half = np.radians(limit_deg)
    return RigInfo(
        creature="walker",
        armature="Armature",
        to_prep=np.eye(4),
        bones=bones,
        parents=parents,
        armature_parents=tuple(bones[p] if p >= 0 else None for p in parents),
        rest=np.array(rest),
        lengths=np.array(lengths),
        limits_rad=np.tile(np.array([-half, half]), (len(bones), 3, 1)),
        keypoints=(*bones, *(f"{bones[b]}_tip" for b in tips)),
        keypoint_bone=np.array([*range(len(bones)), *tips]),
        keypoint_end=np.array([0] * len(bones) + [1] * len(tips)),
        contacts=(9, 10),
        pairs=np.array([[3, 5], [4, 6], [9, 10]]),
        joint_groups={"left_leg": (3, 4, 9), "right_leg": (5, 6, 10)},
        bone_groups={"left_leg": ("thigh_L", "shin_L"), "right_leg": ("thigh_R", "shin_R")},
        body_length=1.0,
    )


@dataclass(frozen=True)
class Walk:
    """True motion: trans (T, 3), root_R (T, 3, 3), euler (T, B, 3), joints (T, J, 3), planted (T, 2) left and right."""

    trans: Array
    root_R: Array
    euler: Array
    joints: Array
    planted: NDArray[np.bool_]

    def part(self, frames: int) -> Walk:
        """The first frames."""
        return Walk(*(array[:frames] for array in vars(self).values()))


def _foot(phase: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Foot along y, its height, and whether it stands: it rides back with the ground, then swings forward."""
    stands = phase < STANCE
    reach = GROUND_STEP_M * STANCE / 2
    part = np.clip((phase - STANCE) / (PERIOD - STANCE), 0, 1)
    swing_y = reach - (1 - np.cos(np.pi * part)) * reach
    y = np.where(stands, GROUND_STEP_M * phase - reach, swing_y)
    return y, np.where(stands, 0.0, 0.08 * np.sin(np.pi * part)), stands


def walk(rig: RigInfo, frames: int = 60) -> Walk:
    """Walking on the spot over ground that moves by GROUND_STEP_M a frame, with a nodding neck and a waving tail."""
    t = np.arange(frames)
    trans = np.tile(rig.rest[0, :3, 3], (frames, 1))
    trans[:, 2] += HIP_M - 0.5
    root_R = np.tile(rig.rest[0, :3, :3], (frames, 1, 1))
    euler = np.zeros((frames, rig.B, 3))
    euler[:, 1, 2] = 0.4 * np.sin(2 * np.pi * t / 31)
    euler[:, 2, 0] = 0.2 * np.sin(2 * np.pi * t / PERIOD)
    planted = np.zeros((frames, 2), bool)
    for side, (thigh, shin) in enumerate(((3, 4), (5, 6))):
        y, z, planted[:, side] = _foot((t + side * PERIOD / 2) % PERIOD)
        down = HIP_M - z
        knee = -np.arccos(np.clip((y * y + down * down) / (2 * LEG_M**2) - 1, -1, 1))
        euler[:, thigh, 0] = np.arctan2(y, down) - knee / 2
        euler[:, shin, 0] = knee
    joints = Skeleton.of(rig).forward(trans, root_R, euler).joints
    return Walk(trans, root_R, euler, joints, planted)


def turned(walk_: Walk, rig: RigInfo, degrees: float) -> Walk:
    """The walk with its root turned about world Z."""
    turn = rotvec_to_matrix(np.array([0.0, 0.0, np.radians(degrees)]))
    root_R = turn @ walk_.root_R
    joints = Skeleton.of(rig).forward(walk_.trans, root_R, walk_.euler).joints
    return Walk(walk_.trans, root_R, walk_.euler, joints, walk_.planted)


def detections(rig: RigInfo, joints: Array, confidence: float = 0.95) -> Detections:
    """A reading without error."""
    front, side = LAYOUT.project(joints)
    frames = len(joints)
    sure = np.full((frames, rig.J), confidence)
    return Detections(
        rig.keypoints, front.copy(), side.copy(), sure.copy(), sure.copy(), FPS, np.arange(frames) / FPS, np.eye(2, 3)
    )


def noisy(reading: Detections, seed: int, bias_px: float = 3.0, drift_px: float = 2.0) -> Detections:
    """A reading with the errors of a real reader: an offset a joint and view, and drift with a memory of 0.9."""
    rng = np.random.default_rng(seed)
    for uv in (reading.front_uv, reading.side_uv):
        drift = rng.normal(0, drift_px, uv.shape)
        for frame in range(1, len(drift)):
            drift[frame] = 0.9 * drift[frame - 1] + np.sqrt(1 - 0.81) * drift[frame]
        uv += rng.normal(0, bias_px, uv.shape[1:]) + drift
    return reading
