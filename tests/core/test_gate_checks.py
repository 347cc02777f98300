"""Each check of the source gate passes a plain two-view clip and names the fault that is drawn into it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from anymocap_addon.core.gate.cut import NEIGHBOURS, beyond
from anymocap_addon.core.gate.judge import Verdict, judge
from anymocap_addon.core.gate.limits import LIMITS, GateLimits
from anymocap_addon.core.gate.step import misfit

from .two_view_clip import BODY, LAYOUT, PAINT, clip, frame

REF = frame(0.0, move=0.0)
CLEAN = clip()
DOC = Path(__file__).resolve().parents[2] / "docs" / "gate.md"


def verdict(frames: list[np.ndarray], limits: GateLimits = LIMITS) -> Verdict:
    return judge(frames, REF, LAYOUT, PAINT, 24.0, limits)


def said(frames: list[np.ndarray]) -> set[str]:
    """The checks that refuse a clip."""
    return {finding.check for finding in verdict(frames).findings if finding.refused}


def moved(picture: np.ndarray, u: float, v: float, zoom: float = 1.0) -> np.ndarray:
    matrix = np.array([[zoom, 0, u], [0, zoom, v]])
    return cv2.warpAffine(picture, matrix, (LAYOUT.width, LAYOUT.height), borderMode=cv2.BORDER_REPLICATE)


def each(change) -> list[np.ndarray]:
    """CLEAN with change(frame, share) applied, the share growing from 0 to 1."""
    return [change(picture, t / (len(CLEAN) - 1)) for t, picture in enumerate(CLEAN)]


def test_a_good_clip_passes_whatever_a_video_model_does_to_its_looks() -> None:
    assert said(CLEAN) == set()
    rng = np.random.default_rng(0)

    def generated(picture: np.ndarray, _: float) -> np.ndarray:
        tinted = picture * np.array([1.06, 0.97, 0.94]) * 1.1 + 6 + rng.normal(0, 3, picture.shape)
        return cv2.resize(np.clip(tinted, 0, 255).astype(np.uint8), (1344, 768))

    good = verdict(each(generated))
    assert not good.refused, good.reasons


def recoloured(picture: np.ndarray, share: float) -> np.ndarray:
    spoilt = picture.copy()
    wall = (picture == REF[5, 5]).all(-1)
    spoilt[wall] = np.clip(picture[wall] + 25 * share, 0, 255)
    return spoilt


def leaving(picture: np.ndarray, share: float) -> np.ndarray:
    spoilt, far = picture.copy(), round(400 * share)
    side = picture[:, LAYOUT.w_front + 3 :]
    shifted = np.repeat(side[:, :1], side.shape[1], 1)
    shifted[:, far:] = side[:, : side.shape[1] - far]
    spoilt[:, LAYOUT.w_front + 3 :] = shifted
    return spoilt


def otherwise_coloured(picture: np.ndarray, _: float) -> np.ndarray:
    spoilt = picture.copy()
    spoilt[(picture == (150, 110, 70)).all(-1)] = (60, 120, 90)
    return spoilt


FAULTS = {
    "divider moves": (lambda: each(lambda p, s: np.concatenate(
        [cv2.resize(p[:, :420], (420 + round(30 * s), 720)), cv2.resize(p[:, 420:], (860 - round(30 * s), 720))], 1)),
        "split", "line between the two views moves"),
    "wall changes": (lambda: each(recoloured), "split", "wall behind the creature changes"),
    "camera tilts": (lambda: each(lambda p, s: moved(p, 0, -20 * s)), "camera", "camera moves"),
    "camera zooms": (lambda: each(lambda p, s: moved(p, -64 * s, -36 * s, 1 + 0.1 * s)), "camera", "camera moves"),
    "front lags": (lambda: clip(lag=4 / 24), "step", "the front view is 4 frames late"),
    "side lags": (lambda: clip(lag=-5 / 24), "step", "the side view is 5 frames late"),
    "colours swap": (lambda: CLEAN[:18] + clip(paint=(1, 0, 2, 3))[18:], "colours", "swap their colours"),
    "swapped from the start": (lambda: clip(paint=(0, 3, 2, 1)), "colours", "swap their colours"),
    "leaves": (lambda: each(leaving), "inside", "cut off at the right edge of the side view"),
    "another creature": (lambda: each(otherwise_coloured), "same", "not those of the reference"),
    "nothing moves": (lambda: [CLEAN[0]] * 36, "motion", "nothing moves in the whole clip"),
    "stops": (lambda: CLEAN[:20] + [CLEAN[19]] * 16, "motion", "stands still for 0.[67] seconds"),
    "cut": (lambda: CLEAN[:16] + clip(60)[40:60], "cut", "jumps at 0.7 seconds"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_in_plain_words_and_shown(name: str) -> None:
    make, check, words = FAULTS[name]
    found = verdict(make())
    finding = next(finding for finding in found.findings if finding.check == check)
    assert finding.refused, [(f.check, f.figures) for f in found.findings]
    assert re.search(words, " ".join(finding.reasons)), finding.reasons
    assert 0 <= finding.frame < 40
    assert all(0 <= left < right <= 1280 and top < bottom for left, top, right, bottom in finding.marks)


def test_a_view_that_plays_otherwise_is_refused_where_no_lag_explains_it() -> None:
    left = LAYOUT.w_front - 2
    mixed = [np.concatenate([CLEAN[-1 - t][:, :left], p[:, left:]], 1) for t, p in enumerate(CLEAN)]
    step = next(finding for finding in verdict(mixed).findings if finding.check == "step")
    assert step.refused and step.figures["height_misfit"] > LIMITS.height_misfit, step.figures


def test_heights_that_a_small_lag_or_a_constant_explains_fit() -> None:
    time = np.arange(40)
    side, front = 20 * np.sin(time / 5), 20 * np.sin((time - 1) / 5) + 12
    assert misfit(front, side) == (pytest.approx(0, abs=1e-6), pytest.approx(12.3, abs=0.6))
    assert misfit(20 * np.sin((time - 5) / 5), side)[0] > 5
    assert misfit(np.full(40, np.nan), side) == (0.0, 0.0)


def test_a_jump_among_jumps_stands_out_against_the_whole_clip() -> None:
    walk = np.where(np.arange(40) % 5 == 0, 4.0, 1.0)
    assert max(beyond(walk, NEIGHBOURS)) > 1.75 and beyond(walk, 40)[10] == 1
    walk[11] = 5.6
    assert beyond(walk, 40)[11] == pytest.approx(1.4)


def test_a_limb_that_loses_its_colour_is_named() -> None:
    def faded(picture: np.ndarray, share: float) -> np.ndarray:
        spoilt, leg = picture.copy(), tuple(round(255 * channel * 0.85) for channel in PAINT[1].colour)
        spoilt[(picture == leg).all(-1)] = np.array(leg) * (1 - share) + np.array(BODY_GREY) * share
        return spoilt

    finding = next(f for f in verdict(each(faded)).findings if f.check == "colours")
    assert finding.refused and "lime of right front leg" in finding.reasons[0]


BODY_GREY = (140, 140, 140)


@pytest.mark.parametrize("late", [8, 24])
def test_a_limb_that_the_reference_hides_is_told_by_the_first_frames(late: int) -> None:
    """The reference does not show the left front leg, the first frames do; it swaps with a hind leg."""
    swapped = CLEAN[:late] + clip(paint=(3, 1, 2, 0))[late:]
    hidden = REF.copy()
    leg = tuple(round(255 * channel * 0.85) for channel in PAINT[0].colour)
    hidden[(leg == REF).all(-1)] = BODY
    for frames, refused in ((CLEAN, False), (swapped, True)):
        found = judge(frames, hidden, LAYOUT, PAINT, 24.0)
        colours = next(finding for finding in found.findings if finding.check == "colours")
        assert any("swap" in reason for reason in colours.reasons) == refused, colours.figures


def test_a_clip_without_the_studio_is_refused_at_once() -> None:
    noise = [np.random.default_rng(t).integers(0, 255, (360, 640, 3), dtype=np.uint8) for t in range(6)]
    found = verdict(noise)
    assert [finding.check for finding in found.findings] == ["split"] and "two views" in found.reasons[0]


def test_a_creature_without_paint_is_judged_by_the_rest() -> None:
    assert not judge(CLEAN, REF, LAYOUT, (), 24.0).refused
    assert judge([CLEAN[0]] * 12, REF, LAYOUT, (), 24.0).refused


def test_a_clip_of_three_frames_breaks_nothing() -> None:
    assert verdict(CLEAN[:3]).findings


def test_every_limit_is_explained_with_its_number() -> None:
    text = DOC.read_text(encoding="utf-8")
    for limit in dataclasses.fields(GateLimits):
        assert f"| `{limit.name}` | {getattr(LIMITS, limit.name):g} |" in text, limit.name
