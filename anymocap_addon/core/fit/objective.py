"""The loss that both solvers minimise, and its Gauss-Newton normal equations.

    loss =  sum over views  w (k s)^2 log(1 + |r|^2 / (k s)^2)      r reprojection error in px, w weight, s Cauchy
                                                                    scale of the step, k its multiple a reading
          + sum_j acc_j |x(t+1) - 2 x(t) + x(t-1)|^2 / m^2          keypoint acceleration, px
          + vel (sum |e(t+1) - e(t)|^2 + |R(t+1) - R(t)|_F^2 / 2)   angular velocity; R is the root's
          + rest sum |e - rest_pose|^2                              pull to rest
          + ground sum min(z, 0)^2 / m^2                            contacts stay above the ground
          + sum plants                                              below
    + limit sum (what e is beyond its limits)^2                     only while solving: the end clips

Plants come in two forms: anchored (the first-order solver: |x - anchor|^2) and stepped (|x(t+1) - x(t) - g|^2, g the
ground's own step): a step needs no anchor, is what slide measures, and couples only neighbouring frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ..kinematics import Pose, rotvec_to_matrix
from .banded import BandedSystem
from .jacobian import JointJacobian
from .model import FitModel, State
from .observations import Observations


@dataclass(frozen=True, eq=False)
class Anchors:
    """Planted joints and where: weight (T, J), point (T, J, 3) metres."""

    weight: Tensor
    point: Tensor


@dataclass(frozen=True, eq=False)
class Steps:
    """Planted steps: weight (T-1, J, 3) by axis, velocity (3,) of the ground, metres a frame."""

    weight: Tensor
    velocity: Tensor


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of the loss; px^2 and radians^2.

    `acceleration` is one number or one a joint (J,); `rest_pose` (B, 3) radians, or None for all zero.
    """

    acceleration: Tensor
    angular_velocity: float
    rest: float
    ground: float
    limit: float = 2000.0
    rest_pose: Tensor | None = None
    anchors: Anchors | None = None
    steps: Steps | None = None


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A state at a Cauchy scale (px): pose, residuals in px, squared robust ratios, loss, loss with limit penalty."""

    scale: float
    pose: Pose
    front: Tensor
    side: Tensor
    front_ratio: Tensor
    side_ratio: Tensor
    acceleration: Tensor
    beyond: Tensor
    loss: Tensor
    penalised: Tensor


class Objective:
    """The loss of one clip."""

    def __init__(self, model: FitModel, seen: Observations, weights: Weights) -> None:
        self.model, self.seen, self.weights = model, seen, weights
        self.jacobian = JointJacobian(model)
        joints = model.rig.J
        self.acceleration = weights.acceleration.to(model.device).expand(joints)

    def residuals(self, joints: Tensor) -> tuple[Tensor, Tensor]:
        """(T, J, 2) px: front (x, z) and side (y, z) of joints minus readings."""
        x, y, z = joints.unbind(-1)
        seen, m = self.seen, self.model.m_per_px
        front = torch.stack([x - seen.x, z - seen.z_front], -1) / m
        side = torch.stack([y - seen.y, z - seen.z_side], -1) / m
        return front, side

    def evaluate(self, state: State, scale: float) -> Evaluation:
        """Loss at `state` with the Cauchy scale `scale` px. Differentiable."""
        model, seen, weights = self.model, self.seen, self.weights
        pose = model.forward(state)
        front, side = self.residuals(pose.joints)
        front_scale2, side_scale2 = (scale * seen.scale_front) ** 2, (scale * seen.scale_side) ** 2
        front_ratio = (front * front).sum(-1) / front_scale2
        side_ratio = (side * side).sum(-1) / side_scale2
        loss = (seen.weight_front * front_scale2 * front_ratio.log1p()).sum()
        loss = loss + (seen.weight_side * side_scale2 * side_ratio.log1p()).sum()
        acceleration = (pose.joints[2:] - 2 * pose.joints[1:-1] + pose.joints[:-2]) / model.m_per_px
        loss = loss + (self.acceleration * (acceleration * acceleration).sum(-1)).sum()
        loss = loss + self._angles(state) + self._ground(pose.joints) + self._plants(pose.joints)
        beyond = state.euler - torch.maximum(torch.minimum(state.euler, model.high), model.low)
        beyond = torch.cat([torch.zeros_like(beyond[:, :1]), beyond[:, 1:]], 1)
        penalised = loss + weights.limit * (beyond * beyond).sum()
        return Evaluation(scale, pose, front, side, front_ratio, side_ratio, acceleration, beyond, loss, penalised)

    def _angles(self, state: State) -> Tensor:
        turn = state.euler[1:, 1:] - state.euler[:-1, 1:]
        root = state.root_R[1:] - state.root_R[:-1]
        moving = (turn * turn).sum() + 0.5 * (root * root).sum()
        bent = self._bent(state)
        return self.weights.angular_velocity * moving + self.weights.rest * (bent * bent).sum()

    def _bent(self, state: State) -> Tensor:
        """(T, B-1, 3) angles away from the rest pose."""
        rest = self.weights.rest_pose
        return state.euler[:, 1:] if rest is None else state.euler[:, 1:] - rest[1:]

    def _ground(self, joints: Tensor) -> Tensor:
        below = (joints[:, self.model.contacts, 2] / self.model.m_per_px).clamp(max=0)
        return self.weights.ground * (below * below).sum()

    def _plants(self, joints: Tensor) -> Tensor:
        total = joints.new_zeros(())
        m2 = self.model.m_per_px**2
        if self.weights.anchors is not None:
            anchors = self.weights.anchors
            total = total + (anchors.weight * ((joints - anchors.point) ** 2).sum(-1)).sum() / m2
        if self.weights.steps is not None:
            steps = self.weights.steps
            total = total + (steps.weight * (joints[1:] - joints[:-1] - steps.velocity) ** 2).sum() / m2
        return total

    def normal_equations(self, state: State, at: Evaluation) -> BandedSystem:
        """Gauss-Newton: H = J^T W J and g = J^T W r with the Cauchy terms reweighted (IRLS), both halved."""
        here, pull, after = self._joint_terms(at)
        frames, unknowns = len(state.trans), self.model.unknowns
        jacobian = self.jacobian(state, at.pose) / self.model.m_per_px
        transposed = jacobian.transpose(1, 2)
        block0 = transposed @ (jacobian * here.reshape(frames, -1, 1))
        gradient = (transposed @ pull.reshape(frames, -1, 1))[..., 0]
        block1 = transposed[1:] @ (jacobian[:-1] * after.reshape(max(frames - 1, 0), -1, 1))
        weight2 = self.acceleration.repeat_interleave(3)[None, :, None]
        block2 = transposed[2:] @ (jacobian[:-2] * weight2)
        system = BandedSystem(block0, block1, block2, gradient)
        self._add_angle_terms(system, state, at, unknowns)
        return system

    def _joint_terms(self, at: Evaluation) -> tuple[Tensor, Tensor, Tensor]:
        """Weights (T, J, 3), weighted residuals (T, J, 3) px, and couplings (T-1, J, 3) with the next frame."""
        seen = self.seen
        front, side = seen.weight_front / (1 + at.front_ratio), seen.weight_side / (1 + at.side_ratio)
        here = torch.stack([front, side, front + side], -1)
        height = front * at.front[..., 1] + side * at.side[..., 1]
        pull = torch.stack([front * at.front[..., 0], side * at.side[..., 0], height], -1)
        frames = len(here)
        after = here.new_zeros(max(frames - 1, 0), *here.shape[1:])
        self._add_acceleration(here, pull, after, at.acceleration)
        self._add_contacts(here, pull, after, at.pose.joints)
        return here, pull, after

    def _add_acceleration(self, here: Tensor, pull: Tensor, after: Tensor, acceleration: Tensor) -> None:
        weight = self.acceleration[:, None]
        if len(here) < 3:
            return
        here[2:] += weight
        here[1:-1] += 4 * weight
        here[:-2] += weight
        pulled = weight * acceleration
        pull[2:] += pulled
        pull[1:-1] -= 2 * pulled
        pull[:-2] += pulled
        after[1:] -= 2 * weight
        after[:-1] -= 2 * weight

    def _add_contacts(self, here: Tensor, pull: Tensor, after: Tensor, joints: Tensor) -> None:
        m, weights, contacts = self.model.m_per_px, self.weights, self.model.contacts
        height = joints[:, contacts, 2] / m
        here[:, contacts, 2] += weights.ground * (height < 0)
        pull[:, contacts, 2] += weights.ground * height.clamp(max=0)
        if weights.anchors is not None:
            weight = weights.anchors.weight[..., None]
            here += weight
            pull += weight * (joints - weights.anchors.point) / m
        if weights.steps is not None:
            weight = weights.steps.weight
            slipped = weight * (joints[1:] - joints[:-1] - weights.steps.velocity) / m
            here[1:] += weight
            here[:-1] += weight
            pull[1:] += slipped
            pull[:-1] -= slipped
            after -= weight

    def _add_angle_terms(self, system: BandedSystem, state: State, at: Evaluation, unknowns: int) -> None:
        """Angular velocity, pull to rest and limits touch only diagonals."""
        weights, frames = self.weights, len(state.trans)
        speed = system.gradient.new_zeros(max(frames - 1, 0), unknowns)
        speed[:, 6:] = (state.euler[1:, 1:] - state.euler[:-1, 1:]).reshape(len(speed), -1)
        turn = state.root_R[1:] @ state.root_R[:-1].transpose(1, 2)
        # sine of the angle times the axis: the gradient of |R(t+1) - R(t)|^2 / 2 by a world rotation vector
        speed[:, 3:6] = 0.5 * torch.stack(
            [turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], -1
        )
        system.gradient[1:] += weights.angular_velocity * speed
        system.gradient[:-1] -= weights.angular_velocity * speed
        bent = self._bent(state).reshape(frames, -1)
        beyond = at.beyond[:, 1:].reshape(frames, -1)
        system.gradient[:, 6:] += weights.rest * bent + weights.limit * beyond
        diagonal = system.here.diagonal(dim1=-2, dim2=-1)
        neighbours = diagonal.new_zeros(frames, 1)
        neighbours[1:] += 1
        neighbours[:-1] += 1
        diagonal[:, 3:] += weights.angular_velocity * neighbours
        diagonal[:, 6:] += weights.rest + weights.limit * (beyond != 0)
        system.after1.diagonal(dim1=-2, dim2=-1)[:, 3:] -= weights.angular_velocity

    def moved(self, state: State, step: Tensor) -> State:
        """`state` after a step (T, D)."""
        turn = rotvec_to_matrix(step[:, 3:6])
        euler = state.euler.clone()
        euler[:, 1:] += step[:, 6:].reshape(len(step), -1, 3)
        return State(state.trans + step[:, :3], turn @ state.root_R, euler)
