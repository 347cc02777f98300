"""The preview stage: frames that belong to det.npz also at a variable rate, whole files only, clear refusals."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest

from anymocap_addon.core.detections import Detections, save_detections
from anymocap_addon.core.errors import AnyMoCapError, BadInputError
from anymocap_addon.core.preview_frames import FILLER, PreviewFrames, load_preview
from anymocap_addon.core.project import Project
from anymocap_addon.core.stage_context import StageContext
from anymocap_addon.core.video import preview
from anymocap_addon.core.video.encode import encode

T, WIDTH, HEIGHT = 6, 320, 180


def grey(index: int) -> np.ndarray:
    """Every frame has a grey of its own, and a red lower right quarter."""
    picture = np.full((HEIGHT, WIDTH, 3), 20 + 30 * index, np.uint8)
    picture[HEIGHT // 2 :, WIDTH // 2 :] = (230, 30, 30)
    return picture


def detections(video: str, pts: np.ndarray) -> Detections:
    uv, confidence = np.ones((len(pts), 1, 2)), np.ones((len(pts), 1))
    return Detections(("nose",), uv, uv, confidence, confidence, 24.0, pts, np.eye(2, 3), video)


@pytest.fixture
def ctx(tmp_path: Path) -> StageContext:
    project = Project(tmp_path / "mocap ö")
    context = StageContext(project, project.creature("box"), {"clip": "walk", "rows": 90, "threads": 1})
    encode(project.root / "clip.mp4", [grey(index) for index in range(T)], 24.0, crf=4)
    save_detections(context.paths.clip("walk").det, detections("clip.mp4", np.arange(T) / 24))
    return context


def loaded(ctx: StageContext) -> PreviewFrames:
    files = ctx.paths.clip("walk")
    return load_preview(files.preview, files.preview_json)


def test_frames_are_the_clips_with_the_filler_byte(ctx: StageContext) -> None:
    notes: list[dict[str, object]] = []
    ctx.report = notes.append
    result = preview.run(ctx)
    frames = loaded(ctx)
    assert (frames.frames, frames.rows, frames.columns) == (T, 90, 160) and result["frames"] == T
    assert (frames.clip_width, frames.clip_height, frames.video) == (WIDTH, HEIGHT, "clip.mp4")
    for index in range(T):
        pixels = frames.frame(index)
        assert pixels.shape == (90, 160, 4) and (pixels[..., 3] == FILLER).all()
        assert abs(int(pixels[20, 20, 0]) - (20 + 30 * index)) <= 3
        np.testing.assert_allclose(pixels[80, 150, :3], (230, 30, 30), atol=6)
        assert np.isfinite(pixels.view("<f4")).all() and (pixels.view("<f4") > 1).all(), "not a normal float"
    np.testing.assert_array_equal(np.load(ctx.paths.clip("walk").preview, mmap_mode="r")[3], frames.frame(3))
    assert notes[-1] == {"event": "progress", "done": T, "total": T, "note": "storing the frames"}


def test_a_reading_on_even_times_shows_the_nearest_frame(ctx: StageContext) -> None:
    """As detect lays a clip of a variable rate on even times, here at twice the clip's rate and with a gap."""
    times = np.array([0.0, 0.4, 0.6, 1.0, 3.4, 4.9]) / 24
    save_detections(ctx.paths.clip("walk").det, detections("clip.mp4", times))
    preview.run(ctx)
    seen = [round((int(loaded(ctx).frame(t)[20, 20, 0]) - 20) / 30) for t in range(len(times))]
    assert seen == [0, 0, 1, 1, 3, 5]


def test_a_small_clip_is_not_enlarged(ctx: StageContext) -> None:
    ctx.settings["rows"] = 720
    preview.run(ctx)
    assert (loaded(ctx).rows, loaded(ctx).columns) == (HEIGHT, WIDTH)


def test_a_full_disk_leaves_the_old_preview_and_no_half_one(ctx: StageContext, monkeypatch: pytest.MonkeyPatch) -> None:
    preview.run(ctx)
    before = loaded(ctx).frame(2)
    (ctx.paths.clip("walk").folder / ".writing-0123abcd-preview.npy").write_bytes(b"left by a killed process")
    other = ctx.paths.clip("walk").folder / ".writing-0123abcd-motion.json"
    other.write_bytes(b"somebody is at work on this one")
    packed, calls = preview.packed, []

    def full(*arguments: object) -> np.ndarray:
        calls.append(arguments)
        if len(calls) == 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        return packed(*arguments)

    monkeypatch.setattr(preview, "packed", full)
    with pytest.raises(AnyMoCapError, match=r"preview\.npy: The disk is full"):
        preview.run(ctx)
    np.testing.assert_array_equal(loaded(ctx).frame(2), before)
    assert list(ctx.paths.clip("walk").folder.glob(".writing-*")) == [other]


def test_bad_input_is_named(ctx: StageContext) -> None:
    files = ctx.paths.clip("walk")
    save_detections(files.det, detections("gone.mp4", np.arange(T) / 24))
    with pytest.raises(BadInputError, match=r"gone\.mp4"):
        preview.run(ctx)
    save_detections(files.det, detections("", np.arange(T) / 24))
    with pytest.raises(BadInputError, match=r"det\.npz.*which clip"):
        preview.run(ctx)
    assert not files.preview.exists() and not files.preview_json.exists()


def test_damaged_previews_are_refused(ctx: StageContext) -> None:
    preview.run(ctx)
    files, frames = ctx.paths.clip("walk"), loaded(ctx)
    with pytest.raises(IndexError):
        frames.frame(T)
    whole = files.preview.read_bytes()
    files.preview.write_bytes(whole[:-5])
    with pytest.raises(BadInputError, match=r"preview\.npy.*cut off.*preview stage again"):
        load_preview(files.preview, files.preview_json)
    with pytest.raises(BadInputError, match=f"cut off in frame {T - 1}"):
        frames.frame(T - 1)
    np.save(files.preview, np.zeros((T, 90, 160, 4), np.float32))
    with pytest.raises(BadInputError, match="not uint8"):
        load_preview(files.preview, files.preview_json)
    np.save(files.preview, np.zeros((T - 1, 90, 160, 4), np.uint8))
    with pytest.raises(BadInputError, match=r"holds uint8 \(5, 90"):
        load_preview(files.preview, files.preview_json)
    files.preview.unlink()
    with pytest.raises(BadInputError, match="missing"):
        load_preview(files.preview, files.preview_json)
