"""Faults of generated clips that the source gate must see, drawn into clean layout frames whose studio is exact."""

from __future__ import annotations

import colorsys
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from anymocap_addon.core.creature import PaintGroup
from anymocap_addon.core.layout import Layout

Picture = NDArray[np.uint8]
Rng = np.random.Generator


@dataclass(frozen=True)
class Scene:
    """A clean clip: frames (720, 1280, 3), its layout and paint, and another creature's clip with its layout."""

    frames: list[Picture]
    layout: Layout
    paint: tuple[PaintGroup, ...]
    other_frames: list[Picture]
    other_layout: Layout


def creature(frame: Picture, layout: Layout) -> NDArray[np.bool_]:
    """(H, W) where a clean frame differs from the empty studio."""
    return np.asarray(np.abs(frame.astype(np.int16) - layout.studio()).max(-1) > 2)


def _ramp(count: int, rng: Rng) -> NDArray[np.float64]:
    """From 0 to 1, beginning in the first half of the clip."""
    begin = rng.uniform(0, 0.4) * count
    return np.clip((np.arange(count) - begin) / (count - 1 - begin), 0, 1)


def _moved(frame: Picture, matrix: NDArray[np.float64]) -> Picture:
    size = (frame.shape[1], frame.shape[0])
    return np.asarray(cv2.warpAffine(frame, matrix, size, borderMode=cv2.BORDER_REPLICATE), np.uint8)


def divider_drifts(scene: Scene, rng: Rng) -> list[Picture]:
    """The line moves by 10 to 40 px and squeezes one view."""
    far, split, width = rng.choice([-1, 1]) * rng.uniform(10, 40), scene.layout.w_front, scene.layout.width
    result = []
    for frame, share in zip(scene.frames, _ramp(len(scene.frames), rng), strict=True):
        at = round(split + far * share)
        front = cv2.resize(frame[:, :split], (at, frame.shape[0]))
        side = cv2.resize(frame[:, split:], (width - at, frame.shape[0]))
        result.append(np.concatenate([front, side], 1).astype(np.uint8))
    return result


def divider_fades(scene: Scene, rng: Rng) -> list[Picture]:
    """The line fades into the wall."""
    result, split = [], scene.layout.w_front
    for frame, share in zip(scene.frames, _ramp(len(scene.frames), rng), strict=True):
        spoilt = frame.copy()
        line = slice(split - 3, split + 3)
        plain = np.repeat(frame[:, split - 6 : split - 5], 6, 1)
        spoilt[:, line] = np.rint(frame[:, line] * (1 - share) + plain * share)
        result.append(spoilt)
    return result


def wall_changes(scene: Scene, rng: Rng) -> list[Picture]:
    """The wall takes another colour, of both views or of one."""
    tint, view = rng.uniform(18, 40) * rng.choice([-1, 1], 3), int(rng.integers(3))
    result = []
    for frame, share in zip(scene.frames, _ramp(len(scene.frames), rng), strict=True):
        empty = ~creature(frame, scene.layout)
        empty[:, scene.layout.w_front - 3 : scene.layout.w_front + 3] = False
        if view == 0:
            empty[:, scene.layout.w_front :] = False
        spoilt = frame.astype(np.float64)
        spoilt[empty] += tint * share
        result.append(np.clip(np.rint(spoilt), 0, 255).astype(np.uint8))
    return result


def camera_pans(scene: Scene, rng: Rng) -> list[Picture]:
    """The whole picture moves by 10 to 50 px."""
    angle, far = rng.uniform(0, 2 * np.pi), rng.uniform(10, 50)
    ramp = _ramp(len(scene.frames), rng)
    step = far * np.array([np.cos(angle), np.sin(angle)])
    return [
        _moved(frame, np.array([[1, 0, step[0] * share], [0, 1, step[1] * share]]))
        for frame, share in zip(scene.frames, ramp, strict=True)
    ]


def camera_zooms(scene: Scene, rng: Rng) -> list[Picture]:
    """The whole picture grows or shrinks by 5 to 15 % about its middle."""
    far = rng.uniform(0.05, 0.15) * rng.choice([-1, 1])
    middle, result = np.array([scene.layout.width, scene.layout.height]) / 2, []
    for frame, share in zip(scene.frames, _ramp(len(scene.frames), rng), strict=True):
        zoom = 1 + far * share
        shift = middle * (1 - zoom)
        result.append(_moved(frame, np.array([[zoom, 0, shift[0]], [0, zoom, shift[1]]])))
    return result


