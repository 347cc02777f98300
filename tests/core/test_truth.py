"""truth.npz and the rule that tells true contacts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.exam.contact_rule import (
    RULE,
    Span,
    drifts,
    find_contacts,
    inner_frames,
    slide_steps,
)
from anymocap_addon.core.exam.truth import Truth, load_truth, save_truth

FPS = 24.0


def a_truth() -> Truth:
    rng = np.random.default_rng(0)
    return Truth(
        names=("hip", "Schwanz_ü"),
        joints=rng.normal(0, 1, (5, 2, 3)),
        bones=("hip",),
        trans=rng.normal(0, 1, (5, 3)),
        root_quat=np.tile([1.0, 0, 0, 0], (5, 1)),
        euler=np.zeros((5, 1, 3)),
        fps=23.976,
        body_length=1.5,
        action="Walk",
        calib_true=np.array([[1.01, 0, -3.0], [0, 0.99, 2.0]]),
        lag_frames=3.0,
    )


def test_truth_comes_back_as_written(tmp_path: Path) -> None:
    truth, path = a_truth(), tmp_path / "truth.npz"
    save_truth(path, truth)
    back = load_truth(path)
    for key, value in vars(truth).items():
        other = getattr(back, key)
        assert np.array_equal(value, other) if isinstance(value, np.ndarray) else value == other, key


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("joints", np.full((5, 2, 3), np.nan)),
        ("trans", np.zeros((4, 3))),
        ("euler", np.zeros((5, 2, 3))),
        ("body_length", 0.0),
        ("fps", -1.0),
    ],
)
def test_wrong_truth_is_refused_by_key(tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "truth.npz"
    truth = Truth(**{**vars(a_truth()), key: value})
    with pytest.raises(BadInputError, match=key):
        save_truth(path, truth)
        load_truth(path)


def test_truncated_truth_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "truth.npz"
    save_truth(path, a_truth())
    path.write_bytes(path.read_bytes()[:400])
    with pytest.raises(BadInputError, match=r"truth\.npz"):
        load_truth(path)


def walk(body: float = 1.5, speed: float = 0.04, frames: int = 48) -> tuple[np.ndarray, np.ndarray]:
    """Two feet on the spot, (T, 2, 3): each rides back with the ground (0.002, speed) for 10 frames a cycle of 16,
    then swings forward 0.1 m high; and the mask (T, 2) of its riding."""
    ground, tracks, riding = np.array([0.002, speed]), np.zeros((frames, 2, 3)), np.zeros((frames, 2), bool)
    for foot in range(2):
        for t in range(frames):
            phase = (t + 8 * foot) % 16
            on = phase < 10
            share = phase / 9 if on else 1 - (phase - 9) / 7
            tracks[t, foot, :2] = ground * (9 * share) + [0.1 * foot, 0]
            tracks[t, foot, 2] = 0.02 * foot if on else 0.02 * foot + 0.1 * np.sin(np.pi * (phase - 9) / 7)
            riding[t, foot] = on
    return tracks * body / 1.5, riding


@pytest.mark.parametrize("body", [0.3, 1.5, 40.0])
def test_the_rule_finds_riding_feet_and_the_ground_at_every_size(body: float) -> None:
    tracks, riding = walk(body)
    found = find_contacts(tracks, (0, 1), body, FPS)
    assert found.ground_velocity == pytest.approx(np.array([0.002, 0.04]) * body / 1.5, abs=0.0012 * body / 1.5)
    wrong = found.mask != riding
    assert wrong.mean() < 0.15 and not (found.mask & ~riding).any(), "only landing and leaving frames may be missed"
    assert all(riding[s.start : s.end, s.joint].all() for s in found.spans) and len(found.spans) >= 6


def test_standing_still_is_contact_and_flight_is_none() -> None:
    standing = np.zeros((20, 2, 3))
    assert find_contacts(standing, (0, 1), 1.0, FPS).mask.all()
    flying = standing + np.array([0, 0, 0.5])
    found = find_contacts(flying, (0, 1), 1.0, FPS)
    assert not found.spans and (found.ground_velocity == 0).all()
    assert not find_contacts(standing[:2], (0, 1), 1.0, FPS).spans, "two frames are no contact"
    assert not find_contacts(standing, (), 1.0, FPS).spans


def test_one_slipping_foot_does_not_move_the_ground() -> None:
    tracks = np.concatenate([walk()[0], walk()[0]], 1)
    tracks[:, 3, 0] += 0.06 * np.arange(48)  # the fourth foot slips sideways all the time
    found = find_contacts(tracks, (0, 1, 2, 3), 1.5, FPS)
    assert found.ground_velocity == pytest.approx([0.002, 0.04], abs=1.5e-3)
    assert {span.joint for span in found.spans} == {0, 1, 2}


def test_the_tolerance_grows_with_the_ground() -> None:
    for speed, counts in ((0.1, True), (0.01, False)):
        tracks = np.zeros((24, 3, 3))
        tracks[:, :, 1] = speed * np.arange(24)[:, None]
        tracks[:, 2, 0] = 0.03 * np.arange(24)  # 30 mm a frame off: less than half of 100, more than 12.5
        found = find_contacts(tracks, (0, 1, 2), 1.5, FPS)
        assert any(span.joint == 2 for span in found.spans) is counts


def test_slide_and_drift_are_measured_over_inner_frames() -> None:
    ground = np.array([0.0, 0.04])
    joints = np.zeros((12, 1, 3))
    joints[:, 0, 1] = 0.04 * np.arange(12)
    joints[:, 0, 0] = 0.003 * np.arange(12)  # slips 3 mm a frame to the side
    span = Span(0, 2, 10)
    joints[2, 0] += 5.0  # landing and leaving frames are left out
    joints[9, 0] += 5.0
    assert list(inner_frames(span)) == [3, 4, 5, 6, 7, 8]
    assert slide_steps(joints, (span,), ground) == pytest.approx(np.full(5, 0.003))
    assert drifts(joints, (span,), ground) == pytest.approx([0.015])
    assert len(slide_steps(joints, (Span(0, 2, 5),), ground)) == 0 and len(slide_steps(joints, (), ground)) == 0


def test_tracks_that_are_not_finite_are_refused() -> None:
    joints = np.zeros((9, 2, 3))
    joints[4, 1, 2] = np.nan
    with pytest.raises(BadInputError, match="Joint 1 is not finite at frame 4"):
        find_contacts(joints, (0, 1), 1.0, FPS)
    with pytest.raises(BadInputError, match="not among"):
        find_contacts(np.zeros((9, 2, 3)), (5,), 1.0, FPS)
    assert RULE.left_out_frames == 1
