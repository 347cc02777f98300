"""`run`: everything that is missing or stale, in pipeline order."""

from __future__ import annotations

from typing import Any

from ..core.clip_source import known_clips
from ..core.project import CreaturePaths
from ..jobs.plan import PlanRun, stale_plan
from ..jobs.pool import Pool
from ..jobs.stage import Registry
from .drive import drive


def run_all(registry: Registry, paths: CreaturePaths, clips: list[str], pool: Pool) -> list[dict[str, Any]]:
    """Run what is missing or stale for the creature and the clips, each stage with its settings of the last time.

    Args:
        clips: names of clips; empty = all that the creature has.

    Returns:
        One entry a stage: stage, item, skipped, seconds.

    Raises:
        BadInputError: the creature has no mesh, or a clip no video.
        AnyMoCapError: a stage failed; the ones before it stay done.
    """
    plan = PlanRun(paths, stale_plan(registry, paths, clips or known_clips(paths)), pool=pool, registry=registry)
    entries = []
    for run in plan.runs():
        result = drive(run, f"{run.stage.label} {run.item or ''}".strip())
        entries.append(
            {"stage": run.stage.name, "item": run.item, "skipped": result.skipped, "seconds": result.seconds}
        )
    return entries
