"""How long and at which sizes a reader is trained: in steps, so that a result does not depend on the machine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import BadInputError

BATCH = 8
WARM_UP = 30


@dataclass(frozen=True)
class Phase:
    """`steps` steps with frames `width` network px wide."""

    width: int
    steps: int


# Small frames first: a step there costs a third, and what it learns carries over.
PRESETS: dict[str, tuple[Phase, ...]] = {
    "quick": (Phase(256, 400), Phase(384, 120)),
    "default": (Phase(256, 650), Phase(384, 480)),
    "long": (Phase(256, 1500), Phase(384, 1600)),
}


@dataclass(frozen=True)
class Plan:
    """The phases of one training.

    Attributes:
        preset: the name it was made from.
        phases: in order.
        batch: samples a step.
    """

    preset: str
    phases: tuple[Phase, ...]
    batch: int

    @property
    def steps(self) -> int:
        return sum(phase.steps for phase in self.phases)

    def width(self, step: int) -> int:
        """Frame width of a step; the last phase's from the end on."""
        for phase in self.phases:
            step -= phase.steps
            if step < 0:
                return phase.width
        return self.phases[-1].width

    def cost(self, step: int) -> float:
        """Work done before `step` as a share of the whole: a step costs as much as its frames have pixels."""
        total = sum(phase.steps * phase.width**2 for phase in self.phases)
        done = 0
        for phase in self.phases:
            done += min(max(step, 0), phase.steps) * phase.width**2
            step -= phase.steps
        return done / total

    def rate_share(self, step: int) -> float:
        """The learning rate as a share of its peak: linear warm-up, then a cosine to nothing."""
        warm = min(1.0, (step + 1) / WARM_UP)
        return warm * 0.5 * (1 + math.cos(math.pi * step / self.steps))

    def plain(self) -> dict[str, Any]:
        return {
            "preset": self.preset,
            "phases": [[phase.width, phase.steps] for phase in self.phases],
            "batch": self.batch,
        }


def make_plan(preset: str, steps: int) -> Plan:
    """The preset's phases; with `steps` > 0 they are stretched or shrunk to that many in all.

    Raises:
        BadInputError: an unknown preset.
    """
    if preset not in PRESETS:
        known = ", ".join(PRESETS)
        raise BadInputError(f"There is no preset {preset!r}.", key="preset", hint=f"Choose one of: {known}.")
    phases = PRESETS[preset]
    if steps > 0:
        share = steps / sum(phase.steps for phase in phases)
        first = [Phase(phase.width, max(1, round(phase.steps * share))) for phase in phases[:-1]]
        first = first if sum(phase.steps for phase in first) < steps else []
        rest = steps - sum(phase.steps for phase in first)
        phases = (*first, Phase(phases[-1].width, rest))
    return Plan(preset, phases, BATCH)
