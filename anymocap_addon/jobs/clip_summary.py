"""A captured clip in the few figures that an artist chooses by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.clip_source import clip_video
from ..core.project import CreaturePaths
from ..core.stage_record import StageRecord, load_records


@dataclass(frozen=True)
class ClipSummary:
    """A clip of a creature.

    Attributes:
        is_test: made from a motion whose truth is known.
        video: its video file; None when there is none.
        has_motion: it was read and fitted.
        figures: what is known of it, each with its unit, the most telling first.
        warnings: what reading and fit had to say.
        report: its report's picture; None before there is one. report_made: when that was.
    """

    name: str
    is_test: bool = False
    video: Path | None = None
    has_motion: bool = False
    figures: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    report: Path | None = None
    report_made: str = ""


def summarise_clip(paths: CreaturePaths, clip: str) -> ClipSummary:
    """What is known of a clip.

    Raises:
        BadInputError: a record of it is damaged.
    """
    records, files = load_records(paths, clip), paths.clip(clip)
    video = clip_video(paths, clip)
    done = {name: record for name, record in records.items() if record.clip == clip and record.outcome == "done"}
    return ClipSummary(
        name=clip,
        is_test=paths.exam(clip).folder.is_dir(),
        video=video if video.is_file() else _read_video(paths, done),
        has_motion=files.motion.exists(),
        figures=_figures(done),
        warnings=_warnings(done),
        report=files.report_png if files.report_png.exists() else None,
        report_made=done["report"].started if "report" in done else "",
    )


def _read_video(paths: CreaturePaths, done: dict[str, StageRecord]) -> Path | None:
    """The video that was read, for a clip that was named to Read by its file alone."""
    named = done["detect"].settings.get("video") if "detect" in done else None
    return Path(paths.root, named) if named and Path(paths.root, named).is_file() else None


def _figures(done: dict[str, StageRecord]) -> tuple[str, ...]:
    report: dict[str, Any] = done["report"].result if "report" in done else {}
    reader, fit = report.get("reader") or {}, report.get("fit") or {}
    told = [
        _told(reader.get("median_px"), "{:.1f} px off"),
        _told(fit.get("mean_pct_body"), "fit {:.1f} % of the body"),
        _told(fit.get("slide_mm_per_frame"), "feet slide {:.1f} mm a frame"),
    ]
    if told[0] is None and "fit" in done:
        told.append(_told(done["fit"].result.get("reproj_px"), "{:.1f} px from the reading"))
    frames = done["detect"].result.get("frames") if "detect" in done else None
    return tuple(text for text in [*told, _told(frames, "{} frames")] if text)


def _told(value: Any, form: str) -> str | None:
    return form.format(value) if isinstance(value, int | float) else None


def _warnings(done: dict[str, StageRecord]) -> tuple[str, ...]:
    found: list[str] = []
    for stage in ("detect", "fit"):
        if stage in done:
            found += [str(text) for text in done[stage].result.get("warnings") or []]
    return tuple(dict.fromkeys(found))
