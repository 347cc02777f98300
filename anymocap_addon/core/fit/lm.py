"""Levenberg-Marquardt on the loss of objective.py, its robust scale narrowed step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from .banded import solve
from .model import State
from .objective import Evaluation, Objective

Tick = Callable[[float], None]

LARGEST_TURN_RAD = 0.7
SMALLEST_DAMPING = 1e-7
LARGEST_DAMPING = 1e6
TRIES = 6


@dataclass(frozen=True)
class Schedule:
    """Cauchy scales in px, one an iteration, the last kept until the relative gain is under `tolerance`."""

    scales_px: tuple[float, ...]
    iterations: int
    tolerance: float
    damping: float = 1e-3


@dataclass(frozen=True)
class Solved:
    """A minimum: state, its evaluation at the last scale, iterations used."""

    state: State
    at: Evaluation
    iterations: int


def minimise(objective: Objective, start: State, schedule: Schedule, tick: Tick | None = None) -> Solved:
    """Minimise from `start`.

    Args:
        tick: called with the share of iterations done, after each.
    """
    state, damping = start, schedule.damping
    used = 0
    at: Evaluation | None = None
    with torch.no_grad():
        for used in range(1, schedule.iterations + 1):
            scale = schedule.scales_px[min(used, len(schedule.scales_px)) - 1]
            settled = used >= len(schedule.scales_px)
            if at is None or not settled or used == len(schedule.scales_px):
                at = objective.evaluate(state, scale)
            step = _step(objective, state, at, scale, damping)
            if tick is not None:
                tick(used / schedule.iterations)
            if step is None:
                damping = max(schedule.damping, 1e-5)
                if settled:
                    break
                continue
            before, (state, at, damping) = at, step
            if settled and float(before.penalised - at.penalised) < schedule.tolerance * float(before.penalised):
                break
        final = objective.evaluate(state, schedule.scales_px[-1])
    return Solved(state, final, used)


def _step(
    objective: Objective, state: State, at: Evaluation, scale: float, damping: float
) -> tuple[State, Evaluation, float] | None:
    """One accepted step: the new state, its evaluation and the next damping; None when no step gains."""
    system = objective.normal_equations(state, at)
    for _ in range(TRIES):
        step = solve(system, damping)
        if step is None:
            damping = min(max(damping * 10, 1e-4), LARGEST_DAMPING)
            continue
        turn = step[:, 3:].abs().amax(1, keepdim=True)
        step = step * (LARGEST_TURN_RAD / turn.clamp(min=1e-9)).clamp(max=1.0)
        tried = objective.moved(state, step)
        after = objective.evaluate(tried, scale)
        if float(after.penalised) < float(at.penalised):
            return tried, after, max(damping * 0.2, SMALLEST_DAMPING)
        damping = min(max(damping * 8, 1e-5), LARGEST_DAMPING)
    return None