def camera_shakes(scene: Scene, rng: Rng) -> list[Picture]:
    """The whole picture trembles by 5 px (standard deviation) in each direction."""
    shifts = rng.normal(0, 5, (len(scene.frames), 2))
    shifts[:3] = 0
    return [_moved(f, np.array([[1, 0, u], [0, 1, v]])) for f, (u, v) in zip(scene.frames, shifts, strict=True)]


def view_lags(scene: Scene, rng: Rng) -> list[Picture]:
    """One view is 3 to 6 frames late."""
    lag, late = int(rng.integers(3, 7)), int(rng.integers(2))
    return _two_times(scene, lambda t: max(t - lag, 0), late)


def view_plays_otherwise(scene: Scene, rng: Rng) -> list[Picture]:
    """One view plays faster, or backwards."""
    late, last = int(rng.integers(2)), len(scene.frames) - 1
    if rng.random() < 0.5:
        return _two_times(scene, lambda t: last - t, late)
    return _two_times(scene, lambda t: min(round(1.6 * t), last), late)


def _two_times(scene: Scene, time: Callable[[int], int], view: int) -> list[Picture]:
    columns = slice(0, scene.layout.w_front - 2) if view == 0 else slice(scene.layout.w_front + 2, None)
    result = []
    for t, frame in enumerate(scene.frames):
        spoilt = frame.copy()
        spoilt[:, columns] = scene.frames[time(t)][:, columns]
        result.append(spoilt)
    return result


def _limb(frame: Picture, group: PaintGroup, paint: tuple[PaintGroup, ...], layout: Layout) -> NDArray[np.bool_]:
    """Pixels whose hue is the group's and no nearer to another's."""
    hsv = cv2.cvtColor(frame, cv2.COLOR_RGB2HSV).astype(np.int16)
    hues = np.array([colorsys.rgb_to_hsv(*other.colour)[0] * 180 for other in paint])
    apart = np.abs((hsv[..., :1] - hues + 90) % 180 - 90)
    mine = paint.index(group)
    return (apart.argmin(-1) == mine) & (apart[..., mine] < 12) & (hsv[..., 1] > 70) & creature(frame, layout)


def _most_seen(scene: Scene, count: int) -> list[PaintGroup]:
    areas = [int(_limb(scene.frames[0], group, scene.paint, scene.layout).sum()) for group in scene.paint]
    best = np.argsort(areas)[::-1][:count]
    return [scene.paint[index] for index in best if areas[index] > 1500]


def _painted(frame: Picture, mask: NDArray[np.bool_], colour: NDArray[np.float64], share: float) -> None:
    """Give the mask another colour at the same brightness."""
    seen = frame[mask].astype(np.float64)
    grey = seen.mean(-1, keepdims=True)
    wanted = np.clip(colour * grey / max(colour.mean(), 1.0), 0, 255)
    frame[mask] = np.rint(seen * (1 - share) + wanted * share)


def colours_swap(scene: Scene, rng: Rng) -> list[Picture]:
    """Two limbs take each other's colour, at once or over 8 frames, and keep it."""
    limbs = _most_seen(scene, 4)
    if len(limbs) < 2:
        return []
    one, other = (limbs[index] for index in rng.permutation(len(limbs))[:2])
    begin, over = int(rng.integers(8, len(scene.frames) - 14)), int(rng.choice([1, 8]))
    first = [_limb(scene.frames[0], limb, scene.paint, scene.layout) for limb in (one, other)]
    colours = [np.median(scene.frames[0][mask], 0) for mask in first]
    result = []
    for t, frame in enumerate(scene.frames):
        spoilt, share = frame.copy(), float(np.clip((t - begin + 1) / over, 0, 1))
        masks = [_limb(frame, limb, scene.paint, scene.layout) for limb in (one, other)]
        _painted(spoilt, masks[0], colours[1], share)
        _painted(spoilt, masks[1], colours[0], share)
        result.append(spoilt)
    return result


def colour_fades(scene: Scene, rng: Rng) -> list[Picture]:
    """A limb loses its colour."""
    limbs = _most_seen(scene, 3)
    if not limbs:
        return []
    limb = limbs[int(rng.integers(len(limbs)))]
    result = []
    for frame, share in zip(scene.frames, _ramp(len(scene.frames), rng), strict=True):
        spoilt = frame.copy()
        _painted(spoilt, _limb(frame, limb, scene.paint, scene.layout), np.full(3, 128.0), min(1.3 * share, 1.0))
        result.append(spoilt)
    return result


