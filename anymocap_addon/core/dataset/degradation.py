"""Makes a clean drawing of a pose look like a frame of generated video, at the size that the network sees.

One call does everything to one sample: the small resize and shift that video models do, a backdrop, motion blur and
blur, colour, patches that hide things, ghosts of a neighbouring frame, noise and compression. About 5 to 10 ms.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from ..layout import Layout
from .backdrop import random_backdrop

FloatImage = NDArray[np.float32]

MAX_SCALE = 0.06
MAX_STRETCH = 0.02
MAX_SHIFT_PX = 14.0
BORDER_PX = 2.0
COLUMN_SLACK_PX = 10.0

# RGB -> hue rotation about the grey axis (YIQ): T = LUMA + cos * COSINE + sin * SINE.
_LUMA = np.array([[0.299, 0.587, 0.114]] * 3)
_COSINE = np.array([[0.701, -0.587, -0.114], [-0.299, 0.413, -0.114], [-0.3, -0.588, 0.886]])
_SINE = np.array([[0.168, 0.330, -0.497], [-0.328, 0.035, 0.292], [1.25, -1.05, -0.203]])


@dataclass(frozen=True)
class Frame:
    """How the layout is sampled by the network: (width, height) px, `scale` network px a layout px.

    The layout's (0, 0) is the frame's (0, 0); columns or rows beyond the layout are padding.
    """

    width: int
    height: int
    scale: float


@dataclass(frozen=True)
class Strength:
    """Which faults are drawn. `full` is training; `held_out` leaves out what a real clip hardly has."""

    backdrop: bool = True
    patches: bool = True
    ghosts: bool = True
    geometry: bool = True
    blur: bool = True
    colour: bool = True
    noise: bool = True
    compression: bool = True


FULL = Strength()
HELD_OUT = Strength(backdrop=False, patches=False, ghosts=False)


@dataclass(frozen=True)
class Degraded:
    """image (height, width, 3) uint8 RGB; uv (2J, 2) layout px after the warp; visible (2J) bool."""

    image: NDArray[np.uint8]
    uv: NDArray[np.float64]
    visible: NDArray[np.bool_]


def degrade(
    rgba: NDArray[np.uint8],
    uv: NDArray[np.float64],
    layout: Layout,
    frame: Frame,
    rng: np.random.Generator,
    strength: Strength = FULL,
) -> Degraded:
    """Degrade one two-view drawing.

    Args:
        rgba: (rows, columns, 4) uint8, premultiplied alpha, both views side by side over the whole layout.
        uv: (2J, 2) layout px; the first J are the front view's.
        layout, frame: what the drawing shows and what the network sees.
        rng: drives every choice; the same state gives the same sample.
    """
    affine = _random_affine(rng, layout) if strength.geometry else np.eye(2, 3)
    moved = uv * [affine[0, 0], affine[1, 1]] + affine[:, 2]
    picture = _composite(rgba, affine, layout, frame, rng, strength)
    if strength.blur:
        picture = _blur(picture, rng)
    if strength.ghosts and rng.random() < 0.15:
        picture = _ghost(picture, rng)
    if strength.colour:
        picture = _recolour(picture, rng)
    if strength.patches and rng.random() < 0.3:
        _patches(picture, rng)
    if strength.noise and rng.random() < 0.6:
        # OpenCV's own generator is a global: it would make the sample depend on what ran before.
        picture += rng.standard_normal(picture.shape, np.float32) * np.float32(rng.uniform(1, 14))
    image = np.clip(picture, 0, 255).astype(np.uint8)
    if strength.compression and rng.random() < 0.7:
        image = _compress(image, int(rng.integers(15, 80)))
    return Degraded(image, moved, visible_keypoints(moved, layout))


def visible_keypoints(uv: NDArray[np.float64], layout: Layout) -> NDArray[np.bool_]:
    """Which of (..., 2J, 2) keypoints lie inside the canvas and on their own side of the divider."""
    count = uv.shape[-2] // 2
    u, v = uv[..., 0], uv[..., 1]
    inside = (u > BORDER_PX) & (u < layout.width - BORDER_PX) & (v > BORDER_PX) & (v < layout.height - BORDER_PX)
    front = np.arange(uv.shape[-2]) < count
    own_side = np.where(front, u < layout.w_front + COLUMN_SLACK_PX, u > layout.w_front - COLUMN_SLACK_PX)
    visible: NDArray[np.bool_] = inside & own_side
    return visible


def _random_affine(rng: np.random.Generator, layout: Layout) -> NDArray[np.float64]:
    """A small resize, stretch and shift about the canvas' middle, layout px -> layout px."""
    sx = 1 + rng.uniform(-MAX_SCALE, MAX_SCALE)
    sy = sx * (1 + rng.uniform(-MAX_STRETCH, MAX_STRETCH))
    shift = rng.uniform(-MAX_SHIFT_PX, MAX_SHIFT_PX, 2)
    middle = np.array([layout.width / 2, layout.height / 2])
    return np.array([[sx, 0, middle[0] * (1 - sx) + shift[0]], [0, sy, middle[1] * (1 - sy) + shift[1]]], np.float64)


