"""How the keypoints move with the unknowns, in closed form: rotation axis x lever arm."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..kinematics import Pose
from .model import FitModel, State


def euler_axes(model: FitModel, state: State, pose: Pose) -> Tensor:
    """(T, B, 3 stages, 3) world axes about which the X, Y and Z Euler angles of each bone turn it.

    With basis = Rz Ry Rx in the frame F = R(parent) rel_R: Z turns about F's z, Y about F Rz's y, and X about
    F Rz Ry's x, which is the bone's own x, because Rx leaves it alone. The root's row has no meaning.
    """
    parents = np.maximum(model.rig.parents, 0)
    frame = pose.R[:, parents] @ model.skeleton.rel_R
    angle = state.euler[..., 2:3]
    about_y = frame[..., 1] * angle.cos() - frame[..., 0] * angle.sin()
    axes: Tensor = torch.stack([pose.R[..., 0], about_y, frame[..., 2]], -2)
    return axes


class JointJacobian:
    """Builds (T, 3 J, D) derivatives of the keypoints by [shift, root turn, Euler angles].

    The root's turn is a world rotation vector w applied as exp(w) @ root_R; Euler angles are added.
    """

    def __init__(self, model: FitModel) -> None:
        self.model = model
        rows, unknowns = 3 * model.rig.J, model.unknowns
        self.rows = rows
        stage, axis = np.arange(3)[:, None], np.arange(3)
        column = 6 + 3 * (model.lever_bone[:, None, None] - 1) + stage
        flat = (3 * model.lever_joint[:, None, None] + axis) * unknowns + column
        self._places = torch.as_tensor(flat.reshape(-1), device=model.device)
        self._bone = torch.as_tensor(model.lever_bone, device=model.device)
        self._joint = torch.as_tensor(model.lever_joint, device=model.device)

    def __call__(self, state: State, pose: Pose) -> Tensor:
        """(T, 3 J, D) in metres a metre and metres a radian; rows are joint-major, x y z."""
        frames = len(state.trans)
        jacobian: Tensor = pose.joints.new_zeros(frames, self.rows, self.model.unknowns)
        for axis in range(3):
            jacobian[:, axis::3, axis] = 1.0
        arm = pose.joints - pose.p[:, :1]
        x, y, z = arm.unbind(-1)
        jacobian[:, 1::3, 3], jacobian[:, 2::3, 3] = -z, y
        jacobian[:, 0::3, 4], jacobian[:, 2::3, 4] = z, -x
        jacobian[:, 0::3, 5], jacobian[:, 1::3, 5] = -y, x
        if len(self._bone):
            axes = euler_axes(self.model, state, pose)[:, self._bone]
            lever = pose.joints[:, self._joint] - pose.p[:, self._bone]
            moved = torch.linalg.cross(axes, lever[:, :, None].expand_as(axes))
            jacobian.view(frames, -1).index_copy_(1, self._places, moved.reshape(frames, -1))
        return jacobian
