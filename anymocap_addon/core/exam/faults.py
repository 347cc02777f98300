"""The faults of generated video, applied to clean frames whose truth is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from ..errors import BadInputError
from ..layout import Layout
from ..video.align import Affine, compose, invert, warp

Picture = NDArray[np.uint8]
Float = NDArray[np.float32]


@dataclass(frozen=True)
class Preset:
    """How strong the faults are.

    Attributes:
        size: (width, height) of the clip, px; None keeps the layout's.
        scale, shift_px: largest random zoom (a share) and shift of the picture beyond what the size calls for.
        gain, contrast, offset: largest change of a channel's gain, of contrast about the mean, of brightness.
        blur_px: Gaussian blur. noise: standard deviation of the noise, grey levels.
        ghost: share of the frame before that stays visible.
        lag_frames: how late the front view is, unless the exam asks for a lag.
        bitrate_kbps, crf: H.264; one of them.
    """

    size: tuple[int, int] | None = None
    scale: float = 0.0
    shift_px: float = 0.0
    gain: float = 0.0
    contrast: float = 0.0
    offset: float = 0.0
    blur_px: float = 0.0
    noise: float = 0.0
    ghost: float = 0.0
    lag_frames: float = 0.0
    bitrate_kbps: float | None = None
    crf: float | None = 14.0


# A 16:9 clip at 768 rows comes back as 1344 x 768 (not quite 16:9), at 2 to 4 Mbit/s.
TYPICAL = Preset((1344, 768), 0.003, 4.0, 0.05, 0.1, 8.0, 0.8, 2.0, 0.1, 0.5, 2500.0, None)
HARD = Preset((1024, 576), 0.015, 8.0, 0.1, 0.25, 20.0, 1.4, 5.0, 0.25, 1.0, 500.0, None)
PRESETS = {"none": Preset(), "typical": TYPICAL, "hard": HARD}


@dataclass(frozen=True, eq=False)
class Faults:
    """One draw of a preset's faults, the same for all frames of a clip.

    Attributes:
        size: (width, height) of the clip, px.
        calib: (2, 3) the true affine from clip px to layout px, continuous coordinates.
        lag_frames: how late the front view is; the side view keeps the truth's time.
        colour: (3, 4) affine on RGB, applied to 0..255.
    """

    preset: Preset
    size: tuple[int, int]
    calib: Affine
    lag_frames: float
    colour: Float
    seed: int


def draw_faults(name: str, layout: Layout, seed: int, lag_frames: float = 0.0) -> Faults:
    """The faults of a clip; the same arguments give the same faults.

    Args:
        name: "none", "typical" or "hard".
        lag_frames: replaces the preset's lag unless it is 0.

    Raises:
        BadInputError: no such preset.
    """
    if name not in PRESETS:
        raise BadInputError(f"is {name!r}.", key="faults", hint=f"Use one of {', '.join(PRESETS)}.")
    preset = PRESETS[name]
    rng = np.random.default_rng([seed, 20483])
    canvas = (layout.width, layout.height)
    size = preset.size or canvas
    zoom = 1 + rng.uniform(-preset.scale, preset.scale, 2)
    shift = rng.uniform(-preset.shift_px, preset.shift_px, 2)
    middle = np.array(canvas) / 2
    crop = np.array(
        [[zoom[0], 0, middle[0] * (1 - zoom[0]) + shift[0]], [0, zoom[1], middle[1] * (1 - zoom[1]) + shift[1]]]
    )
    resize = np.array([[size[0] / canvas[0], 0, 0], [0, size[1] / canvas[1], 0]])
    gains = 1 + rng.uniform(-preset.gain, preset.gain, 3)
    contrast = 1 + rng.uniform(-preset.contrast, preset.contrast)
    offset = 128 * (1 - contrast) + rng.uniform(-preset.offset, preset.offset)
    colour = np.concatenate([np.diag(gains * contrast), (gains * offset)[:, None]], 1).astype(np.float32)
    lag = lag_frames or preset.lag_frames
    return Faults(preset, size, invert(compose(resize, crop)), lag, colour, seed)


def late_front(before: Picture, after: Picture, part: float, layout: Layout, side: Picture) -> Picture:
    """`side`'s frame with the front view of another time: `before` and `after` mixed, `part` of the latter.

    Fractions of a frame are a cross-fade, which is also what generated clips show.
    """
    mixed = side.copy()
    width = layout.w_front
    blend = cv2.addWeighted(before[:, :width], 1 - part, after[:, :width], part, 0)
    mixed[:, :width] = np.asarray(blend, np.uint8)
    return mixed


@lru_cache(1)
def _noise(shape: tuple[int, ...], strength: float, seed: int) -> Float:
    field = np.random.default_rng([seed, 77]).standard_normal(shape, np.float32)
    return np.asarray(field * np.float32(strength), np.float32)


def spoil(frame: Picture, previous: Picture, faults: Faults, index: int) -> Picture:
    """One frame with all faults but lag and compression.

    Args:
        frame, previous: (720, 1280, 3) RGB layout pictures; `previous` may be the frame itself at the start.
        index: which frame, for its noise.
    """
    preset = faults.preset
    picture = frame
    if preset.ghost:
        picture = np.asarray(cv2.addWeighted(frame, 1 - preset.ghost, previous, preset.ghost, 0), np.uint8)
    if preset != PRESETS["none"]:
        picture = warp(picture, invert(faults.calib), faults.size)
    if preset.blur_px:
        picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), preset.blur_px), np.uint8)
    if not (preset.noise or preset.gain):
        return picture
    values = np.asarray(cv2.transform(picture.astype(np.float32), faults.colour), np.float32)
    # One field of noise a clip, laid on at another place every frame: drawing it anew costs more than all the rest.
    rng = np.random.default_rng([faults.seed, index])
    values += np.roll(_noise(values.shape, preset.noise, faults.seed), rng.integers(values.size))
    spoilt: Picture = np.clip(np.rint(values), 0, 255).astype(np.uint8)
    return spoilt
