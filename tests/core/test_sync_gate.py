"""The sync gate on readings as a real reader gives them: clean clips pass, lagging and swapped ones fail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from anymocap_addon.core.detect.simulated_reading import SimulatedReading, simulate_reading, swap
from anymocap_addon.core.fit.sync import SyncFigures, load_thresholds, sync_figures
from anymocap_addon.core.layout import Layout

LAYOUT = Layout()
FRAMES, SEEDS = 120, 8
PAIRS = np.array([[0, 1], [2, 3]])
PAWS = (0, 1, 2, 3)


@dataclass(frozen=True)
class Gait:
    """Paw lift by phase: period in frames, share of it in the air, height in metres, phases of the four paws."""

    period: float
    swing: float
    lift: float
    phases: tuple[float, float, float, float]

    def joints(self) -> np.ndarray:
        """(T, 4, 3): left and right fore paw, left and right hind paw."""
        phase = (np.arange(FRAMES)[:, None] / self.period + np.array(self.phases)) % 1
        air = np.clip(phase / self.swing, 0, 1)
        z = self.lift * np.sin(np.pi * air) ** 2
        stance = np.clip((phase - self.swing) / (1 - self.swing), 0, 1)
        y = np.array([-0.45, -0.45, 0.4, 0.4]) + 0.15 * np.where(air < 1, np.cos(np.pi * air), 2 * stance - 1)
        x = np.tile([0.1, -0.1, 0.1, -0.1], (FRAMES, 1))
        return np.stack([x, y, z], -1)


GAITS = {
    "slow walk": Gait(36, 0.35, 0.06, (0.0, 0.5, 0.75, 0.25)),
    "walk": Gait(24, 0.4, 0.09, (0.0, 0.5, 0.75, 0.25)),
    "trot": Gait(14, 0.45, 0.12, (0.0, 0.5, 0.5, 0.0)),
    "gallop": Gait(12, 0.6, 0.18, (0.0, 0.2, 0.5, 0.7)),
}


def figures(read: SimulatedReading) -> SyncFigures:
    return sync_figures(
        read.front_uv[..., 1], read.side_uv[..., 1], read.front_conf, read.side_conf, PAWS, PAIRS
    )  # fmt: skip


def agreements(fault: str) -> np.ndarray:
    """Paw agreements of all gaits and seeds under a fault."""
    found = []
    for gait in GAITS.values():
        for seed in range(SEEDS):
            rng = np.random.default_rng([seed, 7])
            lag = {"late": 3.0, "early": -3.0}.get(fault, 0.0)
            read = simulate_reading(gait.joints(), LAYOUT, rng, lag_frames=lag)
            side, front = read.side_uv, read.front_uv
            if fault == "swapped side":
                side = swap(side, PAIRS)
            if fault == "swapped front":
                front = swap(front, PAIRS)
            if fault == "swapped hind legs":
                side = swap(side, PAIRS[1:])
            read = SimulatedReading(front, side, read.front_conf, read.side_conf)
            found.append(figures(read).paw_agreement)
    return np.array(found)


def test_clean_clips_pass() -> None:
    assert load_thresholds().clean_paw_agreement == 0.8
    assert (agreements("clean") >= 0.8).mean() >= 0.95


@pytest.mark.parametrize("fault", ["late", "early", "swapped side", "swapped front", "swapped hind legs"])
def test_faulty_clips_fail(fault: str) -> None:
    assert (agreements(fault) < 0.8).mean() >= 0.95


def test_a_creature_that_stands_still_passes() -> None:
    still = np.tile(GAITS["walk"].joints()[:1], (FRAMES, 1, 1))
    passed = [
        figures(simulate_reading(still, LAYOUT, np.random.default_rng(seed))).paw_agreement >= 0.8
        for seed in range(SEEDS)
    ]
    assert np.mean(passed) >= 0.95


@pytest.mark.parametrize("lag", [-3.0, -1.0, 0.0, 1.0, 3.0])
def test_the_lag_is_found(lag: float) -> None:
    found = []
    for seed in range(8):
        read = simulate_reading(GAITS["walk"].joints(), LAYOUT, np.random.default_rng(seed), lag_frames=lag)
        found.append(figures(read).lag_frames)
    np.testing.assert_allclose(np.median(found), lag, atol=0.3)
    np.testing.assert_allclose(found, lag, atol=1.0)


def test_the_simulated_reader_errs_like_the_measured_one() -> None:
    joints = GAITS["walk"].joints()
    front, side = LAYOUT.project(joints)
    errors, jitter = [], []
    for seed in range(20):
        read = simulate_reading(joints, LAYOUT, np.random.default_rng(seed))
        for found, true in ((read.front_uv, front), (read.side_uv, side)):
            error = found - true
            errors.append(np.linalg.norm(error, axis=-1))
            jitter.append(np.linalg.norm(error - np.median(error, axis=0), axis=-1))
    assert np.median(errors) == pytest.approx(5.9, abs=1.0)
    assert np.median(jitter) == pytest.approx(3.1, abs=0.7)
