"""How long a stage will take, so that an artist knows before it is started."""

from __future__ import annotations

from typing import Any

from ..core.stage_record import StageRecord

_MEASURED_CORES = 2
# Seconds measured on two cores, the start of the background process included.
_TYPICAL_S: dict[str, float] = {
    "mesh": 120.0,
    "film": 150.0,
    "example": 15.0,
    "checkup": 4.0,
    "prep": 4.0,
    "template": 6.0,
    "grid": 5.0,
    "rig": 4.0,
    "skin": 5.0,
    "ref": 5.0,
    "prompt": 2.0,
    "take": 4.0,
    "gate": 10.0,
    "detect": 17.0,
    "preview": 5.0,
    "fit": 4.0,
    "apply": 2.0,
    "showcase": 30.0,
    "report": 3.0,
}
_POSE_S = 0.075  # of a dataset at 360 rows
_EXAM_FRAME_S = 0.75
_EXAM_FRAMES = 56  # of a motion whose length is not asked for
_TRAIN_S = {"quick": 210.0, "default": 555.0, "long": 1750.0}
_TRAIN_STEPS = {"quick": 520, "default": 1130, "long": 3100}


def expected_seconds(
    stage: str, settings: dict[str, Any], record: StageRecord | None = None, cores: int = _MEASURED_CORES
) -> float | None:
    """Wall time of a stage with these settings: as it last took, scaled to the amount of work, or a typical figure.

    Args:
        stage: its name; one that is not known has no estimate.
        settings: those that it would run with.
        record: its last run.
        cores: that this machine has.
    """
    typical = _typical(stage, settings, cores)
    if record is None or record.outcome != "done" or record.seconds <= 0:
        return typical
    before = _typical(stage, record.settings, cores)
    if typical is None or not before:
        return record.seconds
    return record.seconds * typical / before


def _typical(stage: str, settings: dict[str, Any], cores: int) -> float | None:
    share = _MEASURED_CORES / max(1, cores)
    if stage == "dataset":
        return 5.0 + _POSE_S * float(settings.get("poses") or 0) * share
    if stage == "exam":
        return 8.0 + _EXAM_FRAME_S * float(settings.get("frames") or _EXAM_FRAMES) * share
    if stage == "train":
        preset = str(settings.get("preset", "default"))
        seconds = _TRAIN_S.get(preset, _TRAIN_S["default"])
        if steps := settings.get("steps"):
            seconds *= float(steps) / _TRAIN_STEPS.get(preset, _TRAIN_STEPS["default"])
        return seconds * max(share, 0.25)  # beyond eight cores a training gains little
    return _TYPICAL_S.get(stage)
