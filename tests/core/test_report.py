"""The stage 'report': its figures with and without a truth, its picture, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from anymocap_addon.core.detections import Detections, load_detections, save_detections
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.exam.motions import random_motion
from anymocap_addon.core.exam.truth import Truth, save_truth
from anymocap_addon.core.formats import read_json
from anymocap_addon.core.kinematics import Skeleton, continuous_quaternion, matrix_to_quaternion
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.motion import Contact, Motion, load_motion, save_motion
from anymocap_addon.core.project import Project
from anymocap_addon.core.report import report
from anymocap_addon.core.report.canvas import Canvas, plain
from anymocap_addon.core.report.chart import nice_step, number
from anymocap_addon.core.report.page import joint_rows
from anymocap_addon.core.report.stills import on_layout, two_stills, usual_and_worst
from anymocap_addon.core.rig import RigInfo, save_rig_info
from anymocap_addon.core.stage_context import StageContext
from anymocap_addon.core.stage_record import StageRecord, save_record
from anymocap_addon.core.video.encode import encoder

FRAMES, FPS, CLIP = 20, 24.0, "Gang 1"


@pytest.fixture
def ctx(small_rig: RigInfo, tmp_path: Path) -> StageContext:
    """A project with an exam that was read 3 px off and fitted 5 mm off."""
    project = Project(tmp_path / "mein Projekt ü")
    paths = project.creature("klein")
    layout = Layout()
    trans, root, euler = random_motion(small_rig, layout, FRAMES, FPS, 1)
    joints = Skeleton.of(small_rig).forward(trans, root, euler).joints
    quat = continuous_quaternion(matrix_to_quaternion(root))
    save_rig_info(paths.rig_info, small_rig)
    truth = Truth(small_rig.keypoints, joints, small_rig.bones, trans, quat, euler, FPS, small_rig.body_length, "Walk")
    save_truth(paths.exam(CLIP).truth, truth)
    front, side = layout.project(joints)
    conf = np.linspace(0.1, 1.0, joints[..., 0].size).reshape(joints.shape[:2])
    names = small_rig.keypoints
    det = Detections(
        names,
        front + np.array([3.0, 0]),
        side + np.array([0, 3.0]),
        conf,
        conf,
        FPS,
        np.arange(FRAMES) / FPS,
        np.eye(2, 3),
        "",
    )
    save_detections(paths.clip(CLIP).det, det)
    reproj = np.full(joints.shape[:2], 2.0)
    reproj[7] = 9.0
    motion = Motion(
        "klein", "Gang", FPS, small_rig.bones, trans, quat, euler, names, joints + np.array([0, 0.003, 0.004]),
        reproj, reproj, {"mean": 2.35}, {"paw_agreement": 0.93, "height_gap_px": 1.5, "lag_frames": 0.1},
        [Contact(names[7], 2, 12)], np.zeros(2), "lm", {"cpu_s": 1.25},
    )  # fmt: skip
    save_motion(paths.clip(CLIP).motion, motion)
    save_record(paths, StageRecord("fit", "done", CLIP, seconds=2.5, versions={"torch": "2.13.0"}))
    save_record(paths, StageRecord("rig", "done", seconds=1.0))
    return StageContext(project, paths, {"clip": CLIP, "kind": "auto"})


def picture_of(ctx: StageContext) -> np.ndarray:
    data = np.frombuffer(ctx.paths.clip(CLIP).report_png.read_bytes(), np.uint8)
    picture = cv2.imdecode(data, cv2.IMREAD_COLOR)
    assert picture is not None
    return picture


def has_colour(picture: np.ndarray, rgb: tuple[int, int, int]) -> int:
    return int((np.abs(picture[..., ::-1].astype(int) - rgb).max(-1) < 4).sum())


def test_report_of_an_exam(ctx: StageContext) -> None:
    events: list[dict[str, object]] = []
    ctx.report = events.append
    figures = report.run(ctx)
    file = ctx.paths.clip(CLIP).report_json
    data = read_json(file, "report")
    assert {k: v for k, v in data.items() if k not in ("schema", "anymocap_version")} == figures
    assert (data["creature"], data["move"], data["frames"], data["fps"]) == ("klein", "Gang", FRAMES, FPS)
    assert data["body_length_m"] == 1.0 and data["has_truth"] and data["action"] == "Walk"
    assert data["reader"]["median_px"] == pytest.approx(3) and data["reader"]["pck5"] == 1
    assert data["fit"]["mean_mm"] == pytest.approx(5, abs=1e-3)
    assert data["fit"]["mean_pct_body"] == pytest.approx(0.5, abs=1e-4)
    assert data["fit"]["reproj_px"] == pytest.approx(2.35) and data["fit"]["cpu_s"] == 1.25
    assert data["sync"]["paw_agreement"] == 0.93 and data["seconds"] == {"fit": 2.5, "rig": 1.0}
    assert data["versions"]["torch"] == "2.13.0" and "anymocap" in data["versions"]
    assert data["fit"]["by_group"]["tail"]["mean_mm"] == pytest.approx(5, abs=1e-3)
    picture = picture_of(ctx)
    assert picture.shape[1] == 1600 and picture.shape[0] > 1000 and picture.std() > 20
    assert has_colour(picture, (38, 150, 108)) > 2000, "the fit's errors are drawn in green"
    done = [e["done"] for e in events if e["event"] == "progress"]
    assert done == sorted(done) and done[-1] == events[-1]["total"]


def test_report_without_a_truth(ctx: StageContext) -> None:
    with_truth = (report.run(ctx), picture_of(ctx))[1]
    ctx.settings["kind"] = "clip"
    figures = report.run(ctx)
    for part, keys in (("reader", ("median_px", "p95_px", "pck5", "swaps")),
                       ("fit", ("mean_mm", "rotation_deg", "slide_mm_per_frame", "jitter_truth"))):  # fmt: skip
        assert all(figures[part][key] is None for key in keys)
    assert figures["fit"]["jitter"] > 0 and figures["fit"]["reproj_px"] == pytest.approx(2.35)
    assert figures["fit"]["slide_own_mm_per_frame"] > 0 and 0 < figures["reader"]["confidence_mean"] < 1
    picture = picture_of(ctx)
    assert picture.shape[0] < with_truth.shape[0] and picture.std() > 20
    assert has_colour(picture, (52, 108, 205)) > 2000, "reprojection and contacts are drawn in blue"


def test_a_real_clip_of_the_same_name_is_not_scored_against_the_exam(ctx: StageContext) -> None:
    file = ctx.paths.clip(CLIP).det
    moved = f"/an older place/runs/klein/exam/{CLIP}/clip.mp4"
    for video, known in ((str(ctx.paths.exam(CLIP).clip), True), ("videos/other.mp4", False), (moved, True)):
        save_detections(file, replace(load_detections(file), video=video))
        assert report.run(ctx)["has_truth"] is known
    ctx.paths.exam(CLIP).truth.unlink()
    ctx.settings["kind"] = "exam"
    with pytest.raises(BadInputError, match="stage 'exam'"):
        report.run(ctx)


def test_files_in_another_joint_order_give_the_same_figures(ctx: StageContext, small_rig: RigInfo) -> None:
    before = report.run(ctx)
    files, turn = ctx.paths.clip(CLIP), np.arange(small_rig.J)[::-1]
    names = tuple(small_rig.keypoints[i] for i in turn)
    det = load_detections(files.det)
    arrays = {k: getattr(det, k)[:, turn] for k in ("front_uv", "side_uv", "front_conf", "side_conf")}
    save_detections(files.det, replace(det, names=names, **arrays))
    motion = load_motion(files.motion)
    arrays = {k: getattr(motion, k)[:, turn] for k in ("joints", "reproj_front", "reproj_side")}
    save_motion(files.motion, replace(motion, joint_names=names, **arrays))
    assert report.run(ctx) == before


def test_what_is_missing_or_does_not_fit_is_named(ctx: StageContext) -> None:
    files = ctx.paths.clip(CLIP)
    motion = load_motion(files.motion)
    wrong = replace(motion, joint_names=("Nase", *motion.joint_names[1:]))
    save_motion(files.motion, wrong)
    with pytest.raises(BadInputError, match="lacks the keypoints hips"):
        report.run(ctx)
    arrays = {k: getattr(motion, k)[1:] for k in ("trans", "root_quat", "euler", "joints", "reproj_front")}
    save_motion(files.motion, replace(motion, reproj_side=motion.reproj_side[1:], **arrays))
    with pytest.raises(BadInputError, match="19 frames and the reading 20"):
        report.run(ctx)
    files.motion.unlink()
    with pytest.raises(BadInputError, match="stage 'fit'"):
        report.run(ctx)
    assert not files.report_json.exists() and not files.report_png.exists()


def test_applied_joints_are_compared(ctx: StageContext) -> None:
    files = ctx.paths.clip(CLIP)
    motion = load_motion(files.motion)
    joints = motion.joints.copy()
    joints[3, 2, 0] += 0.00025
    data = {"schema": "anymocap.joints/1", "names": motion.joint_names, "fps": FPS, "joints": joints.tolist()}
    files.joints.write_text(json.dumps(data), encoding="utf-8")
    assert report.run(ctx)["apply"]["max_error_mm"] == pytest.approx(0.25, abs=1e-3)


def test_a_clip_frame_lands_where_its_affine_says() -> None:
    layout = Layout()
    picture = np.full((360, 640, 3), 10, np.uint8)
    picture[100:110, 200:210] = 250  # spans clip px 200..210, 100..110
    calib = np.array([[2.0, 0, 4.0], [0, 2.0, -6.0]])
    warped = on_layout(picture, calib, layout)[..., 0] > 130
    rows, columns = np.flatnonzero(warped.any(1)), np.flatnonzero(warped.any(0))
    assert (rows[0], rows[-1] + 1, columns[0], columns[-1] + 1) == (194, 214, 404, 424)


def test_stills_are_the_clip_s_own_frames_and_a_broken_clip_is_told(ctx: StageContext) -> None:
    file, clip = ctx.paths.clip(CLIP).det, ctx.paths.exam(CLIP).clip
    save_detections(file, replace(load_detections(file), video=str(clip)))
    with encoder(clip, (640, 360), FPS) as out:
        for t in range(FRAMES):
            out.write(np.full((360, 640, 3), 40 + 8 * t, np.uint8))
    capture = report.load_capture(ctx)
    capture = replace(capture, detections=replace(capture.detections, calib=2.0 * np.eye(2, 3)))
    usual, worst = two_stills(capture, clip)
    assert worst.frame == 7 and usual.frame == 0
    for still in (usual, worst):
        assert still.picture.shape == (720, 1280, 3) and "(" not in still.title
        assert np.median(still.picture) == pytest.approx(40 + 8 * still.frame, abs=4)
    clip.write_bytes(b"")
    assert all("cannot be read" in still.title for still in two_stills(capture, clip))
    assert report.run(ctx)["has_truth"], "a lost clip does not cost the report"


def test_small_parts(small_rig: RigInfo) -> None:
    assert usual_and_worst(np.array([1.0, 5.0, 2.0, 9.0, 2.1])) == (4, 3)
    rows = joint_rows(replace(small_rig, joint_groups={"tail": (5, 9), "spine": (5, 0)}))
    assert sorted(j for j, _ in rows) == list(range(small_rig.J)) and rows[:3] == [
        (5, "tail"),
        (9, "tail"),
        (0, "spine"),
    ]
    assert [nice_step(s, 4) for s in (9.0, 1.0, 0.07, 0.0)] == [5.0, 0.5, 0.02, 1.0]
    assert [number(v) for v in (None, 0.0, 0.934, 12.34, 123456.0)] == ["-", "0", "0.93", "12", "1.2e+05"]
    assert plain("Knöchel 脚") == "Knochel ?"


def test_text_keeps_to_its_room() -> None:
    canvas = Canvas(200, 30)
    canvas.fitted_text(10, 15, "a very long name of a bone that has no end", 80)
    inked = np.flatnonzero((canvas.picture() < 200).any((0, 2)))
    assert inked.min() >= 8 and inked.max() <= 92
