"""The stated rule that tells true contacts and the ground's own velocity from joint tracks.

On an on-the-spot clip the ground moves: planted feet ride backwards together. The rule, for tracks P (T, C, 3) of the
C contact joints, body length L and frame rate fps:

1. floor of a foot      f_c = the 5 % quantile of its height; a foot whose floor is above 0.15 L never touches down.
2. velocity             v = central differences of P, a frame (one-sided at the clip's ends).
3. low                  P_z - f_c < 0.02 L.
4. ground velocity      g = the mode of the horizontal velocities of all low feet: the highest point of their Gaussian
                        kernel density with sigma = 0.3 L / fps, found by mean shift from the densest sample. The
                        kernel is then narrowed to the samples' spread around the mode as long as that falls; where it
                        ends within 0.08 L / fps the feet are steady and the narrow mode is taken (`steady_mode`).
5. contact              low, |v_xy - g| < tol and |v_z| < tol with tol = max(0.2 L / fps, |g| / 2), for at least 3
                        frames in a row.

The tolerance grows with the ground's speed because the feet of drawn walk cycles keep to no one velocity: on Fox.glb's
walk they ride back at 15 to 80 mm a frame, 45 on the whole.

For slide and drift the frame at each end of every contact is left out, because there the foot is landing or leaving.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInputError
from ..frame_runs import frame_runs
from ..velocity_mode import mean_shift, steady_mode

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ContactRule:
    """Constants of the rule; lengths in body lengths, speeds in body lengths a second, `contact_share` of |g|."""

    floor_quantile: float = 0.05
    highest_floor: float = 0.15
    low_height: float = 0.02
    kernel_speed: float = 0.3
    steady_speed: float = 0.08
    contact_speed: float = 0.2
    contact_share: float = 0.5
    min_frames: int = 3
    min_low_samples: int = 3
    left_out_frames: int = 1


RULE = ContactRule()


@dataclass(frozen=True)
class Span:
    """A contact: keypoint index `joint`, frames `start` up to but without `end`."""

    joint: int
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class GroundContacts:
    """What the rule finds.

    Attributes:
        joints: C keypoint indices, the columns of `mask`.
        mask: (T, C) whether the joint is in contact.
        spans: the runs of `mask`.
        ground_velocity: (2,) metres a frame.
    """

    joints: tuple[int, ...]
    mask: Mask
    spans: tuple[Span, ...]
    ground_velocity: Array


def _checked(joints: Array, contacts: tuple[int, ...]) -> Array:
    tracks = np.asarray(joints, float)
    if tracks.ndim != 3 or tracks.shape[-1] != 3:
        raise BadInputError(f"Joint tracks have shape {tracks.shape}, not (T, J, 3).")
    if not np.isfinite(tracks).all():
        frame, joint = np.argwhere(~np.isfinite(tracks))[0][:2]
        raise BadInputError(f"Joint {joint} is not finite at frame {frame}.", hint="Read and fit the clip again.")
    if any(not 0 <= c < tracks.shape[1] for c in contacts):
        raise BadInputError(f"Contact joints {contacts} are not among the {tracks.shape[1]} joints.")
    return tracks[:, list(contacts)]


def velocities(tracks: Array) -> Array:
    """(T, C, 3) velocities in metres a frame: central differences, one-sided at both ends; zero for a single frame."""
    if len(tracks) < 2:
        return np.zeros_like(tracks)
    gradient: Array = np.gradient(tracks, axis=0)
    return gradient


def low_feet(tracks: Array, body_length: float, rule: ContactRule = RULE) -> Mask:
    """(T, C) whether each foot is near its own floor."""
    heights = tracks[..., 2]
    floor = np.quantile(heights, rule.floor_quantile, axis=0)
    low: Mask = (heights - floor < rule.low_height * body_length) & (floor < rule.highest_floor * body_length)
    return low


def velocity_mode(samples: Array, sigma: float, steady: float) -> Array:
    """The highest point (2,) of the Gaussian kernel density of `samples` (N, 2), sharpened where they are steady."""
    seeds = samples[:: max(1, len(samples) // 400)]
    density = np.exp(-0.5 * ((seeds[:, None] - samples) ** 2).sum(-1) / sigma**2).sum(1)
    return steady_mode(samples, mean_shift(samples, seeds[int(density.argmax())], sigma), sigma, steady)


def ground_velocity(tracks: Array, body_length: float, fps: float, rule: ContactRule = RULE) -> Array:
    """The ground's own velocity (2,), metres a frame, from contact tracks (T, C, 3); zero when no foot comes down."""
    samples = velocities(tracks)[low_feet(tracks, body_length, rule)][:, :2]
    if len(samples) < rule.min_low_samples or len(tracks) < rule.min_frames:
        return np.zeros(2)
    unit = body_length / fps
    return velocity_mode(samples, rule.kernel_speed * unit, rule.steady_speed * unit)


