"""A captured clip in the few figures that an artist chooses by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..core.clip_source import clip_video
from ..core.project import CreaturePaths
from ..core.stage_record import StageRecord, load_records
from .quality import grade
from .stage_figure import stage_doubt, stage_figure


@dataclass(frozen=True)
class ClipSummary:
    """A clip of a creature.

    Attributes:
        is_test: made from a motion whose truth is known.
        video: its video file; None when there is none.
        has_motion: it was read and fitted.
        figures: what is known of it, each with its unit, the most telling first.
        warnings: what reading and fit had to say.
        doubts: what speaks against its reading, fit and score, each with the remedy.
        score: what its report found and what that is worth; empty before there is one, or without a truth.
        report: its report's picture; None before there is one. report_made: when that was.
    """

    name: str
    is_test: bool = False
    video: Path | None = None
    has_motion: bool = False
    figures: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    score: str = ""
    report: Path | None = None
    report_made: str = ""

    @property
    def concerns(self) -> tuple[str, ...]:
        """All that an artist should know before the motion is used."""
        return (*self.doubts, *self.warnings)


def is_test_of(clip: ClipSummary, trained: StageRecord | None) -> bool:
    """Whether the clip's report scores this reader, not one that was trained again since.

    Args:
        trained: the record of the reader's training; None for one that was made elsewhere.
    """
    return clip.is_test and clip.report is not None and (trained is None or clip.report_made >= trained.started)


def summarise_clip(paths: CreaturePaths, clip: str) -> ClipSummary:
    """What is known of a clip.

    Raises:
        BadInputError: a record of it is damaged.
    """
    records, files = load_records(paths, clip), paths.clip(clip)
    video, is_test = clip_video(paths, clip), paths.exam(clip).folder.is_dir()
    done = {name: record for name, record in records.items() if record.clip == clip and record.outcome == "done"}
    return ClipSummary(
        name=clip,
        is_test=is_test,
        video=video if video.is_file() else _read_video(paths, done),
        has_motion=files.motion.exists(),
        figures=_figures(done, with_fit="report" in done or not is_test),
        warnings=_warnings(done),
        doubts=tuple(text for stage in ("report", "detect", "fit") if (text := stage_doubt(done.get(stage)))),
        score=_score(done.get("report")),
        report=files.report_png if files.report_png.exists() else None,
        report_made=done["report"].started if "report" in done else "",
    )


def _score(report: StageRecord | None) -> str:
    """ "3.6 px off, fit 0.9 % of the body: good", or the doubt."""
    figure = stage_figure(report)
    if report is None or not figure:
        return ""
    return stage_doubt(report) or f"{figure}: {grade(report.result['reader']['median_px'])}"


def _read_video(paths: CreaturePaths, done: dict[str, StageRecord]) -> Path | None:
    """The video that was read, for a clip that was named to Read by its file alone."""
    named = done["detect"].settings.get("video") if "detect" in done else None
    return Path(paths.root, named) if named and Path(paths.root, named).is_file() else None


def _figures(done: dict[str, StageRecord], with_fit: bool) -> tuple[str, ...]:
    """The figures that are known.

    Args:
        with_fit: also the fit's distance from the reading, which a test's error could be taken for.
    """
    report: dict[str, Any] = done["report"].result if "report" in done else {}
    reader, fit = report.get("reader") or {}, report.get("fit") or {}
    told = [
        _told(reader.get("median_px"), "{:.1f} px off"),
        _told(fit.get("mean_pct_body"), "fit {:.1f} % of the body"),
        _told(fit.get("slide_mm_per_frame"), "feet slide {:.1f} mm a frame"),
    ]
    if with_fit and told[0] is None and "fit" in done:
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
