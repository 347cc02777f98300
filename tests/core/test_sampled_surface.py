"""Points on a surface: near enough to each other everywhere, and no more of them than the area needs."""

from __future__ import annotations

import numpy as np

from anymocap_addon.core.voxel_solid import sampled_surface

SPACING = 0.05


def test_every_place_of_every_triangle_is_near_a_point() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 3))
    triangles = np.array([rng.choice(60, 3, replace=False) for _ in range(12)])
    places, owners, shares = sampled_surface(points, triangles, SPACING)
    assert np.allclose(np.einsum("sk,skx->sx", shares, points[triangles[owners]]), places)
    assert shares.min() >= 0 and np.allclose(shares.sum(1), 1)
    for t, triangle in enumerate(triangles):
        asked = rng.dirichlet([1, 1, 1], 200) @ points[triangle]
        distances = np.linalg.norm(asked[:, None] - places[owners == t][None], axis=2).min(1)
        assert distances.max() < SPACING


def test_a_sliver_takes_as_many_points_as_its_length_needs_not_its_square() -> None:
    sliver = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 0.001, 0.0]])
    places, _, _ = sampled_surface(sliver, np.array([[0, 1, 2]]), 0.01)
    assert len(places) < 3 * 2.0 / 0.01
