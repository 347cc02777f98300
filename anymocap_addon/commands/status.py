"""`status`: the state of every stage."""

from __future__ import annotations

from typing import Any

from ..core.clip_source import known_clips
from ..core.errors import BadInputError
from ..core.nearest import nearest_hint
from ..core.project import CreaturePaths, Project
from ..jobs.duration_words import clock
from ..jobs.job_folder import all_jobs
from ..jobs.stage import Registry
from ..jobs.state import all_states


def status(registry: Registry, paths: CreaturePaths, clips: list[str]) -> dict[str, Any]:
    """Print a line for every stage and return the same as data.

    Raises:
        BadInputError: the project has no such creature, or the creature no such clip.
    """
    if not paths.assets.is_dir() and not paths.runs.is_dir():
        known = Project(paths.root).creatures()
        raise BadInputError(
            "There is no such creature here.", file=paths.root, key=paths.name, hint=nearest_hint(paths.name, known)
        )
    known_here = known_clips(paths)
    for clip in clips:
        if clip not in known_here:
            raise BadInputError(
                "There is no such clip.", file=paths.runs, key=clip, hint=nearest_hint(clip, known_here)
            )
    rows = []
    for state in all_states(registry, paths, clips or known_here):
        seconds = state.record.seconds if state.record and state.record.outcome == "done" else None
        rows.append(
            {
                "stage": state.stage.name,
                "item": state.item,
                "state": state.word,
                "because": state.because,
                "seconds": seconds,
            }
        )
        took = "" if seconds is None else clock(seconds)
        name = f"{state.stage.name} {state.item or ''}".strip()
        print(f"{name:<24} {state.word:<8} {took:>8}  {state.because}".rstrip())
    running = [job.id for job in all_jobs(paths.jobs) if job.is_running()]
    return {"creature": paths.name, "project": str(paths.root), "stages": rows, "running_jobs": running}
