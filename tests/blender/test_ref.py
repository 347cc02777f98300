"""The reference stage: it frames the creature, shows its start pose, and refuses layouts that cut it off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from anymocap_addon.blender import ref
from anymocap_addon.core.creature import Creature, load_creature, save_creature
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.rig import RigInfo

from .small_creature import context, painted, write_small_creature


def _ref(root: Path) -> np.ndarray:
    ctx = context(root, "ref")
    ref.run(ctx)
    return cv2.imread(str(ctx.paths.ref_png))[..., ::-1]


def _extent(picture: np.ndarray, layout: Layout) -> np.ndarray:
    """Left, right, top and bottom of what is not studio in the side view, px."""
    v, u = np.nonzero((np.abs(picture.astype(int) - layout.studio()) > 10).max(2)[:, layout.w_front + 4 :])
    return np.array([u.min() + layout.w_front + 4, u.max() + layout.w_front + 5, v.min(), v.max() + 1])


def test_frames_the_creature_and_keeps_the_layout(tmp_path: Path, small_rig: RigInfo) -> None:
    write_small_creature(tmp_path, small_rig, Creature(name="small", paint=painted(small_rig)))
    picture = _ref(tmp_path)
    layout = load_creature(context(tmp_path, "ref").paths.creature_json).layout
    assert picture.shape == (720, 1280, 3) and layout is not None
    left, right, top, bottom = _extent(picture, layout)
    assert (right - left) > 0.5 * layout.w_side, "it is tiny"
    assert left > layout.w_front + 40 and right < layout.width - 40 and top > 40
    assert bottom == pytest.approx(layout.ground_v, abs=25), "it does not stand on the ground row"
    joints = layout.project(small_rig.rest_joints())[1]
    assert left - 15 < joints[:, 0].min() < left + 15 and right - 15 < joints[:, 0].max() < right + 15
    assert context(tmp_path, "ref").layout() == layout
    again = _ref(tmp_path)
    np.testing.assert_array_equal(again, picture)


def test_start_pose_is_the_pose_shown(tmp_path: Path, small_rig: RigInfo) -> None:
    layout = Layout(w_front=400, w_side=880, ground_v=560, m_per_px=0.0022)
    write_small_creature(tmp_path, small_rig, Creature(name="small", layout=layout, paint=painted(small_rig)))
    rest = _extent(_ref(tmp_path), layout)
    paths = context(tmp_path, "ref").paths
    creature = load_creature(paths.creature_json)
    save_creature(paths.creature_json, replace(creature, start_pose={"head": (0.0, 0.0, 50.0)}))
    lifted = _extent(_ref(tmp_path), layout)
    assert abs(lifted - rest).max() > 20
    save_creature(paths.creature_json, replace(creature, start_pose={"trunk": (50.0, 0.0, 0.0)}))
    with pytest.raises(BadInputError, match="trunk"):
        _ref(tmp_path)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        (Layout(m_per_px=0.0008), "cut off"),
        (Layout(m_per_px=0.0022, ground_v=100.0), "cut off at the top"),
        (Layout(m_per_px=0.0022, cy=0.9), "cut off at the .* of the side view"),
        (Layout(m_per_px=0.02), "fills only"),
    ],
)
def test_a_layout_that_does_not_show_the_creature_is_refused(
    tmp_path: Path, small_rig: RigInfo, layout: Layout, message: str
) -> None:
    write_small_creature(tmp_path, small_rig, Creature(name="small", layout=layout))
    with pytest.raises(BadInputError, match=message) as caught:
        ref.run(context(tmp_path, "ref"))
    assert "Frame it anew" in caught.value.hint
    assert not context(tmp_path, "ref").paths.ref_png.exists()


def test_a_room_that_is_asked_for_frames_anew_and_an_own_layout_stays_otherwise(
    tmp_path: Path, small_rig: RigInfo
) -> None:
    own = Layout(w_front=400, w_side=880, ground_v=560, m_per_px=0.0022)
    write_small_creature(tmp_path, small_rig, Creature(name="small", layout=own, paint=painted(small_rig)))
    file = context(tmp_path, "ref").paths.creature_json

    def framed(**settings: object) -> Layout:
        ref.run(replace(context(tmp_path, "ref"), settings=settings))
        layout = load_creature(file).layout
        assert layout is not None
        return layout

    assert framed() == own
    walk, stand, jump = framed(reframe=True), framed(room="stand"), framed(room="jump")
    assert own not in (walk, stand, jump) and stand.m_per_px < walk.m_per_px
    assert jump.m_per_px * jump.ground_v > walk.m_per_px * walk.ground_v, "a jump needs room above"
    assert framed() == jump, "what was framed stays"
    assert framed(reach_m=1.0).m_per_px > jump.m_per_px
