"""Whether a result that ended well is any good: bounds, and a sentence with the remedy where one is passed.

A reader of five training steps runs as smoothly as a good one, so that "done" says nothing of what it made. The bounds
lie in the gap that test motions of two creatures left: good readers were 3 to 6 px off, with a mean confidence of 0.6
to 0.9, a fit of 0.9 to 1.2 % of the body and 3 to 7 px from its reading; readers that were trained too briefly 16 px
and more, 0.13 and less, 4 % and more, 21 px and more.
Nothing is kept from running by a doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

Result = Mapping[str, Any]
Grade = Literal["good", "usable", "doubtful"]

GOOD_PX = 7.0  # the bound on the reader's median error that AnyMoCap's own test motion is held to
DOUBTFUL_PX = 15.0  # about the width of a leg on the canvas: beyond it left and right are one
DOUBTFUL_FIT_PCT = 3.0  # of the body's length; a foot is about as long
DOUBTFUL_CONFIDENCE = 0.35  # mean of a clip; a reader that knows the creature is above 0.6

_TRAIN_MORE = "Train longer (length: long) or draw more poses."


def grade(px: float) -> Grade:
    """What a median error of the reader is worth, px on the canvas; one that is no number is doubtful."""
    if px <= GOOD_PX:
        return "good"
    return "usable" if px <= DOUBTFUL_PX else "doubtful"


def doubt(stage: str, result: Result) -> str:
    """What speaks against the result of a stage, and the remedy; follows its figure after a colon.

    Args:
        result: what the stage returned, as its record has it; figures of other versions that are missing are no doubt.

    Returns:
        Empty where nothing does.
    """
    return _DOUBTS[stage](result) if stage in _DOUBTS else ""


def _train(result: Result) -> str:
    return f"too far off to read a clip. {_TRAIN_MORE}" if _above(result.get("median_px"), DOUBTFUL_PX) else ""


def _detect(result: Result) -> str:
    if not _below(result.get("confidence_mean"), DOUBTFUL_CONFIDENCE):
        return ""
    return f"the reader hardly knows the creature in this clip. {_TRAIN_MORE}"


def _fit(result: Result) -> str:
    if not _above(result.get("reproj_px"), DOUBTFUL_PX):
        return ""
    return "the motion is far from what was read, so the reading is not to be trusted. Test the reader."


def _report(result: Result) -> str:
    if _above(_part(result, "reader").get("median_px"), DOUBTFUL_PX):
        return f"too far off to read a clip. {_TRAIN_MORE}"
    if _above(_part(result, "fit").get("mean_pct_body"), DOUBTFUL_FIT_PCT):
        return "the fitted motion is far from the true one. Open its report to see which limbs."
    return ""


_DOUBTS: dict[str, Callable[[Result], str]] = {"train": _train, "detect": _detect, "fit": _fit, "report": _report}


def _part(result: Result, name: str) -> Result:
    part = result.get(name)
    return part if isinstance(part, Mapping) else {}


def _above(value: Any, bound: float) -> bool:
    """Whether it is a figure and not within the bound; NaN is not."""
    return isinstance(value, int | float) and not value <= bound


def _below(value: Any, bound: float) -> bool:
    return isinstance(value, int | float) and not value >= bound
