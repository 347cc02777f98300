"""Levenberg-Marquardt on the loss of objective.py, its robust scale narrowed step by step.

While the scale is being narrowed, limits are soft: a penalty, so that no angle gets stuck at one on the way. At the
last scale they are hard, by projected Newton steps (Bertsekas 1982): an angle at a limit that the gradient pushes
outward is held, the others are solved for, and the result is clipped. A penalty to the end, then a clip, costs
several percent of the loss wherever readings push against limits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from .banded import BandedSystem, solve
from .model import State, clipped
from .objective import Evaluation, Objective

Tick = Callable[[float], None]

LARGEST_TURN_RAD = 0.7
LARGEST_DAMPING = 1e6
TRIES = 6
ROUNDS = 3
SLACK_RAD = 2e-3  # so little beyond a limit is clipped without solving again


@dataclass(frozen=True)
class Schedule:
    """Cauchy scales in px, one an iteration, the last kept until the relative gain is under `tolerance`.

    `damping` is what the first step starts with; it never falls below `least_damping` (less and steps overshoot in
    the turns that readings hardly see, more and heavy plants move slowly).
    """

    scales_px: tuple[float, ...]
    iterations: int
    tolerance: float
    damping: float = 1e-3
    least_damping: float = 1e-3


@dataclass(frozen=True)
class Solved:
    """A minimum: state, its evaluation at the last scale, iterations used."""

    state: State
    at: Evaluation
    iterations: int


def minimise(objective: Objective, start: State, schedule: Schedule, tick: Tick | None = None) -> Solved:
    """Minimise from `start`; the result is inside the limits.

    Args:
        tick: called with the share of iterations done, after each.
    """
    state, damping, used = start, schedule.damping, 0
    last = len(schedule.scales_px) - 1
    with torch.no_grad():
        for used in range(1, schedule.iterations + 1):
            stage = min(used - 1, last)
            if stage == used - 1:
                state = clipped(objective.model, state) if stage == last else state
                at = objective.evaluate(state, schedule.scales_px[stage])
            step = _step(objective, state, at, schedule, damping, hard=stage == last)
            if tick is not None:
                tick(used / schedule.iterations)
            if step is None:
                if stage == last:
                    break
                damping = schedule.damping
                continue
            gain = float(at.penalised - step[1].penalised)
            state, at, damping = step
            if stage == last and gain < schedule.tolerance * float(at.penalised):
                break
        state = clipped(objective.model, state)
        return Solved(state, objective.evaluate(state, schedule.scales_px[-1]), used)


def _step(
    objective: Objective, state: State, at: Evaluation, schedule: Schedule, damping: float, hard: bool
) -> tuple[State, Evaluation, float] | None:
    """One accepted step: the new state, its evaluation and the next damping; None when no step gains."""
    system = objective.normal_equations(state, at)
    for _ in range(TRIES):
        step = _inside(objective, state, system, damping) if hard else solve(system, damping)
        if step is None:
            damping = min(max(damping * 10, 1e-4), LARGEST_DAMPING)
            continue
        turn = step[:, 3:].abs().amax(1, keepdim=True)
        step = step * (LARGEST_TURN_RAD / turn.clamp(min=1e-9)).clamp(max=1.0)
        tried = objective.moved(state, step)
        if hard:
            tried = clipped(objective.model, tried)
        after = objective.evaluate(tried, at.scale)
        if float(after.penalised) < float(at.penalised):
            return tried, after, max(damping * 0.2, schedule.least_damping)
        damping = min(max(damping * 8, 1e-5), LARGEST_DAMPING)
    return None


def _inside(objective: Objective, state: State, system: BandedSystem, damping: float) -> Tensor | None:
    """The damped step (T, D) that keeps angles inside their limits, None when the system is not positive definite.

    Angles at a limit that downhill would leave are held. Angles that the step would take beyond a limit are moved
    onto it, and the others are solved for again, so that they make up for it: clipping alone would break plants.
    """
    model, euler = objective.model, state.euler[:, 1:].flatten(1)
    low = torch.nn.functional.pad(model.low[1:].flatten() - euler, (6, 0), value=-torch.inf)
    high = torch.nn.functional.pad(model.high[1:].flatten() - euler, (6, 0), value=torch.inf)
    fixed = ((low >= 0) & (system.gradient > 0)) | ((high <= 0) & (system.gradient < 0))
    moved = torch.zeros_like(system.gradient)
    step: Tensor | None = None
    for _ in range(ROUNDS):
        rest = BandedSystem(system.here, system.after1, system.after2, system.gradient + system.times(moved))
        solved = solve(rest, damping, fixed)
        if solved is None:
            return None
        step = solved + moved
        beyond = ~fixed & ((step < low - SLACK_RAD) | (step > high + SLACK_RAD))
        if not bool(beyond.any()):
            break
        moved = torch.where(beyond, torch.clamp(step, low, high), moved)
        fixed = fixed | beyond
    return step
