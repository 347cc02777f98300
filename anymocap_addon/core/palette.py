"""Colours for limbs: well apart for eye, reader and video model, and each with a word a prompt can use."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Colour = tuple[float, float, float]

COLOURS: dict[str, Colour] = {
    "red": (0.92, 0.10, 0.10),
    "blue": (0.12, 0.28, 0.95),
    "yellow": (0.97, 0.87, 0.08),
    "green": (0.08, 0.70, 0.22),
    "magenta": (0.90, 0.12, 0.80),
    "cyan": (0.05, 0.85, 0.92),
    "orange": (1.00, 0.52, 0.05),
    "purple": (0.45, 0.12, 0.75),
    "pink": (1.00, 0.62, 0.76),
    "lime": (0.66, 0.95, 0.15),
    "teal": (0.02, 0.45, 0.45),
}
# sRGB (linear) to the LMS of OKLab and from its cube roots to Lab: B. Ottosson, "A perceptual color space", 2020.
_TO_LMS = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
_TO_LAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def srgb_to_linear(colour: Array) -> Array:
    """(..., 3) sRGB 0..1 to linear light (IEC 61966-2-1)."""
    return np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(colour: Array) -> Array:
    """(..., 3) linear light to sRGB, clipped to 0..1."""
    clipped = np.clip(colour, 0.0, 1.0)
    return np.where(clipped <= 0.0031308, clipped * 12.92, 1.055 * clipped ** (1 / 2.4) - 0.055)


def oklab(colour: Array) -> Array:
    """(..., 3) sRGB 0..1 to OKLab, whose distances follow the eye's."""
    return np.asarray(np.cbrt(srgb_to_linear(np.asarray(colour, float)) @ _TO_LMS.T) @ _TO_LAB.T)


def _hue_first(colour: Array) -> Array:
    """OKLab with lightness at half weight: light and shade change it, hue and chroma stay."""
    return oklab(colour) * [0.5, 1.0, 1.0]


def choose_colours(count: int, skin: Array, opacity: float) -> list[tuple[str, Colour]]:
    """`count` colours with their words, each as far as can be from the others and from the creature's own colour.

    Distances are those of the paint as it is seen: mixed with the skin under it. Greedy: the next colour is the one
    whose nearest neighbour (bare skin or a chosen colour) is farthest in OKLab. More than the palette holds: it
    starts again, darker.

    Args:
        skin: (3,) mean sRGB colour of the creature. opacity: of the paint, 0..1.
    """
    words = list(COLOURS)
    lab = _hue_first(opacity * np.array([COLOURS[word] for word in words]) + (1 - opacity) * skin)
    chosen: list[int] = []
    nearest = np.linalg.norm(lab - _hue_first(skin), axis=1)
    for _ in range(min(count, len(words))):
        best = int(np.argmax(nearest))
        chosen.append(best)
        nearest = np.minimum(nearest, np.linalg.norm(lab - lab[best], axis=1))
    result = [(words[i], COLOURS[words[i]]) for i in chosen]
    for i in range(len(words), count):
        word, (red, green, blue) = result[i % len(words)]
        shade = 0.6 ** (i // len(words))
        result.append((f"dark {word}", (red * shade, green * shade, blue * shade)))
    return result
