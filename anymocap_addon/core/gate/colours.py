"""Do the limbs keep their colours: none fades, none changes places with another."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np
from numpy.typing import NDArray

from ..creature import PaintGroup
from ..palette import oklab
from .clip import FIRST_FRAMES, SCALE, GateClip
from .finding import Finding, Mark
from .limits import GateLimits

Array = NDArray[np.float64]

BITS = 5
NEAR_HUE = 0.4  # radians in OKLab's colour plane up to which a pixel has a limb's colour
LEAST_CHROMA = 0.05
LEAST_AREA = 120  # half-size pixels that a limb must show in the reference frame to be watched
LEAST_APART = 20  # half-size pixels between two limbs in a view, for their places to tell anything
HIDDEN_APART = 40  # the same where the first frames stand in for a reference that hides one of them
EARLY_FRAMES = 8
SMOOTH = 5
LEAST_SEEN = 20  # half-size pixels of a limb in a frame, to tell its colour and place
NOTHING = 255


@dataclass(frozen=True, eq=False)
class Palette:
    """The limbs' colours in a clip.

    Attributes:
        names: K limbs as the artist knows them. words: their colours.
        labels: (T, H, W) uint8 number of the limb whose colour a pixel has, 255 for none.
        reference: (H, W) the same of the reference frame.
    """

    names: tuple[str, ...]
    words: tuple[str, ...]
    labels: NDArray[np.uint8]
    reference: NDArray[np.uint8]


def read_palette(clip: GateClip, paint: tuple[PaintGroup, ...]) -> Palette:
    """Tell the limbs' colours in the clip, as the reference frame shows them."""
    names, words = tuple(group.name for group in paint), tuple(group.word or group.name for group in paint)
    if not paint:
        nothing = np.full(clip.masks.shape, NOTHING, np.uint8)
        return Palette((), (), nothing, nothing[0])
    table = _table(clip, np.array([group.colour for group in paint], float))
    labels = np.stack([_labels(frame, mask, table) for frame, mask in zip(clip.frames, clip.masks, strict=True)])
    return Palette(names, words, labels, _labels(clip.reference, clip.reference_mask, table))


def _table(clip: GateClip, paints: Array) -> NDArray[np.uint8]:
    """The limb of every colour: the one whose hue is nearest to it, unless the creature's own skin is nearer.

    Shade and the skin that shines through change a paint's strength more than its hue, and a limb that the reference
    frame hides shows the clip a hue that only its paint tells.
    """
    seen = oklab(clip.reference[clip.reference_mask] / 255.0)[:, 1:]
    wanted = oklab(paints)[:, 1:]
    hues = _hue(np.stack([_settled(seen, wanted, group) for group in range(len(wanted))]))
    levels = (np.arange(1 << BITS) + 0.5) / (1 << BITS)
    plane = oklab(np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), -1))[..., 1:]
    apart = _turn(_hue(plane)[..., None], hues)
    right = (apart.min(-1) < NEAR_HUE) & (np.linalg.norm(plane, axis=-1) > LEAST_CHROMA)
    skin = _skin(seen, hues)
    if len(skin):
        right &= _turn(_hue(plane)[..., None], skin).min(-1) > apart.min(-1)
    return np.where(right, apart.argmin(-1), NOTHING).astype(np.uint8)


def _hue(plane: Array) -> Array:
    """(...) hue in radians of (..., 2) places in OKLab's colour plane."""
    return np.asarray(np.arctan2(plane[..., 1], plane[..., 0]))


def _turn(hue: Array, other: Array) -> Array:
    """The angle between hues, 0 to pi."""
    return np.asarray(np.abs((hue - other + np.pi) % (2 * np.pi) - np.pi))


def _settled(seen: Array, wanted: Array, group: int) -> Array:
    """The middle of the reference's colours that are nearer to this paint than to the others, by hue."""
    apart = _turn(_hue(seen)[:, None], _hue(wanted))
    mine = (apart.argmin(1) == group) & (apart[:, group] < NEAR_HUE) & (np.linalg.norm(seen, axis=1) > LEAST_CHROMA)
    if mine.sum() < LEAST_AREA:
        return np.asarray(wanted[group])
    return np.asarray(np.median(seen[mine], 0))


