"""Limb colours are apart from each other and from the creature, as they are seen through the skin."""

from __future__ import annotations

import numpy as np
import pytest

from anymocap_addon.core.palette import COLOURS, choose_colours, linear_to_srgb, oklab, srgb_to_linear


@pytest.mark.parametrize("skin", [(0.8, 0.45, 0.15), (0.35, 0.36, 0.35), (0.95, 0.95, 0.95), (0.1, 0.3, 0.9)])
def test_five_limbs_are_well_apart(skin: tuple[float, float, float]) -> None:
    chosen = choose_colours(5, np.array(skin), 0.6)
    assert len({word for word, _ in chosen}) == 5
    seen = oklab(0.6 * np.array([colour for _, colour in chosen]) + 0.4 * np.array(skin))
    gaps = np.linalg.norm(seen[:, None] - seen[None], axis=-1)[np.triu_indices(5, 1)]
    assert gaps.min() > 0.12  # a just noticeable difference is about 0.02
    assert np.linalg.norm(seen - oklab(np.array(skin)), axis=1).min() > 0.1


def test_more_limbs_than_colours_still_differ() -> None:
    chosen = choose_colours(20, np.array([0.5, 0.5, 0.5]), 0.6)
    assert len({colour for _, colour in chosen}) == len({word for word, _ in chosen}) == 20
    assert len(COLOURS) < 20


def test_oklab_and_srgb_agree_with_published_values() -> None:
    assert oklab(np.array([1.0, 1.0, 1.0])) == pytest.approx([1.0, 0.0, 0.0], abs=1e-4)
    assert oklab(np.array([1.0, 0.0, 0.0])) == pytest.approx([0.62796, 0.22486, 0.12585], abs=1e-4)
    colours = np.random.default_rng(0).random((50, 3))
    assert linear_to_srgb(srgb_to_linear(colours)) == pytest.approx(colours)
