"""The poses that a reader learns from: a pure function of rig, layout, seed and index.

Shards and resumed runs therefore draw the same picture for the same index. Only the limits say what a creature can do;
its own Actions are never looked at, because the exam is one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInputError
from ..kinematics import Skeleton, euler_to_matrix
from ..layout import Layout
from ..rig import RigInfo
from .lights import ViewLights, random_lights

Array = NDArray[np.float64]

BLUR_TIMES = (-0.375, -0.125, 0.0, 0.125, 0.375)  # of the sub-poses, in exposures; at 0 is the truth, which isn't drawn
ATTEMPTS = 12
EDGE_PX = 10.0  # free pixels between the creature and a view's edge
TURN_DEG, WIDE_TURN_DEG, WIDE_SHARE = 30.0, 70.0, 0.15
REAR_SHARE, REAR_UP_DEG, REAR_DOWN_DEG = 0.15, 60.0, 20.0
AIR_SHARE, LOOSE_SHARE, ROAM_SHARE = 0.15, 0.15, 0.1


@dataclass(frozen=True)
class PoseSample:
    """One picture to draw: S poses (1, or one for each of BLUR_TIMES), the middle one being the truth.

    Attributes:
        kind: "uniform" in the limits, or "near" rest.
        trans: (S, 3) metres; root_R: (S, 3, 3); euler: (S, B, 3) radians, as core.kinematics takes them.
        lights: of the front and the side view.
    """

    index: int
    kind: str
    blur: bool
    trans: Array
    root_R: Array
    euler: Array
    lights: tuple[ViewLights, ViewLights]

    @property
    def middle(self) -> int:
        """Which pose is the truth."""
        return len(self.trans) // 2

    @property
    def drawn(self) -> tuple[int, ...]:
        """Which poses make up the picture."""
        return tuple(s for s in range(len(self.trans)) if not self.blur or s != self.middle)


class PoseSampler:
    """Samples poses of one rig in one layout."""

    def __init__(
        self, rig: RigInfo, layout: Layout, seed: int, start_euler: Array | None = None, hull: Array | None = None
    ) -> None:
        """
        Args:
            start_euler: (B, 3) radians, the pose that clips start from when it is not the rest pose.
            hull: (H, 3) outermost points of the mesh at rest, metres; they stay in the frame as the joints do.
        """
        self.rig, self.layout, self.seed = rig, layout, seed
        self.skeleton = Skeleton.of(rig)
        self.low, self.high = rig.limits_rad[..., 0].copy(), rig.limits_rad[..., 1].copy()
        self.low[0] = self.high[0] = 0.0
        self.start = np.zeros((rig.B, 3)) if start_euler is None else np.clip(start_euler, self.low, self.high)
        self.rest_joints = rig.rest_joints()
        self.rest_trans, self.rest_R = rig.rest[0, :3, 3], rig.rest[0, :3, :3]
        self._hull_bone, self._hull_offset = self._attach(np.zeros((0, 3)) if hull is None else hull)
        self._groups = [
            [rig.index(bone) for bone in bones if bone in rig.bones[1:]] for bones in rig.bone_groups.values()
        ]

    def sample(self, index: int) -> PoseSample:
        """Sample number `index`: even ones are uniform in the limits, odd ones near rest; every second pair is blurred.

        Raises:
            BadInputError: the creature does not fit into the layout's views in any pose tried.
        """
        rng = np.random.default_rng([self.seed, index])
        kind = "near" if index % 2 else "uniform"
        blur = (index // 2) % 2 == 1
        lights = random_lights(rng)
        for attempt in range(ATTEMPTS):
            calm = 1.0 - attempt / ATTEMPTS  # harder poses first; a pose too large for the frame is tried again, calmer
            euler = self._uniform(rng) if kind == "uniform" and attempt < ATTEMPTS // 2 else self._near(rng, calm)
            turn = self._turn(rng, calm)
            trans, root_R, euler = self._moving(rng, turn @ self.rest_R, euler, BLUR_TIMES if blur else (0.0,))
            placed = self._place(rng, trans, root_R, euler)
            if placed is not None:
                return PoseSample(index, kind, blur, placed, root_R, euler, lights)
        raise BadInputError(
            f"{self.rig.creature} does not fit into the two views.",
            key="layout",
            hint="Remove 'layout' from creature.json and run the ref stage: it frames the creature.",
        )

    def _uniform(self, rng: np.random.Generator) -> Array:
        """(B, 3) uniform in the limits; a bone may take the draw of its whole limb, as limbs bend together."""
        draw = rng.uniform(0, 1, (self.rig.B, 3))
        for bones in self._groups:
            together = rng.random((len(bones), 3)) < rng.uniform(0.0, 0.8)
            draw[bones] = np.where(together, rng.uniform(0, 1, 3), draw[bones])
        euler: Array = self.low + (self.high - self.low) * draw
        return euler

    def _near(self, rng: np.random.Generator, calm: float) -> Array:
        """(B, 3) normal around a random mix of rest, start pose and middle of the limits; clipped to the limits."""
        middle = (self.low + self.high) / 2
        share = rng.dirichlet([1.0, 1.0, 0.5])
        centre = share[1] * self.start + share[2] * middle  # rest itself is zero
        spread = rng.uniform(0.1, 0.5) * calm * (self.high - self.low) / 2
        euler: Array = np.clip(centre + spread * rng.normal(0, 1, centre.shape), self.low, self.high)
        return euler

    def _turn(self, rng: np.random.Generator, calm: float) -> Array:
        """(3, 3) turn of the whole creature: about Z, sometimes reared or bowed about X, a little about Y."""
        wide, reared = rng.random() < WIDE_SHARE, rng.random() < REAR_SHARE
        yaw = rng.uniform(-WIDE_TURN_DEG, WIDE_TURN_DEG) if wide else np.clip(rng.normal(0, 13), -TURN_DEG, TURN_DEG)
        pitch = rng.uniform(-REAR_UP_DEG, REAR_DOWN_DEG) if reared else rng.normal(0, 4)
        angles = np.radians([pitch, rng.normal(0, 4), yaw]) * calm
        turn: Array = euler_to_matrix(angles)
        return turn

    def _moving(
        self, rng: np.random.Generator, root_R: Array, euler: Array, times: tuple[float, ...]
    ) -> tuple[Array, Array, Array]:
        """Poses under a random velocity: trans (S, 3), root_R (S, 3, 3), euler (S, B, 3); time 0 is the given one."""
        time = np.array(times)
        speed = rng.uniform(0.02, 0.12)  # share of each range that is crossed in one exposure
        bend = speed * (self.high - self.low) * rng.normal(0, 0.5, euler.shape)
        spin = np.radians(rng.normal(0, 2.5, 3))
        drift = rng.normal(0, 0.012, 3) * self.rig.body_length
        eulers: Array = np.clip(euler + time[:, None, None] * bend, self.low, self.high)
        turns: Array = euler_to_matrix(time[:, None] * spin) @ root_R
        return self.rest_trans + time[:, None] * drift, turns, eulers

    def _attach(self, points: Array) -> tuple[NDArray[np.int64], Array]:
        """The bone (H,) whose middle is nearest to each rest point (H, 3), and the point in its frame (H, 3)."""
        rest = self.rig.rest
        middles = rest[:, :3, 3] + rest[:, :3, 1] * self.rig.lengths[:, None] / 2
        bone = np.linalg.norm(points[:, None] - middles, axis=-1).argmin(1)
        offset = np.einsum("hij,hi->hj", rest[bone, :3, :3], points - rest[bone, :3, 3])
        return bone, offset

    def _place(self, rng: np.random.Generator, trans: Array, root_R: Array, euler: Array) -> Array | None:
        """Stand the poses on the ground (or above it) somewhere in the frame; None when they are too large for it."""
        pose = self.skeleton.forward(trans, root_R, euler)
        joints: Array = pose.joints
        hull = pose.p[:, self._hull_bone] + np.einsum("shij,hj->shi", pose.R[:, self._hull_bone], self._hull_offset)
        length = self.rig.body_length
        shift = rng.normal(0, [0.04, 0.05, 0.008]) * length
        roam, where = rng.random() < ROAM_SHARE, rng.random(3)
        style, rise = rng.random(), rng.random()
        low, high = self._room(np.concatenate([joints, hull], 1))
        if (low > high).any():
            return None
        if roam:
            shift[:2] = (low + (high - low) * where)[:2]
        if style >= LOOSE_SHARE and self.rig.contacts:
            shift[2] += self._standing(joints[len(joints) // 2])
        if style >= 1 - AIR_SHARE:
            shift[2] += rise * 0.6 * max(0.0, high[2] - shift[2])
        placed: Array = trans + np.clip(shift, low, high)
        return placed

    def _standing(self, joints: Array) -> float:
        """How far to lift (J, 3) so that its lowest contact is as high as at rest and no joint is under ground."""
        clearance = np.minimum(self.rest_joints[:, 2], 0.01 * self.rig.body_length)
        contacts = list(self.rig.contacts)
        clearance[contacts] = self.rest_joints[contacts, 2]
        return float((clearance - joints[:, 2]).max())

    def _room(self, points: Array) -> tuple[Array, Array]:
        """Lowest and highest shift (3,), metres, that keep points (S, P, 3) inside both views."""
        front, side = self.layout.project(points.reshape(-1, 3))
        edge, m = EDGE_PX, self.layout.m_per_px
        across = (edge - front[:, 0].min(), self.layout.w_front - edge - front[:, 0].max())
        along = (
            side[:, 0].max() - (self.layout.width - edge),
            side[:, 0].min() - (self.layout.w_front + edge),
        )
        up = (front[:, 1].max() - (self.layout.height - edge), front[:, 1].min() - edge)
        limits = np.array([across, along, up]) * m
        return limits[:, 0], limits[:, 1]
