"""The ramp of confidence: its ends, and that colour-blind eyes can tell them apart."""

from __future__ import annotations

import numpy as np
import pytest

from anymocap_addon.core.confidence_colour import RAMP, confidence_colour, confidence_colours
from anymocap_addon.core.layout import FLOOR, WALL
from anymocap_addon.core.palette import linear_to_srgb, oklab, srgb_to_linear

# Full dichromacy in linear RGB: G. Machado, M. Oliveira, L. Fernandes, 2009, severity 1.0.
BLINDNESS = {
    "none": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def seen(colour: np.ndarray, blindness: str) -> np.ndarray:
    return oklab(linear_to_srgb(srgb_to_linear(colour / 255) @ np.array(BLINDNESS[blindness]).T))


def test_the_ends_are_the_ramps_and_values_beyond_stay_there() -> None:
    assert confidence_colour(-3.0) == confidence_colour(0.0) == tuple(RAMP[0].astype(int))
    assert confidence_colour(9.0) == confidence_colour(1.0) == tuple(RAMP[-1].astype(int))
    many = confidence_colours(np.linspace(0, 1, 12).reshape(3, 4))
    assert many.shape == (3, 4, 3)
    np.testing.assert_allclose(many[1, 2], confidence_colour(float(np.linspace(0, 1, 12)[6])), atol=0.5)


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_doubt_and_confidence_stay_apart_for_every_eye(blindness: str) -> None:
    low, middle, high = (seen(colour, blindness) for colour in RAMP)
    assert np.linalg.norm(low - high) > 0.15 and np.linalg.norm(low - middle) > 0.15
    for ground in (WALL, FLOOR):
        behind = seen(np.array(ground, float), blindness)
        assert min(np.linalg.norm(colour - behind) for colour in (low, middle, high)) > 0.07
