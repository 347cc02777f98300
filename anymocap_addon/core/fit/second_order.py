"""The default solver: graduated Levenberg-Marquardt, weights learnt from the clip itself, then plants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from .contacts import ContactRules, Ground, find_ground
from .lm import Schedule, Tick, minimise
from .model import FitModel, State, clipped
from .objective import Objective, Steps, Weights
from .observations import Observations
from .offsets import OffsetRules, fit_with_offsets

Report = Callable[[float, str], None]

FIRST = Schedule((57.0, 28.0, 14.0), 8, 2e-3)
REFINE = Schedule((14.0,), 4, 1e-3)
PLANTED = Schedule((14.0,), 6, 3e-4, damping=1e-5, least_damping=1e-5)


@dataclass(frozen=True)
class SecondOrderOptions:
    """Constants of the second-order fit.

    Attributes:
        first, refine, planted: schedules of the three passes (scales in px at the reader's reference error).
        acceleration: weight of the first pass: weak, for an over-smoothed fit cannot teach the adaptive weights.
        adaptive_px, adaptive_least, adaptive_most: w = clip(adaptive_px^2 / (2 var(acceleration)), least, most).
        plant, plant_height: weight of a planted step along the ground and of its height, relative to `plant`.
        plant_turns: how often plants are looked for and held.
    """

    first: Schedule = FIRST
    refine: Schedule = REFINE
    planted: Schedule = PLANTED
    acceleration: float = 0.03
    angular_velocity: float = 60.0
    rest: float = 30.0
    ground: float = 5.0
    adaptive_px: float = 2.0
    adaptive_least: float = 0.005
    adaptive_most: float = 2.0
    plant: float = 100.0
    plant_height: float = 0.1
    plant_turns: int = 2
    contacts: ContactRules = field(default_factory=ContactRules)
    offsets: OffsetRules = field(default_factory=OffsetRules)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted motion, its plants, the loss at the end and how many iterations were used."""

    state: State
    ground: Ground
    loss: float
    iterations: int


def adaptive_acceleration(joints: Tensor, m_per_px: float, options: SecondOrderOptions) -> Tensor:
    """(J,) weights of the acceleration term from a first fit: empirical Bayes.

    A joint whose acceleration has variance v (px^2 an axis) has the Gaussian prior weight 1 / (2 v) against readings
    of variance `adaptive_px`^2: a tail that is waved may move as it does, a still head is held still.
    """
    acceleration = (joints[2:] - 2 * joints[1:-1] + joints[:-2]) / m_per_px
    variance = (acceleration * acceleration).sum(-1).mean(0) / 3
    weight = 0.5 * options.adaptive_px**2 / variance.clamp(min=1e-6)
    return weight.clamp(options.adaptive_least, options.adaptive_most)


def planted_steps(model: FitModel, ground: Ground, frames: int, weight: float, height: float) -> Steps:
    """Every step within a plant weighs `weight` along the ground and `weight * height` upwards."""
    table = np.zeros((max(frames - 1, 0), model.rig.J, 3))
    for plant in ground.plants:
        table[plant.start : plant.end - 1, plant.joint] = (weight, weight, weight * height)
    return Steps(model.tensor(table), model.tensor(np.array([*ground.velocity, 0.0])))


def fit_second_order(
    model: FitModel,
    seen: Observations,
    start: State,
    fps: float,
    plants: bool,
    rest_pose: Tensor | None = None,
    options: SecondOrderOptions | None = None,
    report: Report | None = None,
) -> Fitted:
    """Fit from `start`: graduated pass, adaptive pass, reader offsets, contacts, planted pass, limits clipped.

    Args:
        fps: frames a second of the readings, for speeds. plants: run the planted pass.
        rest_pose: (B, 3) radians that angles are pulled to.
        report: called with the share done and a note.
    """
    options = options or SecondOrderOptions()
    tell = report or (lambda share, note: None)
    weights = Weights(
        acceleration=model.tensor(np.array(options.acceleration)),
        angular_velocity=options.angular_velocity,
        rest=options.rest,
        ground=options.ground,
        rest_pose=rest_pose,
    )
    rough = minimise(
        Objective(model, seen, weights), start, options.first, lambda share: tell(0.4 * share, "first fit")
    )
    weights = replace(weights, acceleration=adaptive_acceleration(rough.at.pose.joints, model.m_per_px, options))
    raw = Objective(model, seen, weights)
    better = minimise(raw, rough.state, options.refine, lambda share: tell(0.4 + 0.2 * share, "refine"))
    scale = options.refine.scales_px[-1]
    state, freed = fit_with_offsets(
        raw, weights, better.state, scale, options.offsets, lambda share: tell(0.6 + 0.2 * share, "reader offsets")
    )
    iterations = rough.iterations + better.iterations + options.offsets.turns
    ground = Ground(np.zeros(2), ())
    if plants:
        state, ground, used = _hold_plants(
            Objective(model, freed, weights), state, fps, options, lambda share: tell(0.8 + 0.2 * share, "plants")
        )
        iterations += used
    state = clipped(model, state)
    with torch.no_grad():
        loss = float(Objective(model, freed, weights).evaluate(state, scale).loss)
    tell(1.0, "done")
    return Fitted(state, ground, loss, iterations)


def _hold_plants(
    free: Objective, state: State, fps: float, options: SecondOrderOptions, tick: Tick
) -> tuple[State, Ground, int]:
    """Find plants and hold them; then look again, for held feet show better where their plants end.

    Returns:
        the state, the plants with the ground's velocity, and the iterations used.
    """
    model, used = free.model, 0
    rig, ground = model.rig, Ground(np.zeros(2), ())
    for turn in range(options.plant_turns):
        known = ground.velocity if turn else None
        found = find_ground(_joints(model, state), rig.contacts, rig.body_length, fps, options.contacts, known)
        if found.plants == ground.plants:
            break
        ground = found
        steps = planted_steps(model, ground, len(state.trans), options.plant, options.plant_height)
        held = Objective(model, free.seen, replace(free.weights, steps=steps))
        solved = minimise(held, state, options.planted)
        state, used = solved.state, used + solved.iterations
        tick((turn + 1) / options.plant_turns)
    return state, ground, used


def _joints(model: FitModel, state: State) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    with torch.no_grad():
        return np.asarray(model.forward(state).joints.cpu().numpy())
