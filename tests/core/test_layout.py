"""The two-view layout: projection, its inverse, cameras, framing."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.layout import Layout

LAYOUT = Layout(w_front=500, w_side=780, ground_v=600.0, m_per_px=0.002, cx=0.3, cy=-0.2)


def test_wolf_defaults_follow_the_reference() -> None:
    front, side = Layout().project(np.zeros((1, 3)))
    assert front[0].tolist() == [210.0, 640.0]
    assert side[0].tolist() == [850.0, 640.0]
    assert Layout().m_per_px * 720 == pytest.approx(1.9)


def test_axes_point_where_the_design_says() -> None:
    front, side = LAYOUT.project(np.array([[0.3, -0.2, 0.0], [0.302, -0.2, 0.0], [0.3, -0.202, 0.002]]))
    assert front[1, 0] - front[0, 0] == pytest.approx(1.0)
    assert side[2, 0] - side[0, 0] == pytest.approx(1.0)
    assert front[2, 1] - front[0, 1] == pytest.approx(-1.0)
    assert (front[:, 1] == side[:, 1]).all()


def test_unproject_inverts_project_for_arrays_and_tensors() -> None:
    xyz = np.random.default_rng(0).normal(0, 1, (5, 7, 3))
    assert np.abs(LAYOUT.unproject(*LAYOUT.project(xyz)) - xyz).max() < 1e-12
    tensor = torch.as_tensor(xyz)
    assert (LAYOUT.unproject(*LAYOUT.project(tensor)) - tensor).abs().max() < 1e-12


def test_unproject_takes_its_own_row() -> None:
    front, side = LAYOUT.project(np.array([[0.1, 0.2, 0.5]]))
    assert LAYOUT.unproject(front, side, np.array([600.0]))[0, 2] == 0.0


@pytest.mark.parametrize("view", ["front", "side"])
def test_camera_picture_is_the_views_part_of_the_canvas(view: str) -> None:
    camera = LAYOUT.camera(view)
    assert camera.ortho_scale == pytest.approx(720 * 0.002)
    assert camera.width == (500 if view == "front" else 780)
    assert camera.location[2] == pytest.approx((600 - 360) * 0.002)


@pytest.mark.parametrize(
    "size", [(0.3, 1.5, 0.8), (2.0, 0.4, 1.0), (0.2, 0.1, 1.8), (3.0, 3.0, 0.3), (0.01, 0.05, 0.02), (20.0, 60.0, 30.0)]
)
def test_framing_holds_creature_and_reach(size: tuple[float, float, float]) -> None:
    low = np.array([0.4, -0.3, 0.0])
    high = low + size
    reach = 0.1 * max(size)
    layout = Layout.framing(low, high, reach)
    corners = np.array(np.meshgrid(*np.stack([low - reach, high + reach], 1))).reshape(3, -1).T
    corners[:, 2] = np.maximum(corners[:, 2], 0.0)
    front, side = layout.project(corners)
    assert front[:, 0].min() >= 0 and front[:, 0].max() <= layout.w_front
    assert side[:, 0].min() >= layout.w_front and side[:, 0].max() <= 1280
    assert front[:, 1].min() >= 0 and front[:, 1].max() <= 720
    # nothing tiny: one of the three extents uses at least 80 % of its room
    used = [np.ptp(front[:, 0]) / layout.w_front, np.ptp(side[:, 0]) / layout.w_side, np.ptp(front[:, 1]) / 560]
    assert max(used) > 0.8


def test_framing_refuses_empty_bounds() -> None:
    with pytest.raises(BadInputError, match="empty"):
        Layout.framing(np.zeros(3), np.array([1.0, 0.0, 1.0]))


def test_views_that_do_not_add_up_are_refused() -> None:
    with pytest.raises(BadInputError, match="add up"):
        Layout(w_front=400, w_side=800)


def test_studio_has_wall_floor_and_divider() -> None:
    picture = LAYOUT.studio(0.5)
    assert picture.shape == (360, 640, 3)
    assert picture[10, 10].tolist() == [128, 130, 134]
    assert picture[350, 10].tolist() == [152, 154, 158]
    assert picture[100, 250].tolist() == [60, 60, 62]
