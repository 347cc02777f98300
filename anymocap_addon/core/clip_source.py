"""The clips of a creature and the video that each of them is."""

from __future__ import annotations

import re
from pathlib import Path

from .errors import BadInputError
from .formats import read_json, write_json_file
from .project import CreaturePaths, is_name
from .video.file_types import PICTURE_SUFFIXES


def known_clips(paths: CreaturePaths) -> list[str]:
    """Names of the clips and exams that have a folder, sorted."""
    folders = [paths.runs / "clips", paths.runs / "exam"]
    found = (path for folder in folders if folder.is_dir() for path in folder.iterdir())
    return sorted({path.name for path in found if is_name(path.name) and path.is_dir()})


def add_clip(paths: CreaturePaths, name: str, video: Path) -> None:
    """Make a clip of a video file, a folder of numbered pictures or their pattern; all stay where they are.

    Raises:
        BadInputError: the name cannot be a folder's or is taken by another video, or there is no such file.
    """
    file = paths.clip(name).source
    if not (video.is_file() or video.is_dir()) and not numbered_pictures(video):
        raise BadInputError("There is no such video file.", file=video, hint="Choose a video of both views.")
    if paths.exam(name).folder.exists() or (file.exists() and added_video(paths, name) != video.resolve()):
        raise BadInputError(f"There is a clip {name!r} already.", hint="Choose another name.")
    path = video.resolve()
    shown = path.relative_to(paths.root).as_posix() if path.is_relative_to(paths.root) else str(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_json_file(file, "clip", {"video": shown})


def numbered_pictures(pattern: Path) -> bool:
    """Whether the path stands for pictures: a # or %04d in its name, in a folder that is there."""
    return ("#" in pattern.name or "%" in pattern.name) and pattern.parent.is_dir()


def suggested_name(video: Path) -> str:
    """A clip's name after its file: of numbered pictures without the number, else their folder's."""
    if video.suffix.lower() not in PICTURE_SUFFIXES:
        return video.stem
    return re.sub(r"[\W_]*(\d+|#+|%0?\d*d)\D*$", "", video.stem) or video.parent.name


def added_video(paths: CreaturePaths, name: str) -> Path | None:
    """The video that a clip was added with, as it came; None for a clip that was not added.

    Raises:
        BadInputError: clip.json is damaged.
    """
    file = paths.clip(name).source
    if not file.exists():
        return None
    return Path(paths.root, read_json(file, "clip")["video"])


def original_video(paths: CreaturePaths, name: str) -> Path | None:
    """As `added_video`; when that is gone, the copy that the take stage kept of it.

    Raises:
        BadInputError: clip.json is damaged.
    """
    video = added_video(paths, name)
    if video is None or video.exists() or numbered_pictures(video):
        return video
    kept = paths.clip(name).original / video.name
    return kept if kept.exists() else video


def clip_video(paths: CreaturePaths, name: str) -> Path:
    """The video of a clip that stages read: what take made of the one that it was added with, that one itself before
    take ran, else the exam clip of that name, which need not exist.

    Raises:
        BadInputError: clip.json is damaged.
    """
    files = paths.clip(name)
    if files.take_json.exists() and files.taken.exists():
        return files.taken
    return original_video(paths, name) or paths.exam(name).clip
