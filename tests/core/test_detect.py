"""The detect stage with a stand-in reader: times, alignment, notes, overlay and its errors."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import cv2
import numpy as np
import pytest

from anymocap_addon.core.confidence_colour import confidence_colour
from anymocap_addon.core.detect import detect
from anymocap_addon.core.detect.overlay import draw_joints
from anymocap_addon.core.detections import Detections, load_detections
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.joint_links import joint_links
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.project import Project
from anymocap_addon.core.reader.reading import Reading
from anymocap_addon.core.rig import RigInfo, save_rig_info
from anymocap_addon.core.stage_context import StageContext
from anymocap_addon.core.video.align import apply_affine, warp
from anymocap_addon.core.video.decode import Clip
from anymocap_addon.core.video.encode import encode
from anymocap_addon.core.video.ffmpeg import ffmpeg_program

LAYOUT = Layout()
SIZE = (672, 384)
RED = np.array([230, 30, 30], float)
FRAMES = 8


def scene(shift: float) -> np.ndarray:
    """ref.png and later frames: a patterned box in each view, a red dot `shift` px further right in the side view."""
    picture = LAYOUT.studio().copy()
    rng = np.random.default_rng(3)
    for left in (120, 650):
        for row in range(300, 640, 40):
            for column in range(left, left + 200, 40):
                colour = rng.integers(60, 200, 3).tolist()
                cv2.rectangle(picture, (column, row), (column + 40, row + 40), colour, cv2.FILLED)
    cv2.circle(picture, (200, 250), 12, RED.tolist(), cv2.FILLED, cv2.LINE_AA)
    cv2.circle(picture, (round(900 + shift), 250), 12, RED.tolist(), cv2.FILLED, cv2.LINE_AA)
    return picture


class DotReader:
    """Reads the red dots of both views as every joint of the rig."""

    names: tuple[str, ...] = ()
    layout = LAYOUT

    @classmethod
    def load(cls, path: Path, threads: int) -> DotReader:
        assert path.name == "reader.pt" and threads >= 1
        return cls()

    def read(self, frames: Iterable[np.ndarray], progress: Callable[[int], None]) -> Reading:
        points = []
        for done, frame in enumerate(frames, 1):
            assert frame.shape == (720, 1280, 3) and frame.dtype == np.uint8
            red = np.clip(90 - np.abs(frame[:280] - RED).max(-1), 0, None)
            views = [red * (np.arange(1280) < 420), red * (np.arange(1280) >= 420)]
            rows, columns = np.mgrid[:280, :1280] + 0.5  # above the boxes
            points.append([[(columns * v).sum() / v.sum(), (rows * v).sum() / v.sum()] for v in views])
            progress(done)
        uv = np.repeat(np.array(points)[:, :, None], len(self.names), 2)
        confidence = np.full((len(uv), len(self.names)), 0.9)
        return Reading(uv[:, 0], uv[:, 1], confidence, confidence)


@pytest.fixture
def ctx(tmp_path: Path, small_rig: RigInfo, monkeypatch: pytest.MonkeyPatch) -> StageContext:
    monkeypatch.setattr(detect, "Reader", DotReader)
    monkeypatch.setattr(DotReader, "names", small_rig.keypoints)
    project = Project(tmp_path / "mocap ö")
    paths = project.creature("box")
    save_rig_info(paths.rig_info, small_rig)
    paths.ref_png.parent.mkdir(parents=True)
    paths.ref_png.write_bytes(cv2.imencode(".png", scene(0)[..., ::-1])[1].tobytes())
    return StageContext(project, paths, {"clip": "walk", "video": str(tmp_path / "clip.mp4"), "threads": 1})


def test_a_clip_within_the_project_is_named_relative_to_it(ctx: StageContext) -> None:
    assert detect._portable(ctx, ctx.paths.exam("walk").clip) == "runs/box/exam/walk/clip.mp4"


# What a model that resizes and crops does: layout px -> clip px.
FILMED = np.array([[SIZE[0] / 1280 * 1.01, 0, -3.0], [0, SIZE[1] / 720, 2.0]])


def film(path: Path, shifts: list[float]) -> None:
    encode(path, [warp(scene(shift), FILMED, SIZE) for shift in shifts], 24.0, crf=6)


def test_detect(ctx: StageContext) -> None:
    shifts = [7.0 * index for index in range(FRAMES)]
    film(Path(ctx.settings["video"]), shifts)
    seen: list[dict[str, object]] = []
    ctx.report = seen.append
    result = detect.run(ctx)
    found = load_detections(ctx.paths.clip("walk").det)
    assert found.T == FRAMES and found.fps == 24.0 and found.video == str(Path(ctx.settings["video"]).resolve())
    np.testing.assert_allclose(found.pts, np.arange(FRAMES) / 24, atol=1e-4)
    corners = np.array([[50.0, 250.0], [1200.0, 650.0]])
    np.testing.assert_allclose(apply_affine(found.calib, apply_affine(FILMED, corners)), corners, atol=0.5)
    # OpenCV drew the dots around pixel centres
    np.testing.assert_allclose(found.side_uv[:, 0, 0], 900.5 + np.array(shifts), atol=0.6)
    np.testing.assert_allclose(found.front_uv[:, 0], [[200.5, 250.5]] * FRAMES, atol=0.6)
    assert result["alignment"]["method"] == "ecc" and result["warnings"] == [] and result["lost_frames"] == 0
    assert result["confidence_mean"] == pytest.approx((found.front_conf.mean() + found.side_conf.mean()) / 2)
    with np.load(ctx.paths.clip("walk").det) as stored:
        assert json.loads(str(stored["notes"]))["sync"] == result["sync"]
    overlay = Clip(ctx.paths.clip("walk").overlay)
    pictures = list(overlay)
    assert len(pictures) == FRAMES and pictures[0].shape == (720, 1280, 3) and overlay.timing().fps == 24.0
    sure = np.array(confidence_colour(0.9))
    for index in (0, FRAMES - 1):
        at = pictures[index][250, round(900 + shifts[index])].astype(int)
        assert np.abs(at - sure).max() < 40  # a confident joint sits on the dot
    shares = [float(str(event["done"])) for event in seen if event["event"] == "progress"]
    assert shares == sorted(shares) and shares[-1] == pytest.approx(1.0)


def test_a_variable_rate_is_laid_on_even_times(ctx: StageContext, tmp_path: Path) -> None:
    shifts = [6.0 * index for index in range(12)]
    film(tmp_path / "even.mp4", shifts)
    uneven = "setpts=(N+2*gte(N\\,6))/24/TB"  # two frames are missing in the middle
    subprocess.run(
        [ffmpeg_program(), "-loglevel", "error", "-i", tmp_path / "even.mp4", "-vf", uneven, "-fps_mode", "passthrough",
         "-crf", "6", ctx.settings["video"]], check=True,
    )  # fmt: skip
    result = detect.run(ctx)
    found = load_detections(ctx.paths.clip("walk").det)
    assert result["variable_rate"] and "rate varies" in result["warnings"][0]
    np.testing.assert_allclose(found.pts, np.arange(14) / found.fps)
    between = np.interp(np.arange(14), [*range(6), *range(8, 14)], shifts)
    np.testing.assert_allclose(found.side_uv[:, 0, 0], 900.5 + between, atol=0.6)
    assert len(list(Clip(ctx.paths.clip("walk").overlay))) == 14


def test_bad_input_writes_nothing(ctx: StageContext, monkeypatch: pytest.MonkeyPatch) -> None:
    video = Path(ctx.settings["video"])
    film(video, [0.0])
    with pytest.raises(BadInputError, match="has 1 frame; a motion needs at least 3"):
        detect.run(ctx)
    video.write_bytes(b"")
    with pytest.raises(BadInputError, match="zero bytes"):
        detect.run(ctx)
    film(video, [0.0] * 3)
    monkeypatch.setattr(DotReader, "layout", Layout(w_front=400, w_side=880))
    with pytest.raises(BadInputError, match=r"reader\.pt.*another layout"):
        detect.run(ctx)
    monkeypatch.setattr(DotReader, "names", ("nose",))
    with pytest.raises(BadInputError, match="other joints"):
        detect.run(ctx)
    monkeypatch.undo()
    monkeypatch.setattr(detect, "Reader", DotReader)
    monkeypatch.setattr(DotReader, "names", ctx.load_rig().keypoints)
    ctx.paths.ref_png.unlink()
    with pytest.raises(BadInputError, match=r"no reference frame.*ref stage"):
        detect.run(ctx)
    assert not ctx.paths.clip("walk").folder.exists()


def test_the_exam_clip_is_the_default(ctx: StageContext) -> None:
    ctx.settings["video"] = ""
    assert detect.clip_file(ctx) == ctx.paths.exam("walk").clip


def test_joints_far_outside_do_not_break_the_drawing(small_rig: RigInfo) -> None:
    far, sure = np.full((1, small_rig.J, 2), 1e9), np.ones((1, small_rig.J))
    found = Detections(small_rig.keypoints, far, -far, sure, sure, 24.0, np.zeros(1), np.eye(2, 3))
    drawn = draw_joints(scene(0), found, 0, joint_links(small_rig))
    np.testing.assert_array_equal(drawn[250:600, 450:1250], scene(0)[250:600, 450:1250])
