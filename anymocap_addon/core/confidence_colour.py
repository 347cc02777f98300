"""The colours of confidence, from doubtful to confident: one ramp for the overlay film and the overlay in Blender.

Vermillion, amber, sky blue: they stay apart for the common kinds of colour blindness, where red and green would not,
and on the studio's grey.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Colour = tuple[int, int, int]

RAMP = np.array([[222, 62, 24], [250, 200, 70], [70, 190, 255]], float)
DOUBT = 0.5  # dots below it are drawn smaller


def confidence_colours(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 3) RGB 0..255 of confidences (...) in 0..1; values beyond take the ends' colours."""
    at = np.clip(confidence, 0.0, 1.0) * (len(RAMP) - 1)
    low = np.minimum(at.astype(int), len(RAMP) - 2)
    colours: NDArray[np.float64] = RAMP[low] + (at - low)[..., None] * (RAMP[low + 1] - RAMP[low])
    return colours


def confidence_colour(confidence: float) -> Colour:
    """RGB of one confidence."""
    red, green, blue = np.rint(confidence_colours(np.array(confidence, float))).astype(int).tolist()
    return red, green, blue
