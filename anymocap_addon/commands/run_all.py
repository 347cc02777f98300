"""`run`: everything that is missing or stale, in pipeline order."""

from __future__ import annotations

from typing import Any

from ..core.errors import BadInputError
from ..core.project import CreaturePaths
from ..core.stage_record import load_record
from ..jobs.pool import Pool
from ..jobs.stage import Registry, Stage
from ..jobs.stage_run import StageRun
from ..jobs.state import remembered_settings
from .drive import drive


def known_clips(paths: CreaturePaths) -> list[str]:
    """Clips and exams that have a folder."""
    folders = [paths.runs / "clips", paths.runs / "exam"]
    names = {path.name for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_dir()}
    return sorted(names)


def run_all(registry: Registry, paths: CreaturePaths, clips: list[str], pool: Pool) -> list[dict[str, Any]]:
    """Run what is missing or stale for the creature and the clips, each stage with its settings of the last time.

    Returns:
        One entry a stage: stage, item, skipped, seconds.

    Raises:
        BadInputError: the creature has no mesh.
        AnyMoCapError: a stage failed; the ones before it stay done.
    """
    if not paths.model().exists() and load_record(paths, "prep") is None:
        raise BadInputError(
            "The creature has no mesh.", file=paths.model(), hint="Put one there, or run prep with --mesh FILE."
        )
    for clip in clips if "detect" in registry else []:
        _check_clip(paths, clip)
    done = [_run_one(registry, paths, stage, None, pool) for stage in registry if stage.per == "creature"]
    for clip in clips or known_clips(paths):
        done += [_run_one(registry, paths, stage, clip, pool) for stage in registry if stage.per == "clip"]
    return [entry for entry in done if entry]


def _check_clip(paths: CreaturePaths, clip: str) -> None:
    """Say before anything is drawn or trained that there is nothing to read."""
    if load_record(paths, "detect", clip) is None and not paths.exam(clip).clip.exists():
        raise BadInputError(
            f"There is no video for the clip {clip!r}.",
            file=paths.exam(clip).clip,
            hint=f"Run `detect --clip {clip} --video FILE` once there is a reader, or `exam --clip {clip}`.",
        )


def _run_one(registry: Registry, paths: CreaturePaths, stage: Stage, item: str | None, pool: Pool) -> dict[str, Any]:
    record = load_record(paths, stage.name, item)
    if record is None and not stage.automatic:
        return {}
    settings = remembered_settings(stage, item, record)
    run = StageRun(paths, stage, settings, pool=pool, registry=registry)
    result = drive(run, f"{stage.label} {item or ''}".strip())
    return {"stage": stage.name, "item": item, "skipped": result.skipped, "seconds": result.seconds}
