"""The exam's clip: its true calib is true, its lag is where it says, and every fault is really there."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import cv2
import numpy as np
import pytest

from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.exam.clip import run
from anymocap_addon.core.exam.faults import PRESETS, draw_faults, spoil
from anymocap_addon.core.exam.truth import Truth, load_truth, save_truth
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.project import Project
from anymocap_addon.core.stage_context import StageContext
from anymocap_addon.core.video.align import apply_affine, invert
from anymocap_addon.core.video.decode import read_clip

LAYOUT = Layout()
FRAMES = 6
MARK = (40, 200, 60)


def frame(index: int) -> np.ndarray:
    """The studio with a green square that moves 20 px a frame in both views."""
    picture = LAYOUT.studio().copy()
    for left in (60, 600):
        picture[300:340, left + 20 * index : left + 20 * index + 40] = MARK
    return picture


def marks(picture: np.ndarray) -> np.ndarray:
    """(2, 2) centres of the squares, continuous px: the clip's front half and side half."""
    split = picture.shape[1] // 3
    green = picture.astype(float)[..., 1] - picture[..., [0, 2]].max(-1)
    green = np.where(green > 40, green, 0)
    rows, columns = np.mgrid[: picture.shape[0], : picture.shape[1]] + 0.5
    halves = (green * (columns < split), green * (columns >= split))
    return np.array([[(columns * g).sum() / g.sum(), (rows * g).sum() / g.sum()] for g in halves])


@pytest.fixture
def ctx(tmp_path: Path) -> StageContext:
    project = Project(tmp_path)
    paths = project.creature("c")
    exam = paths.exam("walk")
    exam.frames.mkdir(parents=True)
    for index in range(FRAMES):
        cv2.imwrite(str(exam.frames / f"{index:05d}.png"), frame(index)[..., ::-1])
    joints = np.zeros((FRAMES, 1, 3))
    quat = np.tile([1.0, 0, 0, 0], (FRAMES, 1))
    truth = Truth(("j",), joints, ("b",), np.zeros((FRAMES, 3)), quat, np.zeros((FRAMES, 1, 3)), 24.0, 1.5, "Walk")
    save_truth(exam.truth, truth)
    return StageContext(project, paths, {"clip": "walk", "faults": "none", "seed": 3, "lag_frames": 0.0})


@pytest.mark.parametrize("faults", list(PRESETS))
def test_the_true_calib_is_true(ctx: StageContext, faults: str) -> None:
    ctx.settings["faults"] = faults
    result = run(ctx)
    exam = ctx.paths.exam("walk")
    truth, (pictures, timing) = load_truth(exam.truth), read_clip(exam.clip)
    size = PRESETS[faults].size or (1280, 720)
    assert len(pictures) == FRAMES == result["frames"] and timing.fps == 24.0
    assert pictures[0].shape == (size[1], size[0], 3)
    assert truth.action == "Walk" and truth.lag_frames == PRESETS[faults].lag_frames
    index = FRAMES - 1
    # a ghost of the frame before and a late front pull the centre back by a known part of the step of 20 px
    pull = 20 * PRESETS[faults].ghost
    expected = np.array([[60 + 20 * index + 20, 320.0], [600 + 20 * index + 20, 320.0]])
    expected[:, 0] -= pull
    expected[0, 0] -= 20 * truth.lag_frames
    found = apply_affine(truth.calib_true, marks(pictures[index]))
    np.testing.assert_allclose(found, expected, atol=0.3 if faults == "none" else 3.0)
    np.testing.assert_allclose(found[:, 1], 320.0, atol=0.8)


def test_the_lag_asked_for(ctx: StageContext) -> None:
    ctx.settings["lag_frames"] = 3.0
    run(ctx)
    exam = ctx.paths.exam("walk")
    centres = np.array([marks(picture) for picture in read_clip(exam.clip)[0]])
    np.testing.assert_allclose(centres[:, 1, 0], 620 + 20 * np.arange(FRAMES), atol=0.5)
    np.testing.assert_allclose(centres[:, 0, 0], 80 + 20 * np.maximum(np.arange(FRAMES) - 3, 0), atol=0.5)
    assert load_truth(exam.truth).lag_frames == 3.0


def test_faults_differ_by_seed_and_only_by_it() -> None:
    first, again, other = (draw_faults("typical", LAYOUT, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.calib, again.calib)
    assert np.abs(first.calib - other.calib).max() > 1e-3
    np.testing.assert_array_equal(spoil(frame(0), frame(0), first, 4), spoil(frame(0), frame(0), again, 4))
    assert draw_faults("none", LAYOUT, 5).calib.tolist() == np.eye(2, 3).tolist()
    np.testing.assert_array_equal(spoil(frame(1), frame(0), draw_faults("none", LAYOUT, 5), 0), frame(1))
    hard = draw_faults("hard", LAYOUT, 1)
    corners = np.array([[0.0, 0.0], [1280.0, 720.0]])
    moved = apply_affine(invert(hard.calib), corners) * [1280 / 1024, 720 / 576]
    assert 0.5 < np.abs(moved - corners).max() < 1280 * 0.015 / 2 + 9


def test_missing_and_damaged_frames_are_named(ctx: StageContext) -> None:
    frames = ctx.paths.exam("walk").frames
    damaged = frames / "00002.png"
    damaged.write_bytes(damaged.read_bytes()[:50])
    with pytest.raises(BadInputError, match=r"00002\.png.*damaged"):
        run(ctx)
    damaged.unlink()
    with pytest.raises(BadInputError, match="5 drawn frames for 6 frames of truth"):
        run(ctx)
    ctx.settings["faults"] = "awful"
    with pytest.raises(BadInputError, match="none, typical, hard"):
        run(dataclasses.replace(ctx))
    assert not ctx.paths.exam("walk").clip.exists()
