"""When is a foot planted, and how does the ground move under it?

On an on-the-spot clip the ground has a velocity of its own: planted feet ride backwards together. Contacts and ground
velocity depend on each other, and a slow gait's stance looks like the turning point of its swing, so both are
estimated jointly from the fitted tracks:

1. A foot's floor is a low quantile of its height (a contact keypoint may be an ankle); frames near it are low.
2. Ground velocity g: every low frame of every foot votes with its horizontal velocity; g is the mode of the Gaussian
   kernel density of the votes, found by mean shift. That is expectation maximisation over "this frame rides with the
   ground" with one shared velocity: feet that agree win, a foot that only passes through g votes once or twice.
   Which of several modes is taken counts how near the floor its votes are, and favours a ground that moves backwards
   (+Y, creatures face -Y and mostly go forwards) by `forward_favour`: a gallop's feet swing as low as they stand.
   A wide kernel is pulled by the slow frames around touch-down and lift-off, so it is narrowed to the spread of the
   votes around the mode as long as that falls; where it ends below `steady_speed` the feet agree on one velocity and
   the narrow mode is taken. The feet of drawn walks do not, and keep the wide one.
3. Contacts by hysteresis: a core (low, slow over the ground, slow upwards) of a few frames starts a plant, a wider
   threshold extends it to both sides, because near touch-down and lift-off a smoothed track is never quite still.

Speeds are in body lengths a second and heights in body lengths, so one set of constants serves all creatures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..frame_runs import frame_runs
from ..velocity_mode import mean_shift, steady_mode

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ContactRules:
    """Thresholds; `core` starts a plant and `wide` extends it. Speeds in body lengths a second.

    A foot may be as fast over the ground as its speed or its share of the ground's speed, whichever is more: the
    faster the gait, the less even the feet of drawn and generated walks.
    """

    floor_quantile: float = 0.05
    highest_floor: float = 0.15
    kernel_speed: float = 0.3
    core_speed: float = 0.2
    core_share: float = 0.5
    wide_speed: float = 0.22
    wide_share: float = 0.55
    core_height: float = 0.02
    wide_height: float = 0.022
    least_core_frames: int = 2
    least_frames: int = 3
    least_votes: int = 3
    forward_favour: float = 1.25
    steady_speed: float = 0.08


@dataclass(frozen=True)
class Plant:
    """A planted keypoint: index, frames [start, end)."""

    joint: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class Ground:
    """Plants, and the ground's own velocity (2,) in metres a frame."""

    velocity: Array
    plants: tuple[Plant, ...]


def _velocity(tracks: Array) -> Array:
    """(T, C, 3) central differences, metres a frame."""
    return np.asarray(np.gradient(tracks, axis=0))


def _above_floor(tracks: Array, body_length: float, rules: ContactRules) -> Array:
    """(T, C) height over the foot's own floor; infinite for a foot that never comes down."""
    height = tracks[..., 2]
    floor = np.quantile(height, rules.floor_quantile, axis=0)
    grounded = floor < rules.highest_floor * body_length
    return np.where(grounded, height - floor, np.inf)


def velocity_mode(votes: Array, trust: Array, unit: float, rules: ContactRules) -> Array:
    """The ground's velocity (2,) by votes (N, 2): mean shift from the vote with the best support.

    Args:
        trust: (N,) how much each vote supports a start. unit: a body length a second, metres a frame.
    """
    sigma = rules.kernel_speed * unit
    chosen = np.arange(0, len(votes), max(1, len(votes) // 400))
    near = np.exp(-0.5 * ((votes[chosen, None] - votes) ** 2).sum(-1) / sigma**2)
    support = (near @ trust) * np.where(votes[chosen, 1] > 0, rules.forward_favour, 1.0)
    wide = mean_shift(votes, votes[chosen[int(support.argmax())]], sigma)
    return steady_mode(votes, wide, sigma, rules.steady_speed * unit)


def _plants(core: Mask, wide: Mask, rules: ContactRules) -> list[tuple[int, int]]:
    """Runs of `wide` that hold a run of `core`, both long enough."""
    return [
        (start, end)
        for start, end in frame_runs(wide, rules.least_frames)
        if frame_runs(core[start:end], rules.least_core_frames)
    ]


def find_ground(
    joints: Array,
    contacts: tuple[int, ...],
    body_length: float,
    fps: float,
    rules: ContactRules | None = None,
    known: Array | None = None,
) -> Ground:
    """Plants and ground velocity of joint tracks.

    Args:
        joints: (T, J, 3) metres, ground z = 0. contacts: keypoint indices that may touch the ground.
        known: the ground's velocity (2,) where it has been found; tracks that were already planted would only
            confirm it.
    """
    rules = rules or ContactRules()
    if not contacts or len(joints) < rules.least_frames:
        return Ground(np.zeros(2), ())
    tracks = joints[:, list(contacts)]
    velocity, height = _velocity(tracks), _above_floor(tracks, body_length, rules)
    unit = body_length / fps
    low = height < rules.core_height * body_length
    votes, trust = velocity[low][:, :2], 1 - height[low] / (rules.core_height * body_length)
    if known is not None:
        ground = known
    elif len(votes) < rules.least_votes:
        return Ground(np.zeros(2), ())
    else:
        ground = velocity_mode(votes, trust, unit, rules)
    over = np.linalg.norm(velocity[..., :2] - ground, axis=-1)
    speed = np.maximum(over, np.abs(velocity[..., 2]))
    pace = float(np.linalg.norm(ground))
    core = (speed < max(rules.core_speed * unit, rules.core_share * pace)) & (height < rules.core_height * body_length)
    wide = (speed < max(rules.wide_speed * unit, rules.wide_share * pace)) & (height < rules.wide_height * body_length)
    plants = [
        Plant(joint, start, end)
        for column, joint in enumerate(contacts)
        for start, end in _plants(core[:, column], wide[:, column], rules)
    ]
    return Ground(ground, tuple(plants))
