"""How much disk a creature uses, and what of it can be made again and may go."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ..core.clip_source import known_clips
from ..core.errors import AnyMoCapError
from ..core.project import CreaturePaths
from ..core.stage_record import mark_cleaned
from .job_folder import all_jobs
from .registry import REGISTRY
from .state import stage_state


@dataclass(frozen=True)
class DiskItem:
    """One kind of files of a creature.

    Attributes:
        name: what the operator calls it; label: what the artist reads.
        paths: files and folders that are there.
        size: bytes of all of them.
        cache: they may be cleaned; `cost` says what that means.
        stage: whose outputs they are; its record remembers that they were cleaned.
    """

    name: str
    label: str
    paths: tuple[Path, ...]
    size: int
    cache: bool = False
    cost: str = ""
    stage: str = ""


def disk_use(paths: CreaturePaths) -> list[DiskItem]:
    """What lies in the creature's folders, caches first, each file counted once, empty kinds left out."""
    clips = known_clips(paths)
    counted = [
        _item("reader_work", "Training cache", [paths.runs / "reader_work"], "made again by training"),
        _item("exam_frames", "Frames of the tests", [paths.exam(clip).frames for clip in clips], "the test clips stay"),
        _item("renders", "Frames of the showcases", _renders(paths, clips), "the showcase films stay"),
        _item("previews", "Viewport previews", _previews(paths, clips), "made again by Read and Fit"),
        _item("jobs", "Logs of ended jobs", _ended_jobs(paths), "logs of failures go too"),
    ]
    caches = {path for item in counted for path in item.paths}
    counted += [
        _dataset(paths),
        _item("assets", "Creature", [paths.assets], skip=caches),
        _item("sheet", "Dataset's check sheet", [paths.dataset_sheet]),
        _item("reader", "Reader", [paths.reader_pt], skip=caches),
        _item("clips", "Clips and motions", [paths.runs / "clips", paths.runs / "exam"], skip=caches),
        _item("videos", "Films", [paths.runs / "videos"], skip=caches),
    ]
    return [item for item in counted if item.size]


def clean(paths: CreaturePaths, items: Iterable[DiskItem]) -> int:
    """Delete caches of a creature; what cannot be deleted (a file in use) stays.

    Returns:
        Bytes that were freed.

    Raises:
        ValueError: an item is no cache.
    """
    freed = 0
    for item in items:
        if not item.cache:
            raise ValueError(f"{item.name} is no cache")
        for path in item.paths:
            before = _size(path, set())
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
            freed += before - _size(path, set())
        if item.stage:
            mark_cleaned(paths, item.stage)
    return freed


def shown_size(size: int) -> str:
    """Bytes as "0.4 MB", "96 MB" or "1.2 GB"."""
    megabytes = size / 1e6
    if megabytes >= 1000:
        return f"{megabytes / 1000:.1f} GB"
    return f"{megabytes:.0f} MB" if megabytes >= 10 else f"{max(0.1, megabytes):.1f} MB"


def _item(name: str, label: str, candidates: list[Path], cost: str = "", skip: set[Path] | None = None) -> DiskItem:
    there = tuple(path for path in candidates if path.exists())
    size = sum(_size(path, skip or set()) for path in there)
    return DiskItem(name, label, there, size, cache=bool(cost), cost=cost)


def _dataset(paths: CreaturePaths) -> DiskItem:
    """The training pictures, which may go once a reader was trained on them."""
    cost = "drawn again to train again" if _trained(paths) else ""
    item = _item("dataset", "Training pictures", [paths.dataset], cost)
    return replace(item, stage="dataset" if item.cache else "")


def _trained(paths: CreaturePaths) -> bool:
    try:
        return stage_state(REGISTRY, paths, REGISTRY["train"]).word == "ready"
    except AnyMoCapError:
        return False  # a damaged record or creature.json: nobody knows whether the pictures are needed


def _renders(paths: CreaturePaths, clips: list[str]) -> list[Path]:
    return [folder for clip in clips for folder in (paths.clip(clip).persp, paths.clip(clip).side)]


def _previews(paths: CreaturePaths, clips: list[str]) -> list[Path]:
    return [file for clip in clips for file in sorted(paths.clip(clip).folder.glob("preview.*"))]


def _ended_jobs(paths: CreaturePaths) -> list[Path]:
    return [job.path for job in all_jobs(paths.jobs) if not job.is_running()]


def _size(path: Path, skip: set[Path]) -> int:
    """Bytes of a file or of all in a folder; links are not followed, files that vanish meanwhile count nothing."""
    if path in skip:
        return 0
    try:
        if path.is_symlink() or not path.is_dir():
            return path.lstat().st_size
        with os.scandir(path) as entries:
            return sum(_size(Path(entry.path), skip) for entry in entries)
    except OSError:
        return 0
