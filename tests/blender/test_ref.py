"""The reference stage: it frames the creature, shows its start pose, and refuses layouts that cut it off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import cv2
import numpy as np
import pytest
from mathutils import Vector

from anymocap_addon.blender import ref
from anymocap_addon.blender.action_reach import action_reach
from anymocap_addon.blender.posed import open_for_drawing
from anymocap_addon.core.creature import Creature, load_creature, save_creature
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.rig import RigInfo
from anymocap_addon.core.room import outside

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


def _write_with_action(root: Path, rig: RigInfo, bone: str, height_m: float) -> None:
    """The small creature with an Action in which a bone hops, over 8 frames."""
    write_small_creature(root, rig, Creature(name="small", paint=painted(rig)))
    armature = bpy.data.objects[rig.armature]
    armature.animation_data_create().action = bpy.data.actions.new("Hop")
    pose = armature.pose.bones[bone]
    up = pose.bone.matrix_local.to_3x3().inverted() @ Vector((0, 0, height_m))
    for frame, share in ((1, 0.0), (5, 1.0), (9, 0.0)):
        pose.location = share * up
        pose.keyframe_insert("location", frame=frame)
    pose.location = (0, 0, 0)
    bpy.ops.wm.save_as_mainfile(filepath=str(context(root, "ref").paths.rigged_blend), check_existing=False)


def test_the_frame_holds_the_creatures_own_actions(tmp_path: Path, small_rig: RigInfo) -> None:
    write_small_creature(tmp_path / "still", small_rig, Creature(name="small", paint=painted(small_rig)))
    _write_with_action(tmp_path / "hops", small_rig, small_rig.bones[0], 0.35)
    layouts = {}
    for name in ("still", "hops"):
        _ref(tmp_path / name)
        layouts[name] = load_creature(context(tmp_path / name, "ref").paths.creature_json).layout
    scene = open_for_drawing(context(tmp_path / "hops", "ref"))
    joints = action_reach(scene)["Hop"]
    assert joints[:, 2].max() == pytest.approx(small_rig.rest_joints()[:, 2].max() + 0.35, abs=0.01)
    assert not any(mesh.hide_viewport for mesh in scene.meshes)
    corners = joints.min(0), joints.max(0)
    assert "top" in outside(replace(layouts["still"], ground_v=layouts["still"].ground_v - 200), *corners)
    assert not outside(layouts["hops"], *corners)


def test_an_action_that_goes_too_far_is_told_and_leaves_the_frame_as_it_is(tmp_path: Path, small_rig: RigInfo) -> None:
    _write_with_action(tmp_path, small_rig, small_rig.bones[0], 5.0)
    said: list[dict[str, object]] = []
    ctx = replace(context(tmp_path, "ref"), report=said.append)
    ref.run(ctx)
    assert any("no room for Hop" in str(event.get("text")) for event in said)
    layout = load_creature(ctx.paths.creature_json).layout
    assert layout is not None and layout.height * layout.m_per_px < 3.0
