"""The dataset stage: whole files, true joints, the same pictures from any shard, and resuming."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from anymocap_addon.blender import dataset
from anymocap_addon.core.dataset import sheet
from anymocap_addon.core.dataset.pose_sampler import PoseSampler
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.formats import read_json
from anymocap_addon.core.kinematics import Skeleton
from anymocap_addon.core.rig import RigInfo

from .small_creature import THICKNESS, context, framed, write_small_creature

SETTINGS = {"poses": 8, "rows": 180, "seed": 5}


@pytest.fixture
def project(tmp_path: Path, small_rig: RigInfo) -> Path:
    root = tmp_path / "projet d'été"
    write_small_creature(root, small_rig, framed(small_rig))
    return root


def _draw(root: Path, shard: tuple[int, int] = (0, 1), **changes: int) -> dict:
    return dataset.run(context(root, "dataset", {**SETTINGS, **changes}, shard))


def _files(root: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(context(root, "dataset").paths.dataset.iterdir())}


def _picture(root: Path, name: str) -> np.ndarray:
    file = context(root, "dataset").paths.dataset / name
    return cv2.imdecode(np.fromfile(file, np.uint8), cv2.IMREAD_UNCHANGED)


def test_truth_is_what_was_drawn(project: Path, small_rig: RigInfo) -> None:
    _draw(project)
    ctx = context(project, "dataset", SETTINGS)
    layout = ctx.layout()
    sampler = PoseSampler(small_rig, layout, SETTINGS["seed"])
    scale = SETTINGS["rows"] / layout.height
    for index in range(8):
        meta = read_json(ctx.paths.dataset / f"{index:05d}_meta.json", "meta")
        joints = np.array(meta["joints"])
        front, side = layout.project(joints)
        np.testing.assert_allclose(meta["front_uv"], front, atol=1e-3)
        np.testing.assert_allclose(meta["side_uv"], side, atol=1e-3)
        assert meta["names"] == list(small_rig.keypoints) and meta["kind"] == ("near" if index % 2 else "uniform")
        # Joints lie inside their boxes, so the drawing covers every one (blur thins the cover).
        for view, uv, left in (("front", front, 0), ("side", side, layout.w_front)):
            alpha = _picture(project, f"{index:05d}_{view}.png")[..., 3]
            u, v = np.floor((uv - [left, 0]) * scale).astype(int).T
            near = [alpha[max(y - 2, 0) : y + 3, max(x - 2, 0) : x + 3].max() for x, y in zip(u, v)]
            assert min(near) >= (60 if meta["blur"] else 250), (index, view, near)
        sharp = sampler.sample(index)
        bones = Skeleton.of(small_rig).forward(sharp.trans, sharp.root_R, sharp.euler).joints[sharp.middle]
        spread = np.ptp(joints - bones, axis=0)  # the sampler here has no hull, so the creature may stand elsewhere
        assert spread.max() < 2e-5


def test_pictures_fill_what_the_pose_fills(project: Path) -> None:
    """No box of a sharp pose is missing or elsewhere: the drawing's extent is the joints', grown by a half box."""
    _draw(project)
    ctx = context(project, "dataset", SETTINGS)
    layout, scale = ctx.layout(), SETTINGS["rows"] / 720
    for index in (0, 1, 4, 5):
        meta = read_json(ctx.paths.dataset / f"{index:05d}_meta.json", "meta")
        alpha = _picture(project, f"{index:05d}_side.png")[..., 3]
        v, u = np.nonzero(alpha > 127)
        joints = (np.array(meta["side_uv"]) - [layout.w_front, 0]) * scale
        half = THICKNESS / 2 * np.sqrt(3) / layout.m_per_px * scale + 1.5
        for seen, true in ((u, joints[:, 0]), (v, joints[:, 1])):
            assert -1.0 <= true.min() - seen.min() <= half
            assert -1.0 <= seen.max() + 1 - true.max() <= half


def test_shards_draw_what_one_process_draws(project: Path) -> None:
    _draw(project)
    whole = _files(project)
    assert len(whole) == 24
    for file in context(project, "dataset").paths.dataset.iterdir():
        file.unlink()
    assert _draw(project, (1, 2))["drawn"] == 4
    assert _draw(project, (0, 2))["drawn"] == 4
    assert _files(project) == whole


def test_resumes_with_what_is_missing_or_damaged(project: Path) -> None:
    _draw(project)
    whole = _files(project)
    folder = context(project, "dataset").paths.dataset
    (folder / "00002_side.png").unlink()
    (folder / "00003_front.png").write_bytes(whole["00003_front.png"][:-20])
    (folder / "00005_meta.json").write_text('{"schema": "anymocap.me')
    result = _draw(project)
    assert (result["drawn"], result["kept"]) == (3, 5)
    assert _files(project) == whole
    assert _draw(project)["drawn"] == 0
    assert _draw(project, seed=6)["drawn"] == 8


def test_sheet_checks_and_shows_the_dataset(project: Path) -> None:
    _draw(project, poses=10)
    ctx = context(project, "dataset", SETTINGS)
    result = sheet.run(ctx)
    assert result["poses"] == 8 and result["removed"] == 2 and result["blurred"] == 4
    assert len(list(ctx.paths.dataset.glob("*"))) == 24
    picture = cv2.imread(str(ctx.paths.dataset_sheet)) if ctx.paths.dataset_sheet.exists() else None
    shown = cv2.imdecode(np.fromfile(ctx.paths.dataset_sheet, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None and shown.shape == (2 * 360, 4 * 640, 3)
    assert shown.reshape(-1, 3).std(0).min() > 5
    (ctx.paths.dataset / "00001_meta.json").unlink()
    with pytest.raises(BadInputError, match=r"00001_meta\.json"):
        sheet.run(ctx)
