"""The lynx's walk and its idle, frame by frame, as paths of the body and the feet. Plain numpy.

Walk: a lateral sequence (left hind, left front, right hind, right front, a quarter of the cycle apart) on the spot:
    in stance each toe tip rides backwards at one constant velocity, as on a treadmill.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .builtin_anatomy import bones
from .builtin_legs import FEET, BodyPath, FootPath, Motion, solve

Array = NDArray[np.float64]

FPS = 24
WALK_FRAMES = 28  # one cycle
LOOK_FRAMES = 120
TOUCHDOWN = {"foot_L": 0.0, "hand_L": 0.25, "foot_R": 0.5, "hand_R": 0.75}  # phase of the cycle
DUTY = 0.64  # share of the cycle that a foot stands
STANCE_M = 0.36  # length of a stance
TRACK_M = 0.080  # toe tips from the middle
CROUCH_M = 0.026
_MIDDLE_M = {"hand": -0.338, "foot": 0.240}  # toe tip at mid-stance
_LIFT_M = {"hand": 0.055, "foot": 0.045}


def ground_velocity() -> Array:
    """(3,) metres a frame of the ground under the walk: backwards, +Y."""
    return np.array([0.0, STANCE_M / (DUTY * WALK_FRAMES), 0.0])


def walk() -> Motion:
    """One cycle and its first frame again, (WALK_FRAMES + 1) frames."""
    phase = np.arange(WALK_FRAMES + 1) / WALK_FRAMES
    return solve(_walking_body(phase), {name: _walking_foot(name, phase) for name in FEET})


def in_stance(name: str) -> NDArray[np.bool_]:
    """(WALK_FRAMES + 1,) frames in which a foot's toe tip stands."""
    return _since_touchdown(name, np.arange(WALK_FRAMES + 1) / WALK_FRAMES) <= DUTY


def look_around() -> Motion:
    """Standing: it breathes, looks to its left and right, and flicks its tail; first and last frame are the same
    pose."""
    t = np.arange(LOOK_FRAMES + 1) / LOOK_FRAMES
    toes = {name: np.tile(np.array(bones()[name][2]), (len(t), 1)) for name in FEET}
    body = _looking_body(t)
    feet = {}
    for name, toe in toes.items():
        lean = np.zeros(len(t)) if name.startswith("foot") else 25.0 * body.shift[:, 1]
        feet[name] = FootPath(toe, np.zeros(len(t)), lean)
    return solve(body, feet)


def _wave(phase: Array, at: float, times: int = 1) -> Array:
    """A cosine over the cycle that peaks at phase `at`, `times` a cycle."""
    return np.cos(2 * np.pi * times * (phase - at))


def _turns(pitch: Array | float, roll: Array | float, yaw: Array | float, like: Array) -> Array:
    return np.stack([np.broadcast_to(a, like.shape) for a in (pitch, roll, yaw)], -1).astype(float)


def _walking_body(phase: Array) -> BodyPath:
    """Hips and chest sway over the standing legs and turn with the reaching ones; the head stays calm; the tail
    follows."""
    hind, fore = 0.5 * DUTY, 0.25 + 0.5 * DUTY  # mid-stance of the left legs
    hips = _turns(1.2 * _wave(phase, 0.1, 2), 3.0 * _wave(phase, hind + 0.5), -5.0 * _wave(phase, 0.0), phase)
    chest = _turns(-1.5 * _wave(phase, 0.2, 2), 3.5 * _wave(phase, fore + 0.5), -4.0 * _wave(phase, 0.25), phase)
    turns = {"hips": hips, "chest": chest}
    for name, share in (("spine_1", 1 / 3), ("spine_2", 2 / 3)):
        turns[name] = hips + (chest - hips) * share
    nod = 3.0 * _wave(phase, 0.05, 2)
    turns["neck"] = 0.45 * chest + _turns(6.0 + nod, 0, 0, phase)
    turns["head"] = 0.15 * chest + _turns(1.0 + 0.35 * nod, 0, 1.5 * _wave(phase, 0.45), phase)
    for i, name in enumerate(("tail_1", "tail_2", "tail_3")):
        swing = (4 + 5 * i) * _wave(phase, 0.12 + 0.09 * i)
        turns[name] = hips + _turns((2 + 2 * i) * _wave(phase, 0.15 + 0.06 * i, 2), 0, swing, phase)
    shift = np.stack(
        [
            0.012 * _wave(phase, hind),
            0.004 * _wave(phase, 0.10, 2),
            -CROUCH_M + 0.008 * _wave(phase, hind, 2),
        ],
        -1,
    )
    return BodyPath(turns, shift)


def _since_touchdown(name: str, phase: Array) -> Array:
    """Phase since the foot came down, 0 to 1; rounding can't turn a 0 into a 1."""
    return np.round(phase - TOUCHDOWN[name], 9) % 1.0


