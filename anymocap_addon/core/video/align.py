"""Where the clip's pixels lie in the layout: an affine map found by laying the first frame on ref.png.

Video models resize and crop. A generated clip starts from ref.png, so its first frame fits to a tenth of a pixel by
ECC (Evangelidis and Psarakis 2008: maximise the correlation of brightness, blind to gain and offset, hence to colour
shift). A clip that starts in another pose would drag ECC along with the creature's limbs by many pixels. Its
correlation inside the creature's silhouette tells; then only the studio's own lines, the floor's edge and the divider,
are matched, and the scale is the one that the sizes call for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..layout import Layout

Affine = NDArray[np.float64]
Picture = NDArray[np.uint8]
Grey = NDArray[np.float32]

LEVELS = (0.25, 0.5)
ECC_STEPS, ECC_GAIN = 60, 1e-5
# Clips that start from the reference reach 0.98 inside the silhouette, other poses of one creature below 0.75.
MIN_CORRELATION = 0.9
MAX_SCALE_CHANGE, MAX_SHEAR, MAX_SHIFT_PX = 0.08, 0.02, 60.0
STUDIO_REACH_PX = 24
MIN_LINE_CORRELATION, MIN_LINE_STRENGTH = 0.7, 0.3
# A creature in another pose tells little about the scale: cropping is believed only when it fits clearly better.
CROP_MARGIN = 0.05
SILHOUETTE_STEP, SILHOUETTE_MARGIN_PX = 14, 12
ASPECT_WARNING = 0.03


@dataclass(frozen=True)
class Alignment:
    """How a clip lies on the layout.

    Attributes:
        calib: (2, 3) affine from clip px to layout px, continuous coordinates (the first pixel's centre is 0.5, 0.5).
        method: "ecc", "studio" (floor edge and divider only) or "size" (nothing matched: the size ratio alone).
        correlation: of the first frame with ref.png inside the creature's silhouette, -1..1.
        warnings: sentences for the artist; empty when all is well.
    """

    calib: Affine
    method: str
    correlation: float
    warnings: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """As plain values, for det.npz and the stage's result."""
        return {
            "method": self.method,
            "correlation": round(self.correlation, 4),
            "calib": [[float(value) for value in row] for row in self.calib],
            "warnings": list(self.warnings),
        }


def compose(outer: Affine, inner: Affine) -> Affine:
    """The affine that applies `inner` first."""
    product: Affine = (np.vstack([outer, [0, 0, 1]]) @ np.vstack([inner, [0, 0, 1]]))[:2]
    return product


def invert(affine: Affine) -> Affine:
    """The inverse affine."""
    inverse: Affine = np.linalg.inv(np.vstack([affine, [0, 0, 1]]))[:2]
    return inverse


def apply_affine(affine: Affine, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (..., 2) through the affine."""
    moved: NDArray[np.float64] = points @ affine[:, :2].T + affine[:, 2]
    return moved


def warp(picture: Picture, affine: Affine, size: tuple[int, int]) -> Picture:
    """The picture drawn through `affine` (its px to target px, continuous coordinates) at `size` (width, height).

    Edge pixels are repeated outside. Pictures that shrink much are averaged first, so that nothing aliases.
    """
    shrink = float(np.sqrt(abs(np.linalg.det(affine[:, :2]))))
    if shrink < 0.7:
        picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.4 / shrink), np.uint8)
    # OpenCV counts from pixel centres.
    matrix = affine.copy()
    matrix[:, 2] += affine[:, :2] @ [0.5, 0.5] - 0.5
    drawn = cv2.warpAffine(picture, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(drawn, np.uint8)


def size_starts(clip: tuple[int, int], layout: tuple[int, int]) -> list[Affine]:
    """What the sizes (width, height) allow: stretched to the clip, or scaled evenly and cropped."""
    x, y = layout[0] / clip[0], layout[1] / clip[1]
    stretched = np.array([[x, 0, 0], [0, y, 0]])
    if abs(x / y - 1) < 1e-3:
        return [stretched]
    even = min(x, y)
    shift = (np.array(layout) - even * np.array(clip)) / 2
    return [stretched, np.array([[even, 0, shift[0]], [0, even, shift[1]]])]


def align(ref: Picture, frames: Sequence[Picture], layout: Layout) -> Alignment:
    """Align a clip to the reference frame.

    Args:
        ref: ref.png, (720, 1280, 3) RGB.
        frames: the clip's first frames, at least one; the first is laid on ref.png.
        layout: the creature's, for the studio's lines.

    Never fails: what could not be matched is said in `warnings`.
    """
    height, width = frames[0].shape[:2]
    warnings = _aspect_warnings((width, height), (layout.width, layout.height))
    mask = silhouette(ref, layout)
    tries = [_ecc(ref, frames[0], start) for start in size_starts((width, height), (layout.width, layout.height))]
    scored = [(_correlation(ref, frames[0], calib, mask), calib) for calib in tries if calib is not None]
    best, calib = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    if calib is not None and best >= MIN_CORRELATION:
        return Alignment(calib, "ecc", best, tuple(warnings))
    reason = "did not converge" if calib is None else f"reached a correlation of {best:.2f} only"
    studio = _studio(ref, frames, layout, mask)
    if studio is not None:
        correlation = _correlation(ref, frames[0], studio, mask)
        warnings.append(
            f"Laying the first frame on ref.png {reason}: the clip does not start in the reference pose. It was placed "
            "by the floor's edge and the divider, its scale taken from its size."
        )
        return Alignment(studio, "studio", correlation, tuple(warnings))
    start = size_starts((width, height), (layout.width, layout.height))[0]
    warnings.append(
        f"Laying the first frame on ref.png {reason}, and neither floor edge nor divider of the studio was found. The "
        "clip was only scaled to the layout: check in overlay.mp4 that the joints sit on the creature."
    )
    return Alignment(start, "size", _correlation(ref, frames[0], start, mask), tuple(warnings))


def _aspect_warnings(clip: tuple[int, int], layout: tuple[int, int]) -> list[str]:
    difference = (clip[0] / clip[1]) / (layout[0] / layout[1]) - 1
    if abs(difference) <= ASPECT_WARNING:
        return []
    shape = "wider" if difference > 0 else "narrower"
    return [
        f"The clip is {clip[0]} x {clip[1]}: {abs(difference):.0%} {shape} than the reference frame. Ask the video "
        "model for 16:9."
    ]


def silhouette(ref: Picture, layout: Layout) -> NDArray[np.bool_]:
    """(H, W) where ref.png differs from the empty studio, with a margin."""
    differs = np.abs(ref.astype(np.int16) - layout.studio()).max(-1) > SILHOUETTE_STEP
    size = 2 * SILHOUETTE_MARGIN_PX + 1
    grown = cv2.dilate(differs.astype(np.uint8), np.ones((size, size), np.uint8)) > 0
    return grown if grown.any() else np.ones_like(grown)


def _grey(picture: Picture, scale: float) -> Grey:
    grey = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)
    return np.asarray(cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.float32)


def _ecc(ref: Picture, frame: Picture, start: Affine) -> Affine | None:
    """The affine by ECC, coarse to fine; None when it diverges or ends where no video model would put it."""
    size = (ref.shape[1], ref.shape[0])
    calib = start.copy()
    criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, ECC_STEPS, ECC_GAIN)
    for level in LEVELS:
        step = np.eye(2, 3, dtype=np.float32)
        try:
            drawn = _grey(warp(frame, calib, size), level)
            _, found = cv2.findTransformECC(_grey(ref, level), drawn, step, cv2.MOTION_AFFINE, criteria)
        except cv2.error:  # its way to say that the correlation cannot be raised
            return None
        move = np.asarray(found, float)  # ref px to drawn px, counted from pixel centres of the small pictures
        move[:, 2] = (move[:, 2] + 0.5 - move[:, :2] @ [0.5, 0.5]) / level
        calib = compose(invert(move), calib)
    change = compose(calib, invert(start))
    middle = apply_affine(change, np.array(size) / 2) - np.array(size) / 2
    scales = np.abs(np.diag(change[:, :2]) - 1)
    shears = np.abs([change[0, 1], change[1, 0]])
    sane = scales.max() < MAX_SCALE_CHANGE and shears.max() < MAX_SHEAR and np.abs(middle).max() < MAX_SHIFT_PX
    return calib if sane else None


def _correlation(ref: Picture, frame: Picture, calib: Affine, mask: NDArray[np.bool_]) -> float:
    """Correlation of brightness inside the mask, both slightly blurred."""
    drawn = warp(frame, calib, (ref.shape[1], ref.shape[0]))
    pair = [cv2.GaussianBlur(_grey(picture, 1.0), (0, 0), 2.0)[mask] for picture in (ref, drawn)]
    if min(values.std() for values in pair) < 1e-3:
        return 0.0
    return float(np.corrcoef(pair[0], pair[1])[0, 1])


def _studio(ref: Picture, frames: Sequence[Picture], layout: Layout, mask: NDArray[np.bool_]) -> Affine | None:
    """The start, shifted so that floor edge and divider lie where the reference has them; None when one is missing."""
    height, width = frames[0].shape[:2]
    size = (layout.width, layout.height)
    found: list[tuple[float, Affine]] = []
    for start in size_starts((width, height), size):
        drawn = np.median([warp(frame, start, size) for frame in frames], axis=0).astype(np.uint8)
        down = _line_shift(ref, drawn, round(layout.ground_v), axis=0)
        right = _line_shift(ref, drawn, layout.w_front, axis=1)
        if down is None or right is None:
            continue
        calib = start.copy()
        calib[:, 2] -= [right, down]
        found.append((_correlation(ref, frames[0], calib, mask) - CROP_MARGIN * len(found), calib))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _line_shift(ref: Picture, drawn: Picture, place: int, axis: int) -> float | None:
    """How far a straight line near row (axis 0) or column (axis 1) `place` moved, px; None when it is not there.

    The line's profile is the median across the picture, which feet and body that cover a part of it cannot move.
    """
    reach, template = STUDIO_REACH_PX, STUDIO_REACH_PX // 2
    low, high = place - reach - template, place + reach + template
    length = ref.shape[axis]
    if low < 0 or high > length:
        low, high = max(low, 0), min(high, length)
    profiles = [np.median(_step(picture, axis), axis=1 - axis)[low:high] for picture in (ref, drawn)]
    first = max(place - low - template, 0)
    pattern = profiles[0][first : first + 2 * template]
    if pattern.std() < 1e-3 or len(profiles[1]) <= len(pattern):
        return None
    scores = cv2.matchTemplate(
        profiles[1].astype(np.float32)[None], pattern.astype(np.float32)[None], cv2.TM_CCOEFF_NORMED
    )[0]
    at = int(scores.argmax())
    strength = profiles[1][at : at + len(pattern)].std() / pattern.std()
    if scores[at] < MIN_LINE_CORRELATION or not MIN_LINE_STRENGTH < strength < 1 / MIN_LINE_STRENGTH:
        return None
    part = 0.0
    if 0 < at < len(scores) - 1:
        left, middle, right = scores[at - 1 : at + 2]
        curve = left - 2 * middle + right
        part = float(0.5 * (left - right) / curve) if curve < 0 else 0.0
    return at + part - first


def _step(picture: Picture, axis: int) -> Grey:
    """Brightness change along `axis` of the slightly blurred picture."""
    smooth = cv2.GaussianBlur(_grey(picture, 1.0), (0, 0), 2.0)
    change: Grey = np.gradient(smooth, axis=axis)
    return change
