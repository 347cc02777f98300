"""A clip as the checks see it: laid on the layout at half its size, its wall matched, the creature told from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ..layout import FLOOR, WALL, Layout
from ..video.align import Alignment, silhouette, warp

Picture = NDArray[np.uint8]
Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

SCALE = 0.5
FIRST_FRAMES = 5
# Levels by which the creature differs from the studio; hard compression leaves 5 to 8 on an empty wall.
CREATURE_STEP = 16
# The floor's edge and the divider are soft by these many rows and columns of the half-size picture.
EDGE_ROWS, DIVIDER_COLUMNS = 3, 5
LEAST_FLOOR_ROWS = 8


@dataclass(frozen=True)
class Studio:
    """Where the empty studio is in the half-size picture.

    Attributes:
        split: column of the divider. ground: row of the floor's edge. size: (columns, rows).
        empty: (H, W) pixels that show no creature in the reference frame.
    """

    split: float
    ground: float
    size: tuple[int, int]
    empty: Mask

    @property
    def views(self) -> tuple[slice, slice]:
        """The columns of front and side view without the divider."""
        left, right = round(self.split) - DIVIDER_COLUMNS, round(self.split) + DIVIDER_COLUMNS
        return slice(0, left), slice(right, self.size[0])

    @property
    def has_floor(self) -> bool:
        """Whether enough of the floor is in the picture to see its edge."""
        return self.size[1] - self.ground >= LEAST_FLOOR_ROWS


@dataclass(frozen=True, eq=False)
class GateClip:
    """Frames for the checks.

    Attributes:
        frames: (T, H, W, 3) uint8 RGB, half the layout's size, colours matched to the studio's by the first frames.
        masks: (T, H, W) where the creature is.
        reference, reference_mask: ref.png in the same form.
        walls, floors: (T, 2, 3) colour of wall and floor in the front and side view.
        fps: frames a second.
    """

    layout: Layout
    studio: Studio
    frames: Picture
    masks: Mask
    reference: Picture
    reference_mask: Mask
    walls: Array
    floors: Array
    fps: float

    @property
    def T(self) -> int:
        """Number of frames."""
        return len(self.frames)


def studio_of(ref: Picture, layout: Layout) -> Studio:
    """The studio of a reference frame (720, 1280, 3)."""
    size = (round(layout.width * SCALE), round(layout.height * SCALE))
    covered = cv2.resize(silhouette(ref, layout).astype(np.uint8), size, interpolation=cv2.INTER_AREA) > 0
    return Studio(layout.w_front * SCALE, layout.ground_v * SCALE, size, ~covered)


def gate_clip(pictures: Iterable[Picture], ref: Picture, layout: Layout, alignment: Alignment, fps: float) -> GateClip:
    """Prepare a clip for the checks.

    Args:
        pictures: (H, W, 3) RGB as decoded. ref: ref.png (720, 1280, 3). alignment: of the clip to ref.png.
    """
    studio = studio_of(ref, layout)
    calib = alignment.calib * SCALE
    raw = np.stack([warp(picture, calib, studio.size) for picture in pictures])
    gain, offset = _matched(np.median(raw[:FIRST_FRAMES], 0), studio)
    table = np.clip(np.rint(np.arange(256)[:, None] * gain + offset), 0, 255).astype(np.uint8)
    for channel in range(3):
        raw[..., channel] = table[:, channel][raw[..., channel]]
    reference = cv2.resize(ref, studio.size, interpolation=cv2.INTER_AREA)
    walls, floors = np.empty((len(raw), 2, 3)), np.empty((len(raw), 2, 3))
    masks = np.empty(raw.shape[:3], bool)
    for index, frame in enumerate(raw):
        walls[index], floors[index] = _colours(frame, studio)
        masks[index] = creature_mask(frame, walls[index], floors[index], studio)
    own = _colours(reference, studio)
    return GateClip(
        layout, studio, raw, masks, np.asarray(reference, np.uint8),
        creature_mask(np.asarray(reference, np.uint8), *own, studio), walls, floors, fps,
    )  # fmt: skip


def _matched(first: Array, studio: Studio) -> tuple[Array, Array]:
    """Gain and offset of each channel that give wall and floor their colours: a video model shifts both."""
    walls, floors = _colours(first, studio)
    wall, floor = walls.mean(0), floors.mean(0)
    true_wall, true_floor = np.array(WALL, float), np.array(FLOOR, float)
    gain = np.ones(3)
    if studio.has_floor:
        step = floor - wall
        gain = np.where(step > 5, (true_floor - true_wall) / np.maximum(step, 5), 1.0)
        gain = np.clip(np.full(3, np.median(gain)), 0.65, 1.6)
    return gain, true_wall - gain * wall


def _colours(frame: NDArray[np.generic], studio: Studio) -> tuple[Array, Array]:
    """(2, 3) wall and (2, 3) floor of a frame: medians where the reference shows no creature."""
    ground = round(studio.ground)
    walls, floors = np.empty((2, 3)), np.empty((2, 3))
    for view, columns in enumerate(studio.views):
        above = (slice(0, ground - EDGE_ROWS), columns)
        walls[view] = np.median(frame[above][::2, ::2][studio.empty[above][::2, ::2]], 0)
        below = (slice(ground + EDGE_ROWS, None), columns)
        seen = frame[below][studio.empty[below]] if studio.has_floor else np.empty((0, 3))
        floors[view] = np.median(seen, 0) if len(seen) else walls[view]
    return walls, floors


def creature_mask(frame: Picture, walls: Array, floors: Array, studio: Studio) -> Mask:
    """(H, W) what is neither wall nor floor nor divider."""
    ground = round(studio.ground)
    differs = np.zeros(frame.shape[:2], bool)
    smooth = np.asarray(cv2.GaussianBlur(frame, (0, 0), 0.8), np.uint8)
    for columns, wall, floor in zip(studio.views, walls, floors, strict=True):
        distance = _farthest(smooth[:, columns], wall)
        from_floor = _farthest(smooth[ground - EDGE_ROWS :, columns], floor)
        distance[ground + EDGE_ROWS :] = from_floor[2 * EDGE_ROWS :]
        edge = slice(ground - EDGE_ROWS, ground + EDGE_ROWS)
        distance[edge] = np.minimum(distance[edge], from_floor[: 2 * EDGE_ROWS])
        differs[:, columns] = distance > CREATURE_STEP
    opened = cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    return np.asarray(opened > 0)


def _farthest(picture: Picture, colour: Array) -> Picture:
    """(H, W) largest difference of a channel from `colour`, levels."""
    flat = np.broadcast_to(np.clip(np.rint(colour), 0, 255).astype(np.uint8), picture.shape)
    away = cv2.absdiff(np.ascontiguousarray(picture), np.ascontiguousarray(flat))
    red, green, blue = cv2.split(away)
    return np.asarray(cv2.max(cv2.max(red, green), blue), np.uint8)
