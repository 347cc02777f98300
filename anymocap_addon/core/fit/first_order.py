"""The first-order solver: sigmoid limits, a Cauchy scale annealed from 40 to 6 px, 1,500 Adam steps, twice.

The first fit finds plants and the ground's velocity; the second holds each plant at an anchor that rides with the
ground. Its constants are frozen in adam_baseline.json: it is the user's choice (`solver adam`) and the benchmark's
baseline. Readings weigh by their confidence.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ..kinematics import continuous_quaternion, matrix_to_quaternion, quaternion_to_matrix
from .contacts import Ground, find_ground
from .model import FitModel, State, clipped
from .objective import Anchors, Objective, Weights
from .observations import Observations
from .second_order import Fitted, Report

CONSTANTS_FILE = Path(__file__).with_name("adam_baseline.json")


@dataclass(frozen=True)
class AdamBaseline:
    """adam_baseline.json."""

    steps: int
    learning_rate: float
    share_trans: float
    share_root: float
    share_euler: float
    anneal_from_px: float
    anneal_to_px: float
    anneal_share: float
    decay_from_share: float
    decay_to: float
    sigmoid_margin: float
    acceleration: float
    angular_velocity: float
    rest: float
    ground: float
    plant: float

    def scale_px(self, share: float) -> float:
        """The Cauchy scale after `share` of the steps: geometric, then constant."""
        done = min(1.0, share / self.anneal_share)
        return self.anneal_from_px * math.pow(self.anneal_to_px / self.anneal_from_px, done)

    def rate(self, share: float) -> float:
        """The learning rate as a share of the full one: constant, then half a cosine."""
        if share < self.decay_from_share:
            return 1.0
        late = (share - self.decay_from_share) / (1 - self.decay_from_share)
        return self.decay_to + (1 - self.decay_to) * 0.5 * (1 + math.cos(math.pi * late))

    def weights(self, model: FitModel, anchors: Anchors | None = None) -> Weights:
        """The loss of this solver; limits need no penalty, the sigmoid holds them."""
        acceleration = model.tensor(np.array(self.acceleration))
        return Weights(acceleration, self.angular_velocity, self.rest, self.ground, anchors=anchors)


@cache
def load_baseline(path: Path = CONSTANTS_FILE) -> AdamBaseline:
    """The frozen constants."""
    data = json.loads(path.read_text(encoding="utf-8"))
    data.pop("comment", None)
    return AdamBaseline(**data)


def plant_anchors(model: FitModel, joints: Tensor, ground: Ground, weight: float) -> Anchors:
    """Anchors of every plant: the median of its track with the ground's motion taken out, riding with the ground."""
    table = torch.zeros_like(joints[..., 0])
    point = torch.zeros_like(joints)
    for plant in ground.plants:
        span = slice(plant.start, plant.end)
        ride = joints.new_zeros(plant.end - plant.start, 3)
        ride[:, :2] = torch.arange(len(ride), device=model.device)[:, None] * model.tensor(ground.velocity)
        point[span, plant.joint] = (joints[span, plant.joint] - ride).median(0).values + ride
        table[span, plant.joint] = weight
    return Anchors(table, point)


class _Parameters:
    """Root position, quaternion, and angles through a sigmoid, as Adam's parameters."""

    def __init__(self, model: FitModel, start: State, margin: float) -> None:
        self.low, self.high = model.low[1:], model.high[1:]
        quaternion = continuous_quaternion(matrix_to_quaternion(start.root_R.cpu().numpy()))
        # a locked axis (low = high) has no share of its range; the sigmoid then returns its only value
        span = (self.high - self.low).clamp(min=1e-12)
        share = ((start.euler[:, 1:] - self.low) / span).clamp(margin, 1 - margin)
        self.trans = start.trans.clone().requires_grad_()
        self.quaternion = model.tensor(quaternion).requires_grad_()
        self.share = torch.logit(share).requires_grad_()

    def state(self) -> State:
        bent = self.low + (self.high - self.low) * torch.sigmoid(self.share)
        euler = torch.cat([torch.zeros_like(bent[:, :1]), bent], 1)
        return State(self.trans, quaternion_to_matrix(self.quaternion), euler)


def descend(
    model: FitModel,
    objective: Objective,
    start: State,
    constants: AdamBaseline,
    anneal: bool,
    report: Report | None = None,
    note: str = "",
) -> State:
    """One run of Adam.

    Args:
        anneal: narrow the Cauchy scale; else it stays at its last value.
    """
    parameters = _Parameters(model, start, constants.sigmoid_margin)
    shares = (constants.share_trans, constants.share_root, constants.share_euler)
    tensors = (parameters.trans, parameters.quaternion, parameters.share)
    adam = torch.optim.Adam([{"params": [t], "lr": constants.learning_rate} for t in tensors])
    for step in range(constants.steps):
        share = step / constants.steps
        scale = constants.scale_px(share) if anneal else constants.anneal_to_px
        adam.zero_grad(set_to_none=True)
        loss = objective.evaluate(parameters.state(), scale).loss
        torch.autograd.backward(loss)
        for group, part in zip(adam.param_groups, shares, strict=True):
            group["lr"] = constants.learning_rate * part * constants.rate(share)
        adam.step()
        if report is not None and step % 50 == 49:
            report((step + 1) / constants.steps, note)
    with torch.no_grad():
        return State(*(part.detach() for part in parameters.state()))


def fit_first_order(
    model: FitModel,
    seen: Observations,
    start: State,
    fps: float,
    plants: bool,
    report: Report | None = None,
    constants: AdamBaseline | None = None,
) -> Fitted:
    """Fit twice: free, then with plants. Arguments as fit_second_order."""
    constants = constants or load_baseline()
    tell = report or (lambda share, note: None)
    free = Objective(model, seen, constants.weights(model))
    state = descend(model, free, start, constants, True, lambda s, n: tell(0.5 * s, n), "first fit")
    ground = Ground(np.zeros(2), ())
    steps = constants.steps
    with torch.no_grad():
        joints = model.forward(state).joints
    if plants:
        ground = find_ground(joints.cpu().numpy(), model.rig.contacts, model.rig.body_length, fps)
    if ground.plants:
        held = Objective(model, seen, constants.weights(model, plant_anchors(model, joints, ground, constants.plant)))
        state = descend(model, held, state, constants, False, lambda s, n: tell(0.5 + 0.5 * s, n), "plants")
        steps += constants.steps
    state = clipped(model, state)
    with torch.no_grad():
        loss = float(free.evaluate(state, constants.anneal_to_px).loss)
    tell(1.0, "done")
    return Fitted(state, ground, loss, steps)