def creature_leaves(scene: Scene, rng: Rng) -> list[Picture]:
    """The creature walks out of one view."""
    layout, view = scene.layout, int(rng.integers(2))
    left, right = ((0, layout.w_front - 2), (layout.w_front + 2, layout.width))[view]
    covered = np.nonzero(creature(scene.frames[0], layout)[:, left:right].any(0))[0]
    way = int(rng.choice([-1, 1]))
    room = covered.min() if way < 0 else (right - left) - covered.max()
    far = way * (room + rng.uniform(0.15, 0.5) * (covered.max() - covered.min()))
    result = []
    for frame, share in zip(scene.frames, _ramp(len(scene.frames), rng), strict=True):
        spoilt, empty = frame.copy(), layout.studio()[:, left:right]
        spoilt[:, left:right] = _moved(frame[:, left:right], np.array([[1.0, 0, far * share], [0, 1, 0]]))
        shifted = round(far * share)  # what came in from beyond the edge is studio, not a repeated edge
        if shifted > 0:
            spoilt[:, left : left + shifted] = empty[:, :shifted]
        elif shifted < 0:
            spoilt[:, right + shifted : right] = empty[:, shifted:]
        result.append(spoilt)
    return result


def other_creature(scene: Scene, rng: Rng) -> list[Picture]:
    """Another creature stands in this studio, from the start or from the middle on."""
    begin = int(rng.choice([0, len(scene.frames) // 2]))
    return [
        frame if t < begin else _set_in(scene, scene.other_frames[t % len(scene.other_frames)])
        for t, frame in enumerate(scene.frames)
    ]


def _set_in(scene: Scene, frame: Picture) -> Picture:
    own, other = scene.layout, scene.other_layout
    result = own.studio()
    mask = creature(frame, other)
    for view in (0, 1):
        start, stop = ((0, other.w_front - 3), (other.w_front + 3, other.width))[view]
        middle = (other.w_front / 2, other.w_front + other.w_side / 2)[view]
        to = (own.w_front / 2, own.w_front + own.w_side / 2)[view]
        low, high = ((0, own.w_front - 3), (own.w_front + 3, own.width))[view]
        rows, columns = np.nonzero(mask[:, start:stop])
        columns = columns + start
        new_rows = rows + round(own.ground_v - other.ground_v)
        new_columns = columns + round(to - middle)
        fits = (new_rows >= 0) & (new_rows < own.height) & (new_columns >= low) & (new_columns < high)
        result[new_rows[fits], new_columns[fits]] = frame[rows[fits], columns[fits]]
    return result


def frozen(scene: Scene, rng: Rng) -> list[Picture]:
    """Nothing moves, in the whole clip or in its second half."""
    stop = int(rng.choice([0, len(scene.frames) // 2]))
    return [scene.frames[min(t, stop)] for t in range(len(scene.frames))]


def cut_in_time(scene: Scene, rng: Rng) -> list[Picture]:
    """From one frame to the next the clip goes on in another pose: the most different one that it holds."""
    count, at = len(scene.frames), int(rng.integers(10, len(scene.frames) - 10))
    small = [cv2.resize(frame, (160, 90)).astype(np.int16) for frame in scene.frames]
    away = [np.abs(small[at] - other).mean() for other in small]
    to = int(np.argmax(away))
    return [scene.frames[t if t < at else (to + t - at) % count] for t in range(count)]


def cut_to_other_picture(scene: Scene, rng: Rng) -> list[Picture]:
    """The clip ends on a close-up of the creature, without the two views."""
    at = int(rng.integers(12, len(scene.frames) - 6))
    split, width = scene.layout.w_front, scene.layout.width
    return [
        frame if t < at else np.asarray(cv2.resize(frame[200:600, split + 60 : width - 60], (width, 720)), np.uint8)
        for t, frame in enumerate(scene.frames)
    ]


# Fault, the checks that stand for it (any of them names it rightly).
FAULTS: dict[str, tuple[Callable[[Scene, Rng], list[Picture]], tuple[str, ...]]] = {
    "divider drifts": (divider_drifts, ("split",)),
    "divider fades": (divider_fades, ("split",)),
    "wall changes": (wall_changes, ("split",)),
    "camera pans": (camera_pans, ("camera", "split")),
    "camera zooms": (camera_zooms, ("camera", "split")),
    "camera shakes": (camera_shakes, ("camera", "split")),
    "view lags": (view_lags, ("step",)),
    "view plays otherwise": (view_plays_otherwise, ("step",)),
    "colours swap": (colours_swap, ("colours",)),
    "colour fades": (colour_fades, ("colours",)),
    "creature leaves": (creature_leaves, ("inside",)),
    "other creature": (other_creature, ("same", "colours")),
    "frozen": (frozen, ("motion",)),
    "cut in time": (cut_in_time, ("cut",)),
    "cut to other picture": (cut_to_other_picture, ("cut", "split")),
}