def find_contacts(
    joints: Array,
    contacts: tuple[int, ...],
    body_length: float,
    fps: float,
    rule: ContactRule = RULE,
) -> GroundContacts:
    """Contacts and ground velocity of joint tracks by the rule.

    Args:
        joints: (T, J, 3) metres, ground z = 0.
        contacts: keypoint indices that may touch the ground (rig.contacts).
        body_length: metres.
        fps: frames a second.

    Raises:
        BadInputError: tracks of a wrong shape or with NaN, or an index out of range.
    """
    tracks = _checked(joints, contacts)
    mask: Mask = np.zeros(tracks.shape[:2], bool)
    if not contacts or len(tracks) < rule.min_frames:
        return GroundContacts(contacts, mask, (), np.zeros(2))
    ground = ground_velocity(tracks, body_length, fps, rule)
    velocity = velocities(tracks)
    allowed = max(rule.contact_speed * body_length / fps, rule.contact_share * float(np.linalg.norm(ground)))
    near = np.linalg.norm(velocity[..., :2] - ground, axis=-1) < allowed
    on = low_feet(tracks, body_length, rule) & near & (np.abs(velocity[..., 2]) < allowed)
    spans = []
    for column, joint in enumerate(contacts):
        for start, end in frame_runs(on[:, column], rule.min_frames):
            mask[start:end, column] = True
            spans.append(Span(joint, start, end))
    return GroundContacts(contacts, mask, tuple(spans), ground)


def inner_frames(span: Span, rule: ContactRule = RULE) -> range:
    """The frames of a contact without those left out at its ends."""
    return range(span.start + rule.left_out_frames, span.end - rule.left_out_frames)


def slide_steps(joints: Array, spans: tuple[Span, ...], ground: Array, rule: ContactRule = RULE) -> Array:
    """|step of the foot - step of the ground| in metres for every step within the inner frames of every span, (N,).

    Args:
        joints: (T, J, 3) the tracks to be judged, of the fit or of the truth.
        spans, ground: the true contacts and the true ground velocity.
    """
    steps = [np.zeros((0, 2))]
    for span in spans:
        frames = inner_frames(span, rule)
        steps.append(np.diff(joints[frames.start : max(frames.stop, frames.start), span.joint, :2], axis=0) - ground)
    norms: Array = np.linalg.norm(np.concatenate(steps), axis=-1)
    return norms


def drifts(joints: Array, spans: tuple[Span, ...], ground: Array, rule: ContactRule = RULE) -> Array:
    """How far in metres each foot has moved over the ground between the first and last inner frame of a span, (N,)."""
    moved = []
    for span in spans:
        frames = inner_frames(span, rule)
        if len(frames) > 1:
            path = joints[frames[-1], span.joint, :2] - joints[frames[0], span.joint, :2]
            moved.append(np.linalg.norm(path - ground * (len(frames) - 1)))
    return np.array(moved, float)