def _walking_foot(name: str, phase: Array) -> FootPath:
    kind = name.split("_")[0]
    since = _since_touchdown(name, phase)
    standing = since <= DUTY
    swing = np.clip((since - DUTY) / (1 - DUTY), 0, 1)
    reach = STANCE_M / 2
    y = np.where(standing, -reach + STANCE_M * since / DUTY, _swing_y(swing, reach))
    lift = np.where(standing, 0, _LIFT_M[kind] * 16 * swing**2 * (1 - swing) ** 2 * (1.25 - 0.5 * swing))
    toe = np.array(bones()[name][2])
    side = np.sign(toe[0])
    x = side * (TRACK_M + np.where(standing, 0, 0.012 * np.sin(np.pi * swing) ** 2))
    path = np.stack([x, _MIDDLE_M[kind] + y, toe[2] + lift], -1)
    if kind == "hand":
        lean = 18.0 * y / reach
        return FootPath(path, _heel(since, swing, 34.0, 48.0), lean)
    trail = np.where(standing, 0, np.sin(np.pi * np.clip(swing / 0.8, 0, 1)) ** 2)
    lean = 20.0 * y / reach - 2.0 + 14.0 * trail
    return FootPath(path, _heel(since, swing, 34.0, 46.0), lean)


def _swing_y(s: Array, reach: float) -> Array:
    """Cubic Hermite from the back to the front with the ground's velocity at both ends."""
    slope = STANCE_M / DUTY * (1 - DUTY)
    h00, h10 = 2 * s**3 - 3 * s**2 + 1, s**3 - 2 * s**2 + s
    h01, h11 = -2 * s**3 + 3 * s**2, s**3 - s**2
    return h00 * reach + h10 * slope - h01 * reach + h11 * slope


def _heel(since: Array, swing: Array, at_lift_off: float, most: float) -> Array:
    """Heel lift in degrees: flat in stance, rolling off over its last fifth, most early in the swing, toes up before
    touchdown."""
    keys = np.array([0.0, 0.78 * DUTY, DUTY, DUTY + 0.25 * (1 - DUTY), DUTY + 0.75 * (1 - DUTY), 1.0])
    values = np.array([0.0, 0.0, at_lift_off, most, -14.0, 0.0])
    slopes = np.array([0.0, 0.0, (most - 0.0) / 0.2, 0.0, 0.0, 0.0])
    i = np.clip(np.searchsorted(keys, since, side="right") - 1, 0, len(keys) - 2)
    width = keys[i + 1] - keys[i]
    s = (since - keys[i]) / width
    h00, h10 = 2 * s**3 - 3 * s**2 + 1, s**3 - 2 * s**2 + s
    h01, h11 = -2 * s**3 + 3 * s**2, s**3 - s**2
    return h00 * values[i] + h10 * width * slopes[i] + h01 * values[i + 1] + h11 * width * slopes[i + 1]


def _bump(t: Array, rise: tuple[float, float], fall: tuple[float, float]) -> Array:
    """0, up over `rise`, 1, down over `fall`, 0."""
    up = np.clip((t - rise[0]) / (rise[1] - rise[0]), 0, 1)
    down = np.clip((t - fall[0]) / (fall[1] - fall[0]), 0, 1)
    return up**3 * (10 - 15 * up + 6 * up**2) - down**3 * (10 - 15 * down + 6 * down**2)


def _looking_body(t: Array) -> BodyPath:
    left = _bump(t, (0.05, 0.20), (0.36, 0.50))
    right = _bump(t, (0.42, 0.58), (0.74, 0.90))
    breath = _wave(t, 0.0, 3) - 1.0
    look = left - right
    chest = _turns(0.4 * breath, 0, 4.0 * look, t)
    turns = {"hips": _turns(0, -0.8 * look, 0.6 * look, t), "chest": chest}
    for name, share in (("spine_1", 1 / 3), ("spine_2", 2 / 3)):
        turns[name] = turns["hips"] + (chest - turns["hips"]) * share
    turns["neck"] = chest + _turns(-5.0 * left + 3.0 * right, 4.0 * look, 16.0 * look, t)
    turns["head"] = chest + _turns(-8.0 * left + 5.0 * right, 8.0 * look, 40.0 * look, t)
    flick = _bump(t, (0.20, 0.28), (0.30, 0.40)) - _bump(t, (0.62, 0.70), (0.72, 0.84))
    for i, name in enumerate(("tail_1", "tail_2", "tail_3")):
        turns[name] = _turns((3 + 3 * i) * abs(flick), 0, (8 + 9 * i) * flick, t)
    shift = np.stack([0.010 * look, 0.0 * t, 0.0020 * breath - 0.006 * abs(look)], -1)
    return BodyPath(turns, shift)
