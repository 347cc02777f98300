"""One clip as a view: what it holds, what it leaves out and says so, and what it derives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anymocap_addon.core.capture_view import capture_files, load_capture_view
from anymocap_addon.core.detections import Detections, save_detections
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.formats import write_json_file
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.motion import Contact, Motion, save_motion
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.rig import RigInfo, save_rig_info

T = 5
CALIB = np.array([[0.5, 0.1, 20.0], [0.0, 0.6, -5.0]])


def detections(rig: RigInfo, frames: int = T) -> Detections:
    front, side = Layout().project(np.repeat(rig.rest_joints()[None], frames, 0))
    sure = np.full(front.shape[:2], 0.9)
    return Detections(rig.keypoints, front, side, sure, sure, 24.0, np.arange(frames) / 24, CALIB, "clip.mp4")


def motion(rig: RigInfo, frames: int = T) -> Motion:
    joints = np.repeat(rig.rest_joints()[None], frames, 0)
    near = np.full(joints.shape[:2], 2.0)
    return Motion(
        "box", "walk", 24.0, rig.bones, np.zeros((frames, 3)), np.tile([1.0, 0, 0, 0], (frames, 1)),
        np.zeros((frames, rig.B, 3)), rig.keypoints, joints, near, near,
        contacts=[Contact("leg_L_tip", 1, 3)], reproj_px={}, solver="lm",
    )  # fmt: skip


@pytest.fixture
def paths(tmp_path: Path, small_rig: RigInfo) -> CreaturePaths:
    found = Project(tmp_path).creature("box")
    save_rig_info(found.rig_info, small_rig)
    save_detections(found.clip("walk").det, detections(small_rig))
    return found


def write_preview(paths: CreaturePaths, frames: int) -> None:
    files = paths.clip("walk")
    np.save(files.preview, np.full((frames, 9, 16, 4), 0x40, np.uint8))
    told = {"frames": frames, "rows": 9, "columns": 16, "clip_width": 1600, "clip_height": 900, "video": "clip.mp4"}
    write_json_file(files.preview_json, "preview", told)


def test_a_clip_that_is_not_read_has_no_view(paths: CreaturePaths) -> None:
    assert load_capture_view(paths, "other") is None


def test_a_reading_alone_is_a_view(paths: CreaturePaths, small_rig: RigInfo) -> None:
    view = load_capture_view(paths, "walk")
    assert view is not None and (view.T, view.fps, view.problems) == (T, 24.0, ())
    assert view.motion is None and view.reprojected is None and view.scores.error_px is None
    assert view.preview is None and not view.contacts.any()
    assert len(view.links) == small_rig.J - 1 and view.layout == Layout()


def test_motion_and_preview_complete_it(paths: CreaturePaths, small_rig: RigInfo) -> None:
    save_motion(paths.clip("walk").motion, motion(small_rig))
    write_preview(paths, T)
    view = load_capture_view(paths, "walk")
    assert view is not None and view.problems == () and view.preview is not None
    assert view.reprojected is not None and view.scores.error_px is not None and view.bad_runs == []
    np.testing.assert_allclose(view.reprojected[1], view.det.side_uv)
    foot = small_rig.keypoints.index("leg_L_tip")
    assert view.contacts.sum() == 2 and view.contacts[1:3, foot].all()
    layout_px = CALIB @ [700, 300, 1]
    np.testing.assert_allclose(view.to_clip @ [*layout_px, 1], [700, 300])
    assert {file.name for file in capture_files(paths, "walk") if file.exists()} == {
        "rig_info.json", "det.npz", "motion.json", "preview.npy", "preview.json",
    }  # fmt: skip


def test_what_belongs_to_another_reading_is_left_out_and_named(paths: CreaturePaths, small_rig: RigInfo) -> None:
    save_motion(paths.clip("walk").motion, motion(small_rig, T + 1))
    write_preview(paths, T - 1)
    view = load_capture_view(paths, "walk")
    assert view is not None and view.motion is None and view.preview is None
    fit, preview = view.problems
    assert "motion.json" in fit and "fit stage again" in fit
    assert f"{T - 1} frames and the reading {T}" in preview and "preview stage again" in preview


def test_a_reading_of_another_rig_is_refused(paths: CreaturePaths, small_rig: RigInfo) -> None:
    names = ("nose", *small_rig.keypoints[1:])
    save_detections(paths.clip("walk").det, replace(detections(small_rig), names=names))
    with pytest.raises(BadInputError, match=r"det\.npz.*other keypoints"):
        load_capture_view(paths, "walk")
