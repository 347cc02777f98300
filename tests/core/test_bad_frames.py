"""Bad frames: misread legs, doubtful stretches, runs as one stop, and good clips without marks."""

from __future__ import annotations

import numpy as np
import pytest

from anymocap_addon.core.bad_frames import bad_frames, frame_scores, joined_runs
from anymocap_addon.core.detections import Detections
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.motion import Motion

T, J = 80, 30


def capture(scale: float = 1.0, seed: int = 0) -> tuple[Detections, Motion]:
    """Errors as readers make them (log-logistic, median 4 px) and a confidence that wanders."""
    random = np.random.default_rng(seed)
    names = tuple(f"j{j}" for j in range(J))
    uv = random.uniform(0, 400, (2, T, J, 2))
    conf = np.clip(0.85 + 0.03 * random.standard_normal((2, T, J)), 0, 1)
    chance = random.uniform(0.02, 0.98, (2, T, J))
    error = scale * 4.0 * (chance / (1 - chance)) ** 0.4
    det = Detections(names, uv[0], uv[1], conf[0], conf[1], 24.0, np.arange(T) / 24, np.eye(2, 3))
    motion = Motion(
        creature="c",
        move="m",
        fps=24.0,
        bones=("root",),
        trans=np.zeros((T, 3)),
        root_quat=np.tile([1.0, 0, 0, 0], (T, 1)),
        euler=np.zeros((T, 1, 3)),
        joint_names=names,
        joints=np.zeros((T, J, 3)),
        reproj_front=error[0],
        reproj_side=error[1],
    )
    return det, motion


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_an_even_clip_has_no_bad_frame_whether_sharp_or_blurred(scale):
    for seed in range(10):
        assert bad_frames(*capture(scale, seed)) == []


def test_one_leg_misread_in_one_view_is_found():
    det, motion = capture()
    motion.reproj_side[30:36, 10:14] += 35.0
    assert bad_frames(det, motion) == [range(30, 36)]


def test_a_doubtful_stretch_is_found_before_there_is_a_motion():
    det, motion = capture()
    det.front_conf[:5] *= 0.5
    det.side_conf[78:] *= 0.4
    assert bad_frames(det, None) == [range(5), range(78, 80)]
    assert bad_frames(det, motion) == [range(5), range(78, 80)]
    assert frame_scores(det, None).error_px is None


def test_bad_frames_close_to_each_other_are_one_stop():
    bad = np.zeros(20, bool)
    bad[[2, 3, 6, 10, 19]] = True  # two good frames between 3 and 6, three between 6 and 10
    assert joined_runs(bad) == [range(2, 7), range(10, 11), range(19, 20)]
    assert joined_runs(np.zeros(4, bool)) == []
    assert joined_runs(np.ones(4, bool)) == [range(4)]


def test_a_motion_of_another_reading_is_refused():
    det, motion = capture()
    det.front_conf, det.side_conf, det.front_uv = det.front_conf[1:], det.side_conf[1:], det.front_uv[1:]
    with pytest.raises(BadInputError, match="80 frames and the reading 79"):
        bad_frames(det, motion)
