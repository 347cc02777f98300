"""The one figure of a finished stage that matters to an artist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.stage_record import StageRecord

Result = dict[str, Any]


def stage_figure(record: StageRecord | None) -> str:
    """A few words, with units, from what the stage returned; empty when it never ended or has nothing to tell."""
    if record is None or record.outcome != "done" or record.stage not in _TELL:
        return ""
    try:
        return _TELL[record.stage](record.result)
    except (KeyError, TypeError, ValueError, IndexError):
        return ""  # written by another version, whose figures have other names


def _prep(result: Result) -> str:
    return f"{max(result['size_m'][:2]):.2f} m long, faces -Y"


def _rig(result: Result) -> str:
    painted = len(result["painted_faces"])
    return f"{result['bones']} bones, {result['joints']} joints, {painted} limbs painted"


def _dataset(result: Result) -> str:
    return f"{result['poses']} poses"


def _train(result: Result) -> str:
    return f"{result['median_px']:.1f} px off on unseen poses"


def _detect(result: Result) -> str:
    text = f"{result['frames']} frames"
    agreement = (result.get("sync") or {}).get("paw_agreement")
    return text if agreement is None else f"{text}, feet agree {100 * agreement:.0f} %"


def _fit(result: Result) -> str:
    return f"{result['frames']} frames, {result['reproj_px']:.1f} px from the reading"


def _apply(result: Result) -> str:
    return f"frames {result['first_frame']:g} to {result['last_frame']:g}"


def _prompt(result: Result) -> str:
    return f"{result['words']} words"


def _report(result: Result) -> str:
    return f"{result['reader']['median_px']:.1f} px off"


_TELL: dict[str, Callable[[Result], str]] = {
    "prep": _prep,
    "rig": _rig,
    "dataset": _dataset,
    "train": _train,
    "detect": _detect,
    "fit": _fit,
    "apply": _apply,
    "prompt": _prompt,
    "report": _report,
    "exam": lambda result: f"{result['frames']} frames",
    "showcase": lambda result: f"{result['frames']} frames",
    "ref": lambda result: "front and side in one picture",
}
