"""The dataset folder through its cache: content, increments and damage."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from anymocap_addon.core.dataset.samples import Samples, load_samples
from anymocap_addon.core.errors import AnyMoCapError, BadInputError
from anymocap_addon.core.layout import Layout

LAYOUT = Layout()
ROWS = 72


def _draw(folder: Path, index: int, colour: int, names: tuple[str, ...] = ("nose", "tail")) -> None:
    """One pose: a half-transparent front view and an opaque side view of even colour."""
    folder.mkdir(exist_ok=True)
    for view, width, alpha in (("front", LAYOUT.w_front, 128), ("side", LAYOUT.w_side, 255)):
        picture = np.full((ROWS, round(width * ROWS / LAYOUT.height), 4), (colour, colour, 200, alpha), np.uint8)
        cv2.imwrite(str(folder / f"{index:05d}_{view}.png"), picture)
    front = [[100.0 + index, 200.0], [200.0, 300.0]]
    side = [[700.0, 200.0], [900.0, 300.0]]
    joints = LAYOUT.unproject(np.array(front), np.array(side)).tolist()
    meta = {"schema": "anymocap.meta/1", "names": names, "joints": joints, "seed": index, "blur": False}
    meta |= {"front_uv": front, "side_uv": side, "kind": "rest"}
    (folder / f"{index:05d}_meta.json").write_text(json.dumps(meta))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    dataset = tmp_path / "Füchse und Wölfe" / "dataset"
    dataset.parent.mkdir()
    for index in range(8):
        _draw(dataset, index, 40 + index)
    return dataset


def _load(folder: Path) -> Samples:
    return load_samples(folder, LAYOUT, folder.parent / "cache")


def test_both_views_share_a_picture_and_colour_is_premultiplied(folder: Path) -> None:
    samples = _load(folder)
    assert samples.frames.shape == (8, 72, 128, 4)
    assert samples.frames[3, 10, 10].tolist() == [100, 22, 22, 128]  # red 200, green 43 at alpha 128
    assert samples.frames[3, 10, 41, 3] == 128 and samples.frames[3, 10, 42].tolist() == [200, 43, 43, 255]
    assert samples.uv[3].tolist() == [[103, 200], [200, 300], [700, 200], [900, 300]]


def test_only_changed_poses_are_decoded_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _load(folder)
    _draw(folder, 2, 200)
    _draw(folder, 8, 99)
    decoded: list[str] = []
    from anymocap_addon.core.dataset import samples as module

    compose = module.compose

    def spy(folder: Path, pose: module.Pose, layout: Layout, rows: int) -> np.ndarray:
        decoded.append(pose.stem)
        return compose(folder, pose, layout, rows)

    monkeypatch.setattr(module, "compose", spy)
    second = _load(folder)
    assert sorted(decoded) == ["00002", "00008"]
    assert second.frames[2, 10, 60].tolist() == [200, 200, 200, 255]
    assert second.frames[8, 10, 60].tolist() == [200, 99, 99, 255]
    assert second.key != first.key and len(second) == 9
    decoded.clear()
    assert _load(folder).key == second.key and decoded == []


def test_a_damaged_cache_is_made_anew(folder: Path) -> None:
    before = _load(folder).frames.copy()
    cache = folder.parent / "cache"
    (cache / "frames.u8").write_bytes(b"half")
    assert np.array_equal(_load(folder).frames, before)
    (cache / "index.json").write_text("{")
    assert np.array_equal(_load(folder).frames, before)


def test_missing_truncated_and_foreign_files_are_named(folder: Path) -> None:
    picture = folder / "00004_side.png"
    whole = picture.read_bytes()
    picture.write_bytes(whole[:-20])
    with pytest.raises(BadInputError, match=r"00004_side\.png.*truncated"):
        _load(folder)
    picture.unlink()
    with pytest.raises(BadInputError, match=r"00004_side\.png.*missing"):
        _load(folder)
    picture.write_bytes(whole)
    _draw(folder, 5, 10, names=("nose", "ear"))
    with pytest.raises(BadInputError, match=r"00005_meta\.json.*other joints"):
        _load(folder)
    (folder / "00005_meta.json").write_text("{")
    with pytest.raises(BadInputError, match=r"00005_meta\.json"):
        _load(folder)
    with pytest.raises(BadInputError, match="0 drawn poses"):
        _load(folder.parent / "nothing")


def test_a_dataset_drawn_for_another_layout_is_refused_even_when_it_is_in_the_cache(folder: Path) -> None:
    _load(folder)
    for change in ({"m_per_px": LAYOUT.m_per_px * 1.1}, {"ground_v": 600.0}, {"cx": 0.02}):
        with pytest.raises(BadInputError, match=r"00000_meta\.json.*another layout.*dataset again"):
            load_samples(folder, replace(LAYOUT, **change), folder.parent / "cache")


def test_a_full_disk_is_one_clear_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(AnyMoCapError, match=r"frames\.u8.*disk is full"):
        _load(folder)


def test_held_out_poses_are_spread_and_never_trained_on() -> None:
    samples = Samples(("a",), np.zeros((800, 1, 1, 4), np.uint8), np.zeros((800, 2, 2)), "")
    train, held = samples.split()
    assert len(held) == 32 and len(train) == 768 and not set(train) & set(held)
    assert np.diff(held).max() <= 27
    few = Samples(("a",), np.zeros((40, 1, 1, 4), np.uint8), np.zeros((40, 2, 2)), "")
    assert len(few.split()[1]) == 10
