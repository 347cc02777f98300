"""Training on a handful of drawn blobs: it learns, resumes exactly, and its file is safe to load."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch

from anymocap_addon.core.errors import AnyMoCapError, BadInputError, CancelledError
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.project import Project
from anymocap_addon.core.reader import training as module
from anymocap_addon.core.reader.backbone import BACKBONES, Backbone
from anymocap_addon.core.reader.calibration import fit_calibration, rising
from anymocap_addon.core.reader.muon import orthogonalised
from anymocap_addon.core.reader.plan import PRESETS, Phase, Plan, make_plan
from anymocap_addon.core.reader.reading import Reader
from anymocap_addon.core.reader.store import load_reader
from anymocap_addon.core.reader.training import run
from anymocap_addon.core.reader.unet import UNet
from anymocap_addon.core.stage_context import StageContext

LAYOUT = Layout()
ROWS = 90
COLOURS = ((255, 0, 0), (0, 255, 0), (0, 0, 255))
NAMES = ("red", "green", "blue")
TINY = Plan("tiny", (Phase(96, 24), Phase(128, 8)), 4)
TINY_NET = Backbone("unet", 4, 16, lambda outputs: UNet(outputs, (12, 16, 16, 16)), rate=4e-3, matrix_rate=0.02)


def _draw(folder: Path, index: int) -> None:
    """Three coloured discs in both views, RGBA, at random places."""
    rng = np.random.default_rng(index)
    k = ROWS / LAYOUT.height
    v = rng.uniform(150, 600, 3)
    uv = {
        "front": np.stack([rng.uniform(60, 360, 3), v], 1),
        "side": np.stack([rng.uniform(500, 1200, 3), v], 1),
    }
    for view, left, width in (("front", 0, LAYOUT.w_front), ("side", LAYOUT.w_front, LAYOUT.w_side)):
        picture = np.zeros((ROWS, round(width * k), 4), np.uint8)
        for point, (r, g, b) in zip(uv[view], COLOURS):
            cv2.circle(picture, (int((point[0] - left) * k), int(point[1] * k)), 9, (b, g, r, 255), -1)
        cv2.imwrite(str(folder / f"{index:05d}_{view}.png"), picture)
    joints = LAYOUT.unproject(uv["front"], uv["side"]).tolist()
    meta = {"schema": "anymocap.meta/1", "names": NAMES, "joints": joints, "seed": index, "blur": False}
    meta |= {"front_uv": uv["front"].tolist(), "side_uv": uv["side"].tolist(), "kind": "rest"}
    (folder / f"{index:05d}_meta.json").write_text(json.dumps(meta))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blobs")
    for index in range(20):
        _draw(folder, index)
    return folder


class _Log:
    """Records events; asks to stop after `stop_after` training steps."""

    def __init__(self, stop_after: int = 10**9) -> None:
        self.events: list[dict[str, Any]] = []
        self.stop_after = stop_after

    def __call__(self, event: dict[str, Any]) -> None:
        self.events.append(event)

    def stopped(self) -> bool:
        steps = sum(event["event"] == "progress" for event in self.events) - 1
        return steps >= self.stop_after

    def metrics(self, name: str) -> list[float]:
        return [event["value"] for event in self.events if event.get("name") == name]


def _context(tmp_path: Path, dataset: Path, log: _Log, **settings: Any) -> StageContext:
    paths = Project(tmp_path).creature("blobs")
    if not paths.dataset.exists():
        paths.runs.mkdir(parents=True)
        paths.dataset.symlink_to(dataset, target_is_directory=True)
    settings = {"preset": "default", "steps": 0, "backbone": "unet", "device": "cpu", "threads": 1} | settings
    return StageContext(Project(tmp_path), paths, {"seed": 0} | settings, report=log, cancelled=log.stopped)


@pytest.fixture(scope="module")
def tiny() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "make_plan", lambda *_: TINY)
        patch.setitem(BACKBONES, "unet", TINY_NET)
        yield


@pytest.fixture(scope="module")
def trained(tiny: None, dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, _Log, dict[str, Any]]:
    """The folder, the events and the result of one whole training."""
    folder, log = tmp_path_factory.mktemp("whole"), _Log()
    return folder, log, run(_context(folder, dataset, log))


def _weights(tmp_path: Path) -> dict[str, torch.Tensor]:
    state: dict[str, torch.Tensor] = torch.load(Project(tmp_path).creature("blobs").reader_pt, weights_only=True)[
        "state"
    ]
    return state


def test_training_learns_and_a_killed_run_ends_with_the_same_weights(
    tmp_path: Path, dataset: Path, trained: tuple[Path, _Log, dict[str, Any]]
) -> None:
    folder, whole, result = trained
    half, rest = _Log(stop_after=15), _Log()
    losses = whole.metrics("loss")
    assert np.mean(losses[-2:]) < losses[0] - 0.5
    assert result["steps"] == TINY.steps and result["median_px"] > 0

    with pytest.raises(CancelledError):
        run(_context(tmp_path / "halves", dataset, half))
    assert not (tmp_path / "halves/runs/blobs/reader.pt").exists()
    # The rest on two threads: neither the pause nor the threads may show in the result.
    run(_context(tmp_path / "halves", dataset, rest, threads=2))
    assert any("Resumed at step" in event.get("text", "") for event in rest.events)
    assert not (tmp_path / "halves/runs/blobs/reader_work/training.pt").exists()
    first, second = _weights(folder), _weights(tmp_path / "halves")
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_reader_file_reads_frames_and_refuses_damage(trained: tuple[Path, _Log, dict[str, Any]]) -> None:
    path = Project(trained[0]).creature("blobs").reader_pt
    reader = Reader.load(path, threads=2)
    assert reader.names == NAMES and reader.layout == LAYOUT
    frames = [np.full((720, 1280, 3), 30 * i, np.uint8) for i in range(6)]
    seen: list[int] = []
    reading = reader.read(iter(frames), seen.append)
    assert reading.front_uv.shape == (6, 3, 2) and reading.side_conf.shape == (6, 3)
    assert (reading.front_uv[..., 0] < LAYOUT.w_front + 30).all()
    assert (reading.side_uv[..., 0] > LAYOUT.w_front - 30).all()
    assert ((reading.front_conf > 0) & (reading.front_conf < 1)).all()
    assert seen[-1] == 6
    again = reader.read(iter(frames[3:4]))
    assert np.allclose(again.side_uv[0], reading.side_uv[3], atol=1e-3)

    with pytest.raises(BadInputError, match="aligned"):
        reader.read([frames[0][:700]])
    with pytest.raises(BadInputError, match="no frames"):
        reader.read([])
    _check_damage(path)


def _check_damage(path: Path) -> None:
    data = torch.load(path, weights_only=True)
    torch.save(data | {"names": ["one"]}, path.with_name("names.pt"))
    torch.save(data | {"schema": "anymocap.reader/9"}, path.with_name("new.pt"))
    path.with_name("short.pt").write_bytes(path.read_bytes()[:9000])
    path.with_name("empty.pt").write_bytes(b"")
    for name, words in {
        "names.pt": "does not fit",
        "new.pt": "reader/9",
        "short.pt": "truncated",
        "empty.pt": "truncated",
        "missing.pt": "does not exist",
    }.items():
        with pytest.raises(BadInputError, match=words) as caught:
            load_reader(path.with_name(name))
        assert name in str(caught.value) and "train" in str(caught.value)


@pytest.mark.usefixtures("tiny")
def test_other_settings_drop_an_unfinished_training(tmp_path: Path, dataset: Path) -> None:
    with pytest.raises(CancelledError):
        run(_context(tmp_path, dataset, _Log(stop_after=2)))
    log = _Log(stop_after=1)
    with pytest.raises(CancelledError):
        run(_context(tmp_path, dataset, log, seed=1))
    assert any("dropped" in event.get("text", "") for event in log.events)


def test_wrong_settings_are_named(tmp_path: Path, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "make_plan", make_plan)
    for settings, words in (
        ({"backbone": "nets"}, "backbone.*unet"),
        ({"preset": "huge"}, "preset.*quick"),
        ({"device": "tpu"}, "device"),
    ):
        with pytest.raises(AnyMoCapError, match=words):
            run(_context(tmp_path, dataset, _Log(), **settings))


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_plans_keep_their_steps_and_cost_ends_at_one(preset: str) -> None:
    for steps in (0, 1, 7, 333):
        plan = make_plan(preset, steps)
        assert plan.steps == (steps or sum(phase.steps for phase in PRESETS[preset]))
        assert plan.cost(plan.steps) == pytest.approx(1)
        costs = [plan.cost(step) for step in range(plan.steps + 1)]
        assert (np.diff(costs) > 0).all()
        assert plan.width(plan.steps) == PRESETS[preset][-1].width


def test_muon_makes_singular_values_about_one() -> None:
    wide = torch.randn(2, 20, 90, generator=torch.Generator().manual_seed(0))
    for matrices in (wide, wide.mT):
        values = torch.linalg.svdvals(orthogonalised(matrices))
        assert values.min() > 0.6 and values.max() < 1.25
    assert torch.equal(orthogonalised(torch.zeros(1, 4, 4)), torch.zeros(1, 4, 4))


def test_calibration_is_monotone_and_tells_the_hit_rate() -> None:
    rng = np.random.default_rng(1)
    mass = rng.uniform(0, 1, 4000)
    error = rng.rayleigh(np.where(mass > 0.5, 4.0, 16.0))
    fitted = fit_calibration(mass, error)
    assert (np.diff(fitted.confidence) >= 0).all() and (np.diff(fitted.expected_px) <= 0).all()
    # Rayleigh: P(error < 10) = 1 - exp(-50 / sigma^2)
    assert fitted.apply(np.array([0.9]))[0] == pytest.approx(1 - np.exp(-50 / 16), abs=0.03)
    assert fitted.apply(np.array([0.1]))[0] == pytest.approx(1 - np.exp(-50 / 256), abs=0.05)
    assert fitted.error_px(np.array([0.9]))[0] == pytest.approx(4 * np.sqrt(2 * np.log(2)), rel=0.1)
    assert rising(np.array([1.0, 3.0, 2.0, 4.0]), np.ones(4)).tolist() == [1, 2.5, 2.5, 4]
