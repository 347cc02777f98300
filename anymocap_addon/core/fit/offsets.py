"""The reader's constant offsets, estimated beside the motion.

A reader errs by bias more than by jitter: a joint is read a few pixels off throughout a clip. Taken as independent
noise, a hundred frames of one bias would outvote the skeleton; as an unknown constant with a prior it is a single
vote. For joint and view the offset b minimises  sum_t w |r_t - b|^2 + strength mean_t(w) |b|^2, so b is the weighted
mean residual, shrunk. Motion and offsets are improved in turn; over-relaxation makes up for the slow turns.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from .lm import Schedule, Tick, minimise
from .model import State
from .objective import Objective, Weights
from .observations import Observations


@dataclass(frozen=True)
class OffsetRules:
    """`strength` of the prior in frames, `relaxation` of a turn (1 = none), number of `turns`."""

    strength: float = 8.0
    relaxation: float = 2.0
    turns: int = 4


@dataclass(frozen=True, eq=False)
class Offsets:
    """Constant offsets of the readings, metres: front (J, 2) in x and z, side (J, 2) in y and z."""

    front: Tensor
    side: Tensor


def mean_residuals(objective: Objective, state: State, scale_px: float, strength: float) -> Offsets:
    """The offsets that best explain `state`'s residuals against raw readings."""
    at, seen = objective.evaluate(state, scale_px), objective.seen
    found = []
    for residual, ratio, weight in (
        (at.front, at.front_ratio, seen.weight_front),
        (at.side, at.side_ratio, seen.weight_side),
    ):
        trusted = weight / (1 + ratio)
        total = trusted.sum(0) + strength * weight.mean(0) + 1e-12
        # a residual is joint minus reading, an offset is reading minus joint
        found.append(-(trusted[..., None] * residual).sum(0) / total[:, None] * objective.model.m_per_px)
    return Offsets(found[0], found[1])


def fit_with_offsets(
    raw: Objective, weights: Weights, start: State, scale_px: float, rules: OffsetRules, tick: Tick | None = None
) -> tuple[State, Observations]:
    """Improve motion and offsets in turn.

    Args:
        raw: the loss on the readings as they are. weights: of the loss that is minimised.

    Returns:
        the state, and the readings with the offsets taken out.
    """
    state, seen, known = start, raw.seen, None
    schedule = Schedule((scale_px,), 1, 0.0)
    with torch.no_grad():
        for turn in range(rules.turns):
            found = mean_residuals(raw, state, scale_px, rules.strength)
            if known is not None:
                found = Offsets(
                    torch.lerp(known.front, found.front, rules.relaxation),
                    torch.lerp(known.side, found.side, rules.relaxation),
                )
            known = found
            seen = raw.seen.without(known.front, known.side)
            state = minimise(Objective(raw.model, seen, weights), state, schedule).state
            if tick is not None:
                tick((turn + 1) / rules.turns)
    return state, seen
