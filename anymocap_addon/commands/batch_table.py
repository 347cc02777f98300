"""The tables of `batch`: the plan of a dry run, and the summary at the end."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..jobs.batch_file import Batch
from ..jobs.batch_result import BatchRow
from ..jobs.duration_words import clock

_HEAD = ("creature", "clip", "state", "median px", "fit %", "slide mm", "reproj px", "time", "")


def print_plan(batch: Batch, rows: list[dict[str, Any]]) -> None:
    """Print a line a stage, and how many of them would run."""
    print(f"{batch.file.name}, project {batch.project.root}")
    columns = ["creature", "clip", "stage", "state", *(["because"] if any(row["because"] for row in rows) else [])]
    _print_columns([columns, *([row[column] or "" for column in columns] for row in rows)])
    print(f"{sum(row['will_run'] for row in rows)} of {len(rows)} stages would run.")
    missing = sum(bool(row["missing_file"]) for row in rows)
    if missing:
        print(f"{missing} of them would fail: they need files that do not exist.")


def print_rows(rows: list[BatchRow]) -> None:
    """Print a line an entry, then how many ended in which state."""
    _print_columns([list(_HEAD), *(_cells(row) for row in rows)], right=range(3, 8))
    counts = Counter(row.state for row in rows)
    doubtful = sum(row.doubtful for row in rows)
    told = [f"{count} {state}" for state, count in counts.items()]
    print(", ".join([*told, *([f"{doubtful} of them doubtful"] if doubtful else [])]))


def _cells(row: BatchRow) -> list[str]:
    figures = (row.median_px, row.fit_pct, row.slide_mm_per_frame, row.reproj_px)
    shown = ["-" if figure is None else f"{figure:.3g}" for figure in figures]
    said = ": ".join(text for text in (row.stage, row.message) if text)
    return [row.creature, row.clip or "", row.state, *shown, clock(row.seconds), said]


def _print_columns(table: list[list[str]], right: range = range(0)) -> None:
    """Print cells under each other; the last column is free, and its line breaks (a log's last lines) are indented."""
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]) - 1)]
    for line in table:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ]
        last = line[-1].replace("\n", "\n      ")
        print("  ".join([*cells, last]).rstrip())
