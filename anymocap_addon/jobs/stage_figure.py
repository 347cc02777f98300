"""The one figure of a finished stage that matters to an artist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.stage_record import StageRecord
from .quality import doubt

Result = dict[str, Any]


def stage_figure(record: StageRecord | None) -> str:
    """A few words, with units, from what the stage returned; empty when it never ended or has nothing to tell."""
    return _figure(record.stage, record.result) if record is not None and record.outcome == "done" else ""


def _figure(stage: str, result: Result) -> str:
    if stage not in _TELL:
        return ""
    try:
        return _TELL[stage](result)
    except (KeyError, TypeError, ValueError, IndexError):
        return ""  # written by another version, whose figures have other names


def stage_doubt(record: StageRecord | None) -> str:
    """What speaks against the result of a stage that ended well, figure and remedy in one sentence; else empty."""
    return _told_doubt(record.stage, record.result) if record is not None and record.outcome == "done" else ""


def doubts(returned: dict[str, Result]) -> list[str]:
    """The same of several stages, from what they returned, by stage."""
    return [text for stage, result in returned.items() if (text := _told_doubt(stage, result))]


def _told_doubt(stage: str, result: Result) -> str:
    figure = _figure(stage, result)
    against = doubt(stage, result) if figure else ""
    return f"{figure}: {against}" if against else ""


def _px(value: float) -> str:
    """Tenths only where they tell something."""
    return f"{value:.1f} px" if value < 10 else f"{value:.0f} px"


def _prep(result: Result) -> str:
    asked = result.get("asked")
    if asked is None:  # an earlier version's
        return f"{max(result['size_m'][:2]):.2f} m long"
    faces = "; faces -Y" if result.get("facing_confirmed") else ""  # never said of what nobody has looked at
    return f"{asked['length_m']:.2f} m along {asked['axis'].upper()}, as asked{faces}"


def _checkup(result: Result) -> str:
    if not result["failures"] and not result["warnings"]:
        return "nothing to mend"
    return f"{result['failures']} to mend, {result['warnings']} to know"


def _template(result: Result) -> str:
    placed = f"{result['bones']} bones"
    return f"{placed}, {len(result['doubtful'])} joints to look at" if result["doubtful"] else placed


def _skin(result: Result) -> str:
    return f"{len(result['findings'])} to mend" if result["findings"] else "holds in the test pose"


def _rig(result: Result) -> str:
    painted = len(result["painted_faces"])
    return f"{result['bones']} bones, {result['joints']} joints, {painted} limbs painted"


def _dataset(result: Result) -> str:
    return f"{result['poses']} poses"


def _train(result: Result) -> str:
    return f"{_px(result['median_px'])} off on unseen poses"


def _detect(result: Result) -> str:
    parts = [f"{result['frames']} frames"]
    agreement = (result.get("sync") or {}).get("paw_agreement")
    if agreement is not None:
        parts.append(f"feet agree {100 * agreement:.0f} %")
    if "confidence_mean" in result:
        parts.append(f"confidence {100 * result['confidence_mean']:.0f} %")
    return ", ".join(parts)


def _fit(result: Result) -> str:
    return f"{result['frames']} frames, {_px(result['reproj_px'])} from the reading"


def _apply(result: Result) -> str:
    return f"frames {result['first_frame']:g} to {result['last_frame']:g}"


def _prompt(result: Result) -> str:
    return f"{result['words']} words"


def _report(result: Result) -> str:
    reader, fit = _px(result["reader"]["median_px"]), (result.get("fit") or {}).get("mean_pct_body")
    return f"{reader} off" if fit is None else f"{reader} off, fit {fit:.1f} % of the body"


_TELL: dict[str, Callable[[Result], str]] = {
    "checkup": _checkup,
    "prep": _prep,
    "template": _template,
    "rig": _rig,
    "skin": _skin,
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
