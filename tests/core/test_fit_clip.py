"""The fit of a whole reading: plants, ground velocity, lag, swaps, the reader's offsets, and unusable input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anymocap_addon.core.creature import Creature, save_creature
from anymocap_addon.core.detections import Detections, save_detections
from anymocap_addon.core.errors import BadInputError, CancelledError
from anymocap_addon.core.fit.contacts import find_ground
from anymocap_addon.core.fit.fit import FitOptions, fit_motion, run
from anymocap_addon.core.fit.reading import prepare
from anymocap_addon.core.fit.second_order import OffsetRules, SecondOrderOptions
from anymocap_addon.core.fit.sync import load_thresholds
from anymocap_addon.core.fit.warp import find_warp
from anymocap_addon.core.motion import Motion, load_motion, save_motion
from anymocap_addon.core.project import Project
from anymocap_addon.core.rig import save_rig_info
from anymocap_addon.core.stage_context import StageContext

from .walker import FPS, GROUND_STEP_M, LAYOUT, Walk, detections, noisy, walk, walker_rig

RIG = walker_rig()


def slide_mm(motion: Motion, truth: Walk) -> float:
    """Mean |foot step - ground step| over true stance, the frame at each end left out."""
    stands = truth.planted.copy()
    stands[1:] &= truth.planted[:-1]
    stands[:-1] &= truth.planted[1:]
    steps = np.diff(motion.joints[:, list(RIG.contacts), :2], axis=0) - np.array([0.0, GROUND_STEP_M])
    inner = stands[1:] & stands[:-1]
    return float(np.linalg.norm(steps, axis=-1)[inner].mean() * 1000)


def mean_mm(motion: Motion, truth: Walk) -> float:
    return float(np.linalg.norm(motion.joints - truth.joints, axis=-1).mean() * 1000)


@pytest.mark.parametrize("seed", [0, 1])
def test_plants_hold_the_feet(seed: int) -> None:
    truth = walk(RIG, 80)
    free = fit_motion(RIG, LAYOUT, noisy(detections(RIG, truth.joints), seed), FitOptions(plants=False))
    held = fit_motion(RIG, LAYOUT, noisy(detections(RIG, truth.joints), seed))
    assert not free.contacts and len(held.contacts) >= 6
    assert np.linalg.norm(held.ground_velocity - [0, GROUND_STEP_M]) < 0.001
    assert slide_mm(held, truth) < 0.5 * slide_mm(free, truth)
    assert slide_mm(held, truth) < 1.0
    assert mean_mm(held, truth) < mean_mm(free, truth) + 1.0
    found = np.zeros_like(truth.planted)
    for contact in held.contacts:
        found[contact.start : contact.end, RIG.contacts.index(RIG.keypoints.index(contact.joint))] = True
    assert (found & truth.planted).sum() > 0.85 * truth.planted.sum()
    assert (found & truth.planted).sum() > 0.8 * found.sum()


def test_ground_is_found_on_a_standing_creature_and_refused_in_flight() -> None:
    truth = walk(RIG, 40)
    still = np.repeat(truth.joints[:1], 40, axis=0)
    ground = find_ground(still, RIG.contacts, 1.0, FPS)
    assert np.abs(ground.velocity).max() < 1e-9
    assert {plant.joint for plant in ground.plants} == {joint for joint in RIG.contacts if still[0, joint, 2] < 0.15}
    aloft = truth.joints + np.array([0, 0, 0.5])
    assert find_ground(aloft, RIG.contacts, 1.0, FPS).plants == ()
    assert find_ground(truth.joints, (), 1.0, FPS).plants == ()


def test_a_drawn_walk_at_other_scale_and_rate_finds_the_same_contacts() -> None:
    """Thresholds are in body lengths and seconds: a giant at half the frame rate has the same plants."""
    joints = walk(RIG, 80).joints
    small = find_ground(joints, RIG.contacts, 1.0, FPS)
    giant = find_ground(joints * 10, RIG.contacts, 10.0, FPS)
    assert small.plants == giant.plants and np.allclose(small.velocity * 10, giant.velocity)


def late(track: np.ndarray, frames: float) -> np.ndarray:
    time = np.clip(np.arange(len(track)) - frames, 0, len(track) - 1)
    before = np.minimum(time.astype(int), len(track) - 2)
    part = (time - before).reshape(-1, *[1] * (track.ndim - 1))
    return track[before] * (1 - part) + track[before + 1] * part


@pytest.mark.parametrize("lag", [0.6, -1.4, 3.0])
def test_lag_is_found_to_a_tenth_of_a_frame_and_taken_out(lag: float) -> None:
    truth = walk(RIG, 80)
    reading = detections(RIG, truth.joints)
    reading.front_uv = late(reading.front_uv, lag)
    ready = prepare(reading, RIG, False)
    assert ready.sync["lag_frames"] == pytest.approx(lag, abs=0.11)
    assert ready.sync["warped"]
    inner = slice(4, -4)
    want, _ = LAYOUT.project(truth.joints)
    assert np.abs(ready.front.uv - want)[inner].mean() < 0.35 * np.abs(reading.front_uv - want)[inner].mean()


def test_a_synced_noisy_reading_is_not_warped() -> None:
    for seed in range(4):
        ready = prepare(noisy(detections(RIG, walk(RIG, 80).joints), seed), RIG, False)
        assert not ready.sync["warped"] and abs(ready.sync["lag_frames"]) <= 0.2


def test_drifting_lag_is_followed() -> None:
    truth = walk(RIG, 120)
    front, side = (uv[..., 1] for uv in LAYOUT.project(truth.joints))
    drift = np.linspace(-1.5, 1.5, 120)
    time = np.arange(120) - drift
    moved = np.stack([np.interp(time, np.arange(120), row) for row in front.T], 1)
    warp = find_warp(moved, side, np.ones_like(side), load_thresholds())
    assert warp is not None
    assert np.abs(warp.lag - drift)[8:-8].mean() < 0.35


@pytest.mark.parametrize("view", ["side", "front"])
def test_swap_bursts_are_undone(view: str) -> None:
    truth = walk(RIG, 80)
    reading = noisy(detections(RIG, truth.joints), 2)
    before = getattr(reading, f"{view}_uv").copy()
    joints, partners = [3, 4, 9, 5, 6, 10], [5, 6, 10, 3, 4, 9]
    uv = getattr(reading, f"{view}_uv")
    bursts = [*range(12, 18), *range(50, 56)]
    uv[np.ix_(bursts, joints)] = before[np.ix_(bursts, partners)]
    ready = prepare(reading, RIG, fix_front_swaps=view == "front")
    repaired = getattr(ready, view).uv
    wrong = np.abs(repaired - before)[..., 0].max(1) > 1e-9
    assert wrong.sum() <= 2
    if view == "front":
        untouched = prepare(reading, RIG, fix_front_swaps=False)
        assert np.array_equal(untouched.front.uv, uv) and untouched.sync["swapped_frames_front"] == 0


def test_no_swap_is_invented() -> None:
    for seed in range(4):
        ready = prepare(noisy(detections(RIG, walk(RIG, 80).joints), seed), RIG, True)
        assert ready.sync["swapped_frames_side"] == 0 and ready.sync["swapped_frames_front"] == 0


def test_knowing_of_offsets_beats_taking_them_for_noise() -> None:
    truth = walk(RIG, 60)
    gains = []
    for seed in range(3):
        errors = []
        for turns in (0, 4):
            options = FitOptions(plants=False, second_order=SecondOrderOptions(offsets=OffsetRules(turns=turns)))
            errors.append(mean_mm(fit_motion(RIG, LAYOUT, noisy(detections(RIG, truth.joints), seed), options), truth))
        gains.append(errors[1] / errors[0])
    assert np.mean(gains) < 0.97


def test_motion_is_whole_and_survives_its_file(tmp_path: Path) -> None:
    truth = walk(RIG, 30)
    reading = detections(RIG, truth.joints)
    order = np.random.default_rng(0).permutation(RIG.J)  # a reading may list its joints in another order
    shuffled = replace(
        reading,
        names=tuple(RIG.keypoints[i] for i in order),
        front_uv=reading.front_uv[:, order],
        side_uv=reading.side_uv[:, order],
    )
    motion = fit_motion(RIG, LAYOUT, shuffled, move="walk")
    path = tmp_path / "motion.json"
    save_motion(path, motion)
    loaded = load_motion(path)
    assert loaded.joint_names == RIG.keypoints and loaded.move == "walk" and loaded.solver == "lm"
    assert np.abs(loaded.joints - motion.joints).max() < 1e-6
    assert motion.sync["paw_agreement"] > 0.8 and motion.sync["clean"]
    assert motion.reproj_px["mean"] < 3
    assert loaded.settings["cpu_s"] > 0


def test_stage_reads_and_writes_its_files(tmp_path: Path) -> None:
    project = Project(tmp_path / "Füchse und mehr")
    paths = project.creature("walker")
    save_rig_info(paths.rig_info, RIG)
    save_creature(paths.creature_json, Creature("walker", layout=LAYOUT))
    reading = detections(RIG, walk(RIG, 30).joints)
    save_detections(paths.clip("walk").det, reading)
    told: list[dict[str, object]] = []
    settings = {"clip": "walk", "solver": "lm", "plants": True, "device": "cpu"}
    figures = run(StageContext(project=project, paths=paths, settings=settings, report=told.append))
    motion = load_motion(paths.clip("walk").motion)
    assert motion.creature == "walker" and motion.T == figures["frames"] == 30
    assert any(event["event"] == "progress" for event in told)
    with pytest.raises(CancelledError):
        run(StageContext(project=project, paths=paths, settings=settings, cancelled=lambda: True))
    spoiled = replace(RIG, keypoints=(*RIG.keypoints[:-1], "snout"))
    save_rig_info(paths.rig_info, spoiled)
    with pytest.raises(BadInputError, match="snout"):
        run(StageContext(project=project, paths=paths, settings=settings))


def change(**arrays: object) -> Callable[[Detections], Detections]:
    return lambda reading: replace(reading, **arrays)


def poisoned(reading: Detections) -> Detections:
    reading.side_uv[3, 2, 0] = np.nan
    return reading


def shortened(reading: Detections) -> Detections:
    cut = {key: getattr(reading, key)[:2] for key in ("front_uv", "side_uv", "front_conf", "side_conf", "pts")}
    return replace(reading, **cut)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (change(names=(*RIG.keypoints[:-1], "nose")), "shin_R_tip"),
        (poisoned, "side_uv"),
        (shortened, "2 frames"),
        (change(front_conf=np.zeros((30, RIG.J))), "front_conf"),
        (change(side_conf=np.full((30, RIG.J), 1.5)), "side_conf"),
        (change(front_uv=np.zeros((29, RIG.J, 2))), "front_uv|side_uv"),
        (change(fps=0.0), "fps"),
    ],
    ids=["names", "nan", "short", "no confidence", "confidence", "shape", "fps"],
)
def test_bad_readings_are_named(spoil: Callable[[Detections], Detections], says: str) -> None:
    reading = spoil(detections(RIG, walk(RIG, 30).joints))
    with pytest.raises(BadInputError, match=says):
        fit_motion(RIG, LAYOUT, reading)


def test_bad_options_are_named() -> None:
    reading = detections(RIG, walk(RIG, 10).joints)
    with pytest.raises(BadInputError, match="sgd"):
        fit_motion(RIG, LAYOUT, reading, FitOptions(solver="sgd"))
    with pytest.raises(BadInputError, match="wing"):
        fit_motion(RIG, LAYOUT, reading, FitOptions(rest_pose_deg={"wing": (0.0, 0.0, 0.0)}))


def test_three_frames_are_enough() -> None:
    motion = fit_motion(RIG, LAYOUT, detections(RIG, walk(RIG, 3).joints))
    assert motion.T == 3 and mean_mm(motion, walk(RIG, 3)) < 20


def test_rest_pose_decides_what_readings_do_not_show() -> None:
    """The twist of a tail with one tip is not seen: it follows the start pose of the creature."""
    motion = fit_motion(
        RIG, LAYOUT, detections(RIG, walk(RIG, 12).joints), FitOptions(rest_pose_deg={"tail": (0.0, 25.0, 0.0)})
    )
    assert np.degrees(motion.euler[:, 1, 1]).mean() == pytest.approx(25.0, abs=4.0)
