"""What a batch would do: each stage with its state, and whether it would run."""

from __future__ import annotations

from typing import Any

from ..core.errors import AnyMoCapError
from ..core.film.takes import film_choice
from ..core.project import CreaturePaths
from ..core.stage_record import load_record
from ..jobs.batch_file import Batch, BatchEntry, BatchStep
from ..jobs.stage import Registry
from ..jobs.state import last_settings, stage_state


def plan(registry: Registry, batch: Batch) -> list[dict[str, Any]]:
    """One row a stage: creature, clip, stage, state (as in `status`), will_run, because, and a missing_file or "".

    A stage runs when it is not ready, or when one runs that it reads from.
    """
    rows: list[dict[str, Any]] = []
    coming: set[tuple[str, str, str | None]] = set()
    for entry in batch.entries:
        for step in entry.steps:
            state, because, missing_file = _state(registry, entry, step, coming)
            if state != "ready":
                coming.add((entry.paths.name, step.stage.name, step.item))
            rows.append(
                {
                    "creature": entry.paths.name,
                    "clip": entry.clip,
                    "stage": step.stage.name,
                    "state": state,
                    "will_run": state != "ready",
                    "because": because,
                    "missing_file": missing_file,
                }
            )
    return rows


def _state(
    registry: Registry, entry: BatchEntry, step: BatchStep, coming: set[tuple[str, str, str | None]]
) -> tuple[str, str, str]:
    stage, paths = step.stage, entry.paths
    try:
        record = load_record(paths, stage.name, step.item)
        settings = stage.check({**last_settings(stage, record), **step.given})
        found = stage_state(registry, paths, stage, step.item, settings)
    except AnyMoCapError as error:  # said again, and counted, when the stage is run
        return "failed", str(error), ""
    upstream = registry.upstream(stage, paths, settings)
    made = [u.name for u in upstream if (paths.name, u.name, None if u.per == "creature" else step.item) in coming]
    makers = {path for u in upstream for path in u.outputs(paths, u.item_settings(step.item))}
    gone = [path for path in stage.inputs(paths, settings) if not path.exists() and path not in makers]
    if gone:
        return found.word, f"{gone[0]} does not exist", str(gone[0])
    if found.word != "ready" and stage.name == "film":
        return found.word, _cost(paths, settings), ""
    if found.word == "ready" and made:
        return "stale", f"{made[0]} runs before it", ""
    return found.word, found.because, ""


def _cost(paths: CreaturePaths, settings: dict[str, Any]) -> str:
    """What a film may cost at most, were all of its takes new."""
    choice = film_choice(paths, settings)
    price = choice.price()
    clips = "1 clip" if len(choice.seeds) == 1 else f"{len(choice.seeds)} clips"
    told = "at a price that is not known" if price is None else f"for at most about ${price * len(choice.seeds):.2f}"
    return f"{clips} from {choice.model.label} {told}" + ("" if settings["yes"] else "; nothing is sent without yes")
