"""What the solvers know of a rig, as tensors on one device, and the state that they solve for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..kinematics import Pose, Skeleton
from ..layout import Layout
from ..rig import RigInfo


class State(NamedTuple):
    """The unknowns of T frames: trans (T, 3) metres, root_R (T, 3, 3), euler (T, B, 3) radians (row 0 is zero)."""

    trans: Tensor
    root_R: Tensor
    euler: Tensor


@dataclass(frozen=True, eq=False)
class FitModel:
    """A rig seen through a layout.

    Attributes:
        skeleton: kinematics in tensors.
        low, high: (B, 3) limits of the Euler angles, radians; the root's are infinite.
        lever_bone, lever_joint: (N,) every pair where turning the bone moves the joint, the root bone left out.
        contacts: (C,) keypoint indices.
        m_per_px: metres a pixel.
        unknowns: D = 6 + 3 (B - 1): shift, turn of the root (world rotation vector), Euler angles.
    """

    rig: RigInfo
    layout: Layout
    skeleton: Skeleton
    low: Tensor
    high: Tensor
    lever_bone: NDArray[np.int64]
    lever_joint: NDArray[np.int64]
    contacts: Tensor
    device: torch.device

    @property
    def m_per_px(self) -> float:
        """Metres a pixel."""
        return self.layout.m_per_px

    @property
    def unknowns(self) -> int:
        """Unknowns a frame."""
        return 6 + 3 * (self.rig.B - 1)

    def forward(self, state: State) -> Pose:
        """Blender's kinematics of `state`."""
        return self.skeleton.forward(state.trans, state.root_R, state.euler)

    def tensor(self, array: NDArray[np.float64]) -> Tensor:
        """`array` as a float64 tensor on the model's device."""
        return torch.as_tensor(np.ascontiguousarray(array, dtype=np.float64), device=self.device)


def lever_pairs(rig: RigInfo) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every (bone, joint) where turning the bone moves the joint, without the root bone; two (N,) index arrays.

    A bone moves the tails of its own and the heads and tails of all its descendants.
    """
    pairs = []
    for joint in range(rig.J):
        bone = int(rig.keypoint_bone[joint])
        if rig.keypoint_end[joint] == 0:
            bone = int(rig.parents[bone])
        while bone > 0:
            pairs.append((bone, joint))
            bone = int(rig.parents[bone])
    table = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def build_model(rig: RigInfo, layout: Layout, device: str | torch.device = "cpu") -> FitModel:
    """The tensors of `rig` on `device`, float64."""
    place = torch.device(device)
    like = torch.zeros(1, dtype=torch.float64, device=place)
    low, high = rig.limits_rad[..., 0].copy(), rig.limits_rad[..., 1].copy()
    low[0], high[0] = -np.inf, np.inf
    bone, joint = lever_pairs(rig)
    return FitModel(
        rig=rig,
        layout=layout,
        skeleton=Skeleton.of(rig, like),
        low=like.new_tensor(low),
        high=like.new_tensor(high),
        lever_bone=bone,
        lever_joint=joint,
        contacts=torch.tensor(list(rig.contacts), dtype=torch.int64, device=place),
        device=place,
    )


def clipped(model: FitModel, state: State) -> State:
    """`state` with every Euler angle inside its limits and the root's at zero."""
    euler = torch.maximum(torch.minimum(state.euler, model.high), model.low)
    euler[:, 0] = 0.0
    return State(state.trans, state.root_R, euler)
