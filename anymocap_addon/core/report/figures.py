"""The figures of report.json: scores against the truth where there is one, and what a real clip can tell by itself."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..detections import Detections
from ..exam.contact_rule import Span, slide_steps
from ..exam.metrics import Scores, fit_scores, jitter, reader_scores
from ..exam.truth import Truth
from ..layout import Layout
from ..motion import Motion
from ..rig import RigInfo
from ..stage_record import StageRecord
from ..version import VERSION

Array = NDArray[np.float64]

READER_KEYS = ("median_px", "p95_px", "pck5", "swaps")
FIT_KEYS = (
    "mean_mm",
    "median_mm",
    "p95_mm",
    "mean_pct_body",
    "rotation_deg",
    "twist_deg",
    "slide_mm_per_frame",
    "jitter",
    "jitter_truth",
)
SYNC_KEYS = ("paw_agreement", "height_gap_px", "lag_frames")
DOUBTFUL = 0.3  # a confidence below this counts as doubtful
DIGITS = 6


@dataclass(frozen=True, eq=False)
class Capture:
    """Everything that a report is made from; arrays of `detections` and `motion` are in the rig's joint order.

    Attributes:
        clip: name of the clip.
        truth: of the exam clip, or None for a clip whose truth nobody knows.
        records: stage records by stage name.
        apply_max_error_mm: how far Blender's joints lie from the motion's, when the motion was applied.
    """

    creature: str
    clip: str
    rig: RigInfo
    layout: Layout
    detections: Detections
    motion: Motion
    truth: Truth | None = None
    records: dict[str, StageRecord] = field(default_factory=dict)
    apply_max_error_mm: float | None = None


def _share(flags: NDArray[np.bool_]) -> float:
    return float(flags.mean()) if flags.size else 0.0


def reader_part(capture: Capture) -> Scores:
    """Scores of the reading; the truth's figures are None without a truth."""
    det = capture.detections
    confidence = np.concatenate([det.front_conf, det.side_conf])
    scores: Scores = dict.fromkeys(READER_KEYS)
    if capture.truth is not None:
        scores.update(reader_scores(det, capture.truth, capture.rig, capture.layout))
    scores["confidence_mean"] = float(confidence.mean())
    scores["doubtful_share"] = _share(confidence < DOUBTFUL)
    return scores


def own_slide(motion: Motion, rig: RigInfo) -> float | None:
    """Slide in mm a frame of the fitted feet over the motion's own contacts and ground velocity; None without any."""
    index = {name: i for i, name in enumerate(motion.joint_names)}
    spans = tuple(Span(index[c.joint], c.start, c.end) for c in motion.contacts if c.joint in index)
    steps = slide_steps(motion.joints, spans, motion.ground_velocity)
    return 1000 * float(steps.mean()) if len(steps) else None


def fit_part(capture: Capture) -> Scores:
    """Scores of the fit; the truth's figures are None without a truth."""
    motion = capture.motion
    scores: Scores = dict.fromkeys(FIT_KEYS)
    if capture.truth is not None:
        scores.update(fit_scores(motion, capture.truth, capture.rig, capture.layout))
    scores["jitter"] = jitter(motion.joints, motion.fps)
    scores["slide_own_mm_per_frame"] = own_slide(motion, capture.rig)
    scores["reproj_px"] = float(np.concatenate([motion.reproj_front, motion.reproj_side]).mean())
    scores["reproj"] = dict(motion.reproj_px)
    scores["solver"] = motion.solver
    scores["cpu_s"] = motion.settings.get("cpu_s")
    return scores


def rounded(value: Any) -> Any:
    """The value with every float in it cut to DIGITS significant digits, so that the file can be read by people."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _versions(records: dict[str, StageRecord]) -> dict[str, str]:
    versions: dict[str, str] = {}
    for record in records.values():
        versions.update(record.versions)
    return {**versions, "anymocap": VERSION, "python": platform.python_version(), "numpy": np.__version__}


def report_figures(capture: Capture) -> dict[str, Any]:
    """All of report.json but its stamp."""
    motion, truth = capture.motion, capture.truth
    sync = {**dict.fromkeys(SYNC_KEYS), **motion.sync}
    figures = {
        "creature": capture.creature,
        "move": motion.move or capture.clip,
        "clip": capture.clip,
        "has_truth": truth is not None,
        "action": truth.action if truth is not None else "",
        "frames": motion.T,
        "fps": motion.fps,
        "body_length_m": capture.rig.body_length,
        "reader": reader_part(capture),
        "fit": fit_part(capture),
        "sync": sync,
        "apply": {"max_error_mm": capture.apply_max_error_mm},
        "seconds": {stage: round(record.seconds, 2) for stage, record in capture.records.items()},
        "versions": _versions(capture.records),
    }
    result: dict[str, Any] = rounded(figures)
    return result