def _composite(
    rgba: NDArray[np.uint8],
    affine: NDArray[np.float64],
    layout: Layout,
    frame: Frame,
    rng: np.random.Generator,
    strength: Strength,
) -> FloatImage:
    """Warp the drawing to network size, lay it on a backdrop and draw the divider."""
    scale = frame.scale
    source = layout.height / rgba.shape[0]
    sx, sy = affine[0, 0] * source * scale, affine[1, 1] * source * scale
    # Pixel i of the drawing has its centre at (i + 0.5) * source layout px.
    warp = np.array(
        [[sx, 0, affine[0, 2] * scale + sx / 2 - 0.5], [0, sy, affine[1, 2] * scale + sy / 2 - 0.5]], np.float64
    )
    if sx < 0.9:
        rgba = np.asarray(cv2.GaussianBlur(rgba, (0, 0), 0.35 / sx), np.uint8)
    drawn = cv2.warpAffine(rgba, warp, (frame.width, frame.height), flags=cv2.INTER_LINEAR)
    ground = (layout.ground_v * affine[1, 1] + affine[1, 2]) * scale
    if strength.backdrop:
        behind = random_backdrop(rng, frame.width, frame.height, ground)
    else:
        behind = _plain_studio(layout, frame, ground)
    picture = drawn[..., :3].astype(np.float32)
    picture += behind * (1 - drawn[..., 3:].astype(np.float32) * np.float32(1 / 255))
    column = round((layout.w_front * affine[0, 0] + affine[0, 2]) * scale - 0.6)
    width = 1 + int(rng.random() < 0.3)
    picture[:, max(0, column) : column + width] = rng.uniform(20, 110) if strength.backdrop else 60.0
    return picture


def _plain_studio(layout: Layout, frame: Frame, ground: float) -> FloatImage:
    studio = layout.studio(frame.scale)
    picture = np.empty((frame.height, frame.width, 3), np.float32)
    picture[:] = studio[0, 0]
    picture[max(0, round(ground)) :] = studio[-1, 0]
    return picture


def _blur(picture: FloatImage, rng: np.random.Generator) -> FloatImage:
    """Motion blur along a line, soft focus, or the loss of a smaller size."""
    height, width = picture.shape[:2]
    if rng.random() < 0.25:
        picture = np.asarray(cv2.filter2D(picture, -1, _line_kernel(rng)), np.float32)
    if rng.random() < 0.5:
        picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), float(rng.uniform(0.3, 1.5))), np.float32)
    if rng.random() < 0.2:
        share = float(rng.uniform(0.4, 0.9))
        small = cv2.resize(picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
        picture = np.asarray(cv2.resize(small, (width, height)), np.float32)
    return picture


def _line_kernel(rng: np.random.Generator) -> FloatImage:
    """A straight stroke of 3 to 9 px in any direction, summing to one."""
    reach = int(rng.integers(1, 5))
    angle = rng.uniform(0, np.pi)
    kernel = np.zeros((2 * reach + 1, 2 * reach + 1), np.float32)
    dx, dy = reach * np.cos(angle), reach * np.sin(angle)
    ends = (round(reach - dx), round(reach - dy)), (round(reach + dx), round(reach + dy))
    cv2.line(kernel, *ends, (1.0,), 1)
    normal: FloatImage = kernel / kernel.sum()
    return normal


def _ghost(picture: FloatImage, rng: np.random.Generator) -> FloatImage:
    """The faint double that frame interpolation leaves: the picture over itself, a few pixels off."""
    shift = np.array([[1, 0, rng.normal(0, 4)], [0, 1, rng.normal(0, 2)]], np.float64)
    height, width = picture.shape[:2]
    twin = cv2.warpAffine(picture, shift, (width, height), borderMode=cv2.BORDER_REPLICATE)
    amount = float(rng.uniform(0.1, 0.35))
    return np.asarray(cv2.addWeighted(picture, 1 - amount, twin, amount, 0), np.float32)


def _recolour(picture: FloatImage, rng: np.random.Generator) -> FloatImage:
    """Saturation, hue, contrast about the mean, a tint and brightness as one 3 x 4 colour matrix."""
    mean = float(picture[::4, ::4].mean())
    saturation, hue = rng.uniform(0.5, 1.4), rng.uniform(-0.35, 0.35)
    contrast, tint = rng.uniform(0.65, 1.35), rng.uniform(0.9, 1.1, 3)
    rotation = _LUMA + np.cos(hue) * _COSINE + np.sin(hue) * _SINE
    saturate = np.eye(3) * saturation + (1 - saturation) * _LUMA
    matrix = tint[:, None] * contrast * (rotation @ saturate)
    offset = tint * ((1 - contrast) * mean + rng.uniform(-30, 30))
    full = np.concatenate([matrix, offset[:, None]], 1).astype(np.float32)
    return np.asarray(cv2.transform(picture, full), np.float32)


def _patches(picture: FloatImage, rng: np.random.Generator) -> None:
    """One to three squares hide a bit of the picture, in place."""
    height, width = picture.shape[:2]
    for _ in range(int(rng.integers(1, 4))):
        top, left = int(rng.uniform(0, height)), int(rng.uniform(0, width))
        size = int(rng.uniform(0.015, 0.08) * width)
        picture[top : top + size, left : left + size] = rng.uniform(0, 255, 3)


def _compress(image: NDArray[np.uint8], quality: int) -> NDArray[np.uint8]:
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)
