"""The clock of clip and scene: keys, subframes, ends, rates that are nearly whole, one-frame clips."""

from __future__ import annotations

import numpy as np
import pytest

from anymocap_addon.core.clip_clock import ClipClock
from anymocap_addon.core.errors import BadInputError

NTSC = 30000 / 1001
RATES = [(24, 24), (30, 24), (NTSC, 29.97), (NTSC, 30), (60, 25), (24, 12), (12, 24), (25, 24), (24, 23.976)]


@pytest.mark.parametrize(("scene_fps", "motion_fps"), RATES)
@pytest.mark.parametrize("start", [1.0, -37.0, 100.5])
def test_scene_and_clip_agree_in_seconds(scene_fps, motion_fps, start):
    clock = ClipClock(start, scene_fps, motion_fps, 61)
    keys = clock.key_frames()
    seconds = (keys - start) / scene_fps
    assert np.abs(seconds - np.arange(61) / motion_fps).max() < 1e-3
    for t in (0, 1, 30, 60):
        assert clock.scene_frame(t) == pytest.approx(keys[t])
        assert clock.motion_time(keys[t]) == pytest.approx(t)
        assert clock.clip_frame(keys[t]) == t
    assert clock.last_frame == keys[-1]


@pytest.mark.parametrize(("scene_fps", "motion_fps"), RATES)
def test_the_clips_frame_is_the_nearest_in_time_at_every_frame_and_between(scene_fps, motion_fps):
    clock = ClipClock(5.0, scene_fps, motion_fps, 40)
    keys = clock.key_frames()
    for frame in np.arange(5.0, keys[-1], 0.25):
        shown = clock.clip_frame(float(frame))
        assert shown is not None
        assert abs(keys[shown] - frame) <= np.abs(keys - frame).min() + 1e-5


def test_outside_the_clip_nothing_is_shown_and_its_ends_hold_for_half_a_frame():
    clock = ClipClock(1.0, 60.0, 24.0, 10)  # 2.5 scene frames to a clip's
    assert [clock.clip_frame(f) for f in (-1.0, -0.2, 0.0, 1.0)] == [None, 0, 0, 0]
    assert clock.last_frame == 23.5
    assert [clock.clip_frame(f) for f in (23.5, 24.0, 24.7, 25.0)] == [9, 9, 9, None]
    slow = ClipClock(1.0, 12.0, 24.0, 10)  # the last frame lies between two of the scene
    assert slow.scene_range() == (1, 6)
    assert slow.clip_frame(6) == 9 and slow.clip_frame(7) is None


def test_rates_that_are_meant_to_be_whole_keep_keys_on_frames():
    assert ClipClock(1, NTSC, 29.97, 9).same_rate
    assert ClipClock(1, 24000 / 1001, 23.976, 9).same_rate
    assert ClipClock(1, 59.94, 29.97, 9).step == 2.0
    off = ClipClock(1, 30, 29.97, 2000)  # another rate: two frames apart after a minute
    assert not off.same_rate and off.last_frame - 2000 == pytest.approx(2.0, abs=0.01)


def test_ranges_are_whole_frames_that_hold_the_clip():
    assert ClipClock(1, 24, 24, 48).scene_range() == (1, 48)
    assert ClipClock(1, 30, 24, 48).scene_range() == (1, 60)
    assert ClipClock(-10, 24, 24, 1).scene_range() == (-10, -10)


def test_a_clip_of_one_frame_is_shown_on_it():
    clock = ClipClock(7, 30, 24, 1)
    assert clock.key_frames().tolist() == [7.0]
    assert [clock.clip_frame(f) for f in (6, 7, 8)] == [None, 0, None]


@pytest.mark.parametrize(("scene_fps", "motion_fps", "frames"), [(0, 24, 5), (24, 0, 5), (24, 24, 0)])
def test_no_rate_or_no_frames_is_refused(scene_fps, motion_fps, frames):
    with pytest.raises(BadInputError, match="does not fit"):
        ClipClock(1, scene_fps, motion_fps, frames)


@pytest.mark.parametrize(("scene_fps", "motion_fps"), [(24e-6, 24), (24, 1e9)])
def test_a_scene_far_slower_than_the_clip_still_has_a_clock(scene_fps, motion_fps):
    clock = ClipClock(1.0, scene_fps, motion_fps, 10)
    assert clock.step > 0 and clock.clip_frame(1.0) == 0
