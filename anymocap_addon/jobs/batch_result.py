"""What a batch did, entry by entry: the rows of its table, and the files that keep them."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from ..core.atomic import write_text
from ..core.formats import write_json_file
from .batch_file import Batch
from .stage_figure import doubts

State = Literal["waiting", "running", "done", "ready", "failed", "blocked", "stopped"]
Outcome = Literal["running", "done", "failed", "stopped"]
GOOD: tuple[State, ...] = ("done", "ready")
DOUBTFUL = "doubtful:"
# Where a figure stands in what the stages returned, by stage; the first that is known counts.
FIGURES: dict[str, tuple[tuple[str, ...], ...]] = {
    "median_px": (("report", "reader", "median_px"), ("train", "median_px")),
    "fit_pct": (("report", "fit", "mean_pct_body"),),
    "slide_mm_per_frame": (("report", "fit", "slide_mm_per_frame"), ("report", "fit", "slide_own_mm_per_frame")),
    "reproj_px": (("report", "fit", "reproj_px"), ("fit", "reproj_px")),
}


@dataclass
class BatchRow:
    """How one entry went.

    Attributes:
        clip: None for the creature's own stages.
        state: "ready" when there was nothing to do, "blocked" when it needs what has failed, "stopped" by the user.
        stage: the stage that failed, was blocked or was stopped.
        ran: stages that this batch ran.
        median_px, fit_pct, slide_mm_per_frame, reproj_px: see docs/formats.md; None when not known.
        seconds: wall seconds that this batch spent on it.
        message: why it failed, with the remedy, or "doubtful: " and what speaks against what was made.
        log: that of the stage that failed.
    """

    creature: str
    clip: str | None
    state: State = "waiting"
    stage: str = ""
    ran: list[str] = field(default_factory=list)
    median_px: float | None = None
    fit_pct: float | None = None
    slide_mm_per_frame: float | None = None
    reproj_px: float | None = None
    seconds: float = 0.0
    message: str = ""
    log: str = ""

    def take_figures(self, returned: dict[str, Any]) -> None:
        """Fill in the key figures from what the stages returned, by stage."""
        for name, places in FIGURES.items():
            found = [value for place in places if (value := figure_at(returned, place)) is not None]
            if found:
                setattr(self, name, found[0])

    def note_doubts(self, returned: dict[str, Any]) -> None:
        """Say in the message what speaks against what the stages returned, by stage; the state stays what it is."""
        if found := doubts(returned):
            self.message = f"{DOUBTFUL} {' '.join(found)}"

    @property
    def doubtful(self) -> bool:
        """It ended well, and what it made is poor."""
        return self.state in GOOD and self.message.startswith(DOUBTFUL)


def figure_at(tree: Any, keys: tuple[str, ...]) -> Any:
    """The value under nested keys; None when it is not there."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def result_files(batch: Batch) -> tuple[Path, Path]:
    """JSON and CSV beside the batch file: night.toml -> night.batch.json, night.batch.csv."""
    return batch.file.with_suffix(".batch.json"), batch.file.with_suffix(".batch.csv")


def as_data(batch: Batch, rows: list[BatchRow], outcome: Outcome, started: str, seconds: float) -> dict[str, Any]:
    """The content of <name>.batch.json."""
    return {
        "file": str(batch.file),
        "project": str(batch.project.root),
        "started": started,
        "outcome": outcome,
        "seconds": round(seconds, 1),
        "entries": [asdict(row) for row in rows],
    }


def write_results(batch: Batch, data: dict[str, Any]) -> None:
    """Write both files, each whole.

    Raises:
        AnyMoCapError: the disk is full or the folder may not be written.
    """
    json_file, csv_file = result_files(batch)
    write_json_file(json_file, "batch", data)
    names = [field.name for field in fields(BatchRow)]
    text = io.StringIO()
    table = csv.DictWriter(text, names, lineterminator="\n")
    table.writeheader()
    for entry in data["entries"]:
        figures = {name: "" if entry[name] is None else f"{entry[name]:.3g}" for name in FIGURES}
        table.writerow({**entry, **figures, "ran": " ".join(entry["ran"])})
    write_text(csv_file, text.getvalue())
