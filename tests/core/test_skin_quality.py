"""The skin check finds each fault of a skin, and none in a good one."""

from __future__ import annotations

import numpy as np

from anymocap_addon.core.ortho_picture import MARGIN, OrthoPicture, Surface, grid_step
from anymocap_addon.core.rig import RigBone, RigSpec
from anymocap_addon.core.rig_sheet import LEFT, RIGHT, rig_sheet
from anymocap_addon.core.skin_quality import skin_quality

# A strip of ten squares along Y, and a second vertex at the place of the first.
REST = np.array([(x, 0.1 * k, 0.0) for k in range(11) for x in (0.0, 0.1)] + [(0.0, 0.0, 0.0)])
FACES = np.array([f for k in range(0, 20, 2) for f in ((k, k + 1, k + 2), (k + 1, k + 3, k + 2))] + [(22, 1, 3)])
FULL = np.ones(len(REST))


def test_a_skin_that_turns_as_one_is_well() -> None:
    turned = REST @ np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]]) + 2.0
    quality = skin_quality(REST, turned, FACES, FULL)
    assert quality.findings() == [] and abs(quality.stretch - 1).max() < 1e-9


def test_stretched_torn_and_bare_vertices_are_found_where_they_are() -> None:
    pulled = REST.copy()
    pulled[12:22, 1] += 1.0
    quality = skin_quality(REST, pulled, FACES, FULL)
    assert "% of the edges grow" in quality.findings()[0]
    assert set(np.flatnonzero(quality.stretch > 2.5)) == {10, 11, 12, 13}
    torn = REST.copy()
    torn[22, 2] += 0.05
    quality = skin_quality(REST, torn, FACES, FULL)
    assert set(np.flatnonzero(quality.torn)) == {0, 22} and "tear away" in quality.findings()[0]
    weight = FULL.copy()
    weight[5] = 0.1
    quality = skin_quality(REST, REST, FACES, weight)
    assert list(np.flatnonzero(quality.bare)) == [5] and "1 vertices follow no bone" in quality.findings()[0]


def test_slivers_that_grow_are_not_called_stretched() -> None:
    rest = np.array([(0.0, 0, 0), (1e-5, 0, 0), (0, 1, 0)])
    posed = np.array([(0.0, 0, 0), (5e-3, 0, 0), (0, 1, 0)])
    assert skin_quality(rest, posed, np.array([[0, 1, 2]]), np.ones(3)).findings() == []


def test_a_place_is_drawn_where_the_views_say() -> None:
    low, high = np.array([-0.5, -1.0, 0.0]), np.array([0.5, 1.0, 1.0])
    for view, place, column, row in (
        ("front", (0.5, 0.0, 1.0), 100, 0),
        ("side", (0.0, -1.0, 0.0), 200, 100),
        ("top", (0.5, 1.0, 0.0), 0, 0),
    ):
        picture = OrthoPicture(view, low, high, 0.01)
        assert np.allclose(picture.project(np.array(place)), (column + MARGIN, row + MARGIN)), view


def test_the_nearer_surface_hides_the_farther() -> None:
    square = np.array([(-1.0, 0, -1), (1, 0, -1), (1, 0, 1), (-1, 0, 1)])
    points = np.concatenate([square + np.array([0, 0.5, 0]), square - np.array([0, 0.5, 0])])
    triangles = np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
    colours = np.repeat([[200.0, 0, 0], [0, 0, 200.0]], 4, axis=0)
    picture = OrthoPicture("front", points.min(0), points.max(0), 0.02)
    picture.surface(Surface(points, triangles, colours))
    middle = picture.pixels[picture.pixels.shape[0] // 2, picture.pixels.shape[1] // 2]
    assert middle[2] > 100 and middle[0] == 0, "the front camera stands at -Y"


def test_grid_lines_lie_at_round_metres() -> None:
    assert [grid_step(span) for span in (0.9, 1.9, 9.0, 40.0)] == [0.1, 0.5, 1.0, 5.0]


def test_left_joints_are_blue_and_right_ones_red() -> None:
    points = np.array([(-1.0, 0, 0), (1, 0, 0), (0, 0, 2.0)])
    spec = RigSpec({"a_L": (0.5, 0, 0.5), "a_R": (-0.5, 0, 0.5)}, (RigBone("a", "a_L", "a_R", None),), {})
    sheet = rig_sheet(Surface.plain(points, np.array([[0, 1, 2]])), spec, longest=200)
    row, column = MARGIN + 150, MARGIN + 50
    assert tuple(sheet[row, column]) == RIGHT and tuple(sheet[row, column + 100]) == LEFT
