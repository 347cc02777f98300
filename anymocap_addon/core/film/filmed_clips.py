"""The takes of a move: what was filmed for it, and the clips that these files are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..clip_source import add_clip, added_video, known_clips
from ..errors import AnyMoCapError
from ..project import CreaturePaths, is_name

_SEED_FOLDER = re.compile(r"s(\d+)")


@dataclass(frozen=True)
class FilmedTake:
    """A filmed file: runs/<c>/videos/<move>/s<seed>/<model>.mp4; `model` is the file's name."""

    move: str
    seed: int
    model: str
    file: Path


def filmed_takes(paths: CreaturePaths, move: str) -> list[FilmedTake]:
    """All files of a move, by seed and name; half-fetched ones are left out."""
    folder = paths.videos(move)
    if not folder.is_dir():
        return []
    found = []
    for file in folder.glob("s*/*.mp4"):
        seed = _SEED_FOLDER.fullmatch(file.parent.name)
        if seed and is_name(file.name):
            found.append(FilmedTake(move, int(seed[1]), file.stem, file))
    return sorted(found, key=lambda take: (take.seed, take.model))


def known_moves(paths: CreaturePaths) -> list[str]:
    """Names of the moves that have a prompt or were filmed, sorted."""
    prompts = paths.prompts.glob("*.txt") if paths.prompts.is_dir() else ()
    folders = (path for path in paths.all_videos.iterdir() if path.is_dir()) if paths.all_videos.is_dir() else ()
    found = {path.stem for path in prompts} | {path.name for path in folders}
    return sorted(name for name in found if is_name(name))


def add_filmed_clips(paths: CreaturePaths, move: str) -> list[str]:
    """Make a clip of each take that is none yet; returns the names of all clips of the move, in the takes' order.

    A clip is called <move>_s<seed>; where that is taken by another video, the model's name follows. Of a move with
    a very long name it has the beginning.
    """
    files = [take.file for take in filmed_takes(paths, move)]
    names = expected_clips(paths, files, move)
    for name, file in zip(names, files, strict=True):
        if not paths.clip(name).source.exists():
            add_clip(paths, name, file)
    return names


def expected_clips(paths: CreaturePaths, files: list[Path], move: str) -> list[str]:
    """Names of the clips that filmed files are, or will be once they are there."""
    clips = clips_by_video(paths)
    names: list[str] = []
    for file in files:
        known = clips.get(file.resolve())
        names.append(known if known is not None else _free_name(paths, file, move, names))
    return names


def clips_by_video(paths: CreaturePaths) -> dict[Path, str]:
    """Video file -> name of the clip that was added with it; clips whose clip.json is damaged are left out."""
    found = {}
    for name in known_clips(paths):
        try:
            video = added_video(paths, name)
        except AnyMoCapError:
            continue
        if video is not None:
            found[video.resolve()] = name
    return found


def _free_name(paths: CreaturePaths, file: Path, move: str, taken: list[str]) -> str:
    seed = f"_{file.parent.name}"
    ends = [seed, f"{seed}_{file.stem}", *(f"{seed}_{file.stem}_{number}" for number in range(2, 100))]
    names = (_fitting(move, end) for end in ends)
    return next(name for name in names if name not in taken and not _is_taken(paths, name))


def _fitting(move: str, end: str) -> str:
    """A name that is not too long: a take that was paid must not lie there without a clip."""
    while move and not is_name(move + end):
        move = move[:-1]
    return move + end


def _is_taken(paths: CreaturePaths, name: str) -> bool:
    return paths.clip(name).folder.exists() or paths.exam(name).folder.exists()