def _skin(seen: Array, hues: Array) -> Array:
    """(S) hues of the creature's own colours: of the fullest cells of the colour plane that no paint is near to."""
    cells, counts = np.unique(np.rint(seen / 0.04).astype(int), axis=0, return_counts=True)
    places = cells[np.argsort(-counts)[:8]] * 0.04
    far = (_turn(_hue(places)[:, None], hues).min(1) > NEAR_HUE / 2) & (np.linalg.norm(places, axis=1) > LEAST_CHROMA)
    return _hue(places[far])


def _labels(frame: NDArray[np.uint8], mask: NDArray[np.bool_], table: NDArray[np.uint8]) -> NDArray[np.uint8]:
    small = frame >> (8 - BITS)
    labels = table[small[..., 0], small[..., 1], small[..., 2]]
    return np.where(mask, labels, NOTHING).astype(np.uint8)


def check_colours(clip: GateClip, palette: Palette, limits: GateLimits) -> Finding:
    """Follow every limb's coloured area, the strength of its colour, and where it lies beside the others."""
    watched = [g for g in range(len(palette.names)) if (palette.reference == g).sum() >= LEAST_AREA]
    if not watched:
        return Finding("colours", {"colour_left": 1.0, "colour_chroma": 1.0, "swap_score": -1.0})
    left, chroma = np.ones((clip.T, len(watched))), np.ones((clip.T, len(watched)))
    for at, group in enumerate(watched):
        left[:, at], chroma[:, at] = _kept(clip, palette, group)
    scores, pairs, guessed = _swaps(clip, palette)
    excess = scores / np.where(guessed, limits.swap_score_hidden, limits.swap_score)
    frame_left, limb_left = np.unravel_index(int(left.argmin()), left.shape)
    frame_chroma, limb_chroma = np.unravel_index(int(chroma.argmin()), chroma.shape)
    figures = {"colour_left": left.min(), "colour_chroma": chroma.min(), "swap_score": scores.max(initial=-1.0)}
    reasons, frame, shown = [], int(frame_left), watched[limb_left]
    if left.min() < limits.colour_left or chroma.min() < limits.colour_chroma:
        if chroma.min() < limits.colour_chroma:
            frame, shown = int(frame_chroma), watched[limb_chroma]
        reasons.append(f"the {palette.words[shown]} of {palette.names[shown]} fades or turns into another colour")
    if scores.size and excess.max() > 1:
        swap_frame, pair = np.unravel_index(int(excess.argmax()), excess.shape)
        one, other = (palette.words[group] for group in pairs[pair])
        frame, shown = int(swap_frame), pairs[pair][0]
        reasons.append(f"{one} and {other} change places: two limbs swap their colours")
    marks = boxes_of(palette.labels[frame] == shown, clip) or boxes_of(clip.masks[frame], clip) if reasons else ()
    return Finding("colours", figures, tuple(reasons), frame, marks)


def _kept(clip: GateClip, palette: Palette, group: int) -> tuple[Array, Array]:
    """(T) a limb's coloured area as a share of its usual one, and (T) its colour's strength as a share of the first."""
    area = smoothed((palette.labels == group).sum((1, 2)).astype(float))
    usual = min(float(np.median(area[:FIRST_FRAMES])), float((palette.reference == group).sum()))
    strength = np.full(clip.T, np.nan)
    for t in range(clip.T):
        pixels = clip.frames[t][palette.labels[t] == group]
        if len(pixels) >= LEAST_SEEN:
            strength[t] = np.median(np.linalg.norm(oklab(pixels[::3] / 255.0)[:, 1:], axis=1))
    seen = strength[np.isfinite(strength)][:FIRST_FRAMES]
    first = np.median(seen) if len(seen) else np.nan
    chroma = np.where(np.isfinite(strength / first), strength / first, 1.0)
    return area / max(usual, 1.0), smoothed(chroma)


