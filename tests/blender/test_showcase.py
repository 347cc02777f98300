"""Showcase: pictures of the fitted creature and the film that compares it with the clip."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from anymocap_addon.blender import exam_render, showcase_render
from anymocap_addon.blender.portrait import perspective
from anymocap_addon.core import showcase
from anymocap_addon.core.creature import ShowcaseCamera
from anymocap_addon.core.detections import Detections, save_detections
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.exam.truth import Truth, load_truth
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.motion import Motion, save_motion
from anymocap_addon.core.rig import RigInfo
from anymocap_addon.core.showcase_layout import BLEND, FILM_SIZE, FITTED_SIDE, PORTRAIT_SIZE
from anymocap_addon.core.stage_context import StageContext
from anymocap_addon.core.video.decode import read_clip
from anymocap_addon.core.video.encode import encode

from .small_creature import context, framed, write_small_creature

FRAMES = 3


def _captured(ctx: StageContext, truth: Truth, layout: Layout) -> None:
    """det.npz and motion.json as a perfect reading and fit would leave them."""
    files = ctx.paths.clip("nod")
    pictures = [cv2.imread(str(file))[..., ::-1] for file in sorted(ctx.paths.exam("nod").frames.glob("*.png"))]
    encode(ctx.paths.exam("nod").clip, pictures, truth.fps)
    front, side = layout.project(truth.joints)
    sure = np.ones(truth.joints.shape[:2])
    times = np.arange(truth.T) / truth.fps
    video = str(ctx.paths.exam("nod").clip)
    save_detections(files.det, Detections(truth.names, front, side, sure, sure, truth.fps, times, np.eye(2, 3), video))
    save_motion(
        files.motion,
        Motion(
            creature="small",
            move="nod",
            fps=truth.fps,
            bones=truth.bones,
            trans=truth.trans,
            root_quat=truth.root_quat,
            euler=truth.euler,
            joint_names=truth.names,
            joints=truth.joints,
            reproj_front=0 * sure,
            reproj_side=0 * sure,
            reproj_px={"front_median": 0.0, "side_median": 0.0, "mean": 0.0, "p95": 0.0},
            sync={"paw_agreement": 1.0, "height_gap_px": 0.0, "lag_frames": 0.0},
            solver="lm",
        ),
    )


@pytest.fixture
def captured(tmp_path: Path, small_rig: RigInfo) -> Path:
    write_small_creature(tmp_path, small_rig, framed(small_rig))
    settings = {"clip": "nod", "kind": "random", "frames": FRAMES, "fps": 12.0}
    ctx = context(tmp_path, "exam", settings)
    exam_render.run(ctx)
    _captured(ctx, load_truth(ctx.paths.exam("nod").truth), ctx.layout())
    return tmp_path


def test_film_shows_clip_and_fitted_creature_alike(captured: Path) -> None:
    for shard in ((0, 2), (1, 2)):
        showcase_render.run(context(captured, "showcase", {"clip": "nod"}, shard))
    ctx = context(captured, "showcase", {"clip": "nod"})
    files, layout = ctx.paths.clip("nod"), ctx.layout()
    for folder, size in ((files.persp, PORTRAIT_SIZE), (files.side, (layout.w_side, layout.height))):
        pictures = sorted(folder.glob("*.png"))
        assert [file.stem for file in pictures] == [f"{frame:05d}" for frame in range(FRAMES)]
        assert cv2.imread(str(pictures[1])).shape == (*size[::-1], 3)
    for frame in (0, 2):
        fitted = cv2.imread(str(files.side / f"{frame:05d}.png"))[..., ::-1].astype(int)
        filmed = cv2.imread(str(ctx.paths.exam("nod").frames / f"{frame:05d}.png"))[..., ::-1][:, layout.w_front :]
        studio = layout.studio()[:, layout.w_front :]
        seen, true = (np.abs(picture.astype(int) - studio).max(2) > 14 for picture in (fitted, filmed))
        assert (seen & true).sum() / (seen | true).sum() > 0.95
    result = showcase.run(ctx)
    film, timing = read_clip(files.showcase)
    assert len(film) == FRAMES == result["frames"] and film[0].shape == (FILM_SIZE[1], FILM_SIZE[0], 3)
    assert timing.fps == pytest.approx(12.0)
    panels = [
        film[1][p.top + 40 : p.top + p.height - 4, p.left + 4 : p.left + p.width - 4] for p in (FITTED_SIDE, BLEND)
    ]
    assert np.abs(panels[0].astype(int) - panels[1]).mean() < 12, "a perfect fit blends into the clip"
    assert showcase_render.run(context(captured, "showcase", {"clip": "nod"}))["drawn"] == FRAMES  # other shards, once
    assert showcase_render.run(context(captured, "showcase", {"clip": "nod"}))["drawn"] == 0


def test_missing_pictures_and_foreign_motions_are_named(captured: Path) -> None:
    ctx = context(captured, "showcase", {"clip": "nod"})
    with pytest.raises(BadInputError, match=r"00000\.png"):
        showcase.run(ctx)
    assert not ctx.paths.clip("nod").showcase.exists()
    file = ctx.paths.clip("nod").motion
    file.write_text(file.read_text().replace('"tail"', '"trunk"'))
    with pytest.raises(BadInputError, match=r"another rig.*trunk"):
        showcase_render.run(ctx)


@pytest.mark.parametrize("azimuth_deg", [-60.0, 0.0, 35.0, 90.0])
def test_portrait_camera_holds_the_motion(azimuth_deg: float) -> None:
    bounds = (np.array([-0.3, -0.9, 0.0]), np.array([0.3, 0.7, 1.1]))
    clip, eye = perspective(bounds, (640, 540), ShowcaseCamera(azimuth_deg, 15.0))
    corners = np.array(np.meshgrid(*np.stack(bounds, 1))).reshape(3, -1).T
    seen = np.column_stack([corners, np.ones(8)]) @ clip.T
    assert (seen[:, 3] > 0).all()
    flat = seen[:, :2] / seen[:, 3:]
    assert np.abs(flat).max() <= 0.9 and np.ptp(flat[:, 0]).max() > 0.5
    assert eye[2] > 0.55 and (eye[1] < 0 or azimuth_deg == 90) and np.sign(eye[0]) == -np.sign(azimuth_deg)
    right = (np.array([*(eye * 0), 1]) @ clip.T, np.array([0.0, -0.2, 0.0, 1]) @ clip.T)
    if azimuth_deg == 90.0:  # at the right flank the head, at -Y, is on the right, as in the layout's side view
        assert right[1][0] / right[1][3] > right[0][0] / right[0][3]