def _swaps(clip: GateClip, palette: Palette) -> tuple[Array, list[tuple[int, int]], list[bool]]:
    """(T, P) scores of the pairs of limbs that lie apart: 1 where each lies where the other was, -1 where it was; the
    pairs; and whether the first frames had to tell where one of them was.
    """
    groups = range(len(palette.names))
    centres = np.stack([_centres(clip.masks, palette.labels, group, clip) for group in groups], 1)  # T, G, view, uv
    # Of the reference, not of the first frames: a clip may start in a stride, where left and right lie far apart in
    # the side view and change places with every step.
    shown = np.stack([_centres(clip.reference_mask[None], palette.reference[None], group, clip)[0] for group in groups])
    # Only of a limb that the reference hides in a view the first frames must tell; beside a limb so far away that no
    # stride brings the one to the other.
    early = np.where(np.isfinite(shown), shown, _early(centres))
    hidden = [group for group in groups if (palette.reference == group).sum() < LEAST_AREA]
    scores, pairs, guessed = [], [], []
    for one, other in combinations(groups, 2):
        for start, least in ((shown, LEAST_APART), (early, HIDDEN_APART)):
            apart = np.linalg.norm(start[one] - start[other], axis=-1)
            if start is shown and (one in hidden or other in hidden):
                continue
            if start is early:  # what the reference shows is told by it
                apart[np.isfinite(shown[one] + shown[other]).all(-1)] = np.nan
            if not np.isfinite(apart).any() or np.nanmax(apart) < least:
                continue
            view = int(np.nanargmax(apart))
            scores.append(_swap_score(centres[:, (one, other), view], start[[one, other], view]))
            pairs.append((one, other))
            guessed.append(start is early)
    return (np.stack(scores, 1) if scores else np.empty((clip.T, 0))), pairs, guessed


def _swap_score(places: Array, start: Array) -> Array:
    """(T) from -1, both limbs (T, 2, 2) are nearest to where they were (2, 2), to 1, each is where the other was."""
    stay = _far(places[:, 0], start[0]) + _far(places[:, 1], start[1])
    swapped = _far(places[:, 0], start[1]) + _far(places[:, 1], start[0])
    score = (stay - swapped) / (2 * np.linalg.norm(start[0] - start[1]))
    return smoothed(np.where(np.isfinite(score), score, -1.0))


def _early(centres: Array) -> Array:
    """(G, 2, 2) where each limb lies in each view in the first frames; NaN where fewer than half of them show it."""
    first = centres[:EARLY_FRAMES]
    seen = np.isfinite(first[..., 0]).mean(0) >= 0.5
    middle = np.full(first.shape[1:], np.nan)
    middle[seen] = np.nanmedian(first[:, seen], 0)
    return middle


def _far(places: Array, place: Array) -> Array:
    return np.asarray(np.linalg.norm(places - place, axis=-1))


def _centres(masks: NDArray[np.bool_], labels: NDArray[np.uint8], group: int, clip: GateClip) -> Array:
    """(T, 2, 2) middle (u, v) of a limb's colour in each view, from the creature's own middle; NaN when not seen."""
    found = np.full((len(masks), 2, 2), np.nan)
    for view, columns in enumerate(clip.studio.views):
        for t, (mask, label) in enumerate(zip(masks[:, :, columns], labels[:, :, columns], strict=True)):
            rows, places = np.nonzero(label == group)
            if len(rows) < LEAST_SEEN:
                continue
            body_rows, body_places = np.nonzero(mask[::2, ::2])
            found[t, view] = np.median(places) - 2 * body_places.mean(), np.median(rows) - 2 * body_rows.mean()
    return found


def smoothed(values: Array) -> Array:
    """(T) running median over SMOOTH frames: a limb hidden for a frame is no fault."""
    if len(values) < SMOOTH:
        return values
    padded = np.pad(values, SMOOTH // 2, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(padded, SMOOTH)
    return np.asarray(np.median(windows, 1))


def boxes_of(mask: NDArray[np.bool_], clip: GateClip) -> tuple[Mark, ...]:
    """The box around a mask's pixels in each view that shows any, layout px."""
    boxes = []
    for columns in clip.studio.views:
        if mask[:, columns].any():
            left, top, width, height = cv2.boundingRect(mask[:, columns].astype(np.uint8))
            left += columns.start
            boxes.append((left / SCALE, top / SCALE, (left + width) / SCALE, (top + height) / SCALE))
    return tuple(boxes)
