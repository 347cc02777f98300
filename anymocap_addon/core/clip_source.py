"""The clips of a creature and the video that each of them is."""

from __future__ import annotations

from pathlib import Path

from .errors import BadInputError
from .formats import read_json, write_json_file
from .project import CreaturePaths, is_name


def known_clips(paths: CreaturePaths) -> list[str]:
    """Names of the clips and exams that have a folder, sorted."""
    folders = [paths.runs / "clips", paths.runs / "exam"]
    found = (path for folder in folders if folder.is_dir() for path in folder.iterdir())
    return sorted({path.name for path in found if is_name(path.name) and path.is_dir()})


def add_clip(paths: CreaturePaths, name: str, video: Path) -> None:
    """Make a clip of a video file, which stays where it is.

    Raises:
        BadInputError: the name cannot be a folder's or is taken by another video, or there is no such file.
    """
    file = paths.clip(name).source
    if not video.is_file():
        raise BadInputError("There is no such video file.", file=video, hint="Choose a video of both views.")
    if paths.exam(name).folder.exists() or (file.exists() and clip_video(paths, name) != video.resolve()):
        raise BadInputError(f"There is a clip {name!r} already.", hint="Choose another name.")
    path = video.resolve()
    shown = path.relative_to(paths.root).as_posix() if path.is_relative_to(paths.root) else str(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_json_file(file, "clip", {"video": shown})


def clip_video(paths: CreaturePaths, name: str) -> Path:
    """The video of a clip: the one that it was added with, else the exam clip of that name, which need not exist.

    Raises:
        BadInputError: clip.json is damaged.
    """
    file = paths.clip(name).source
    if not file.exists():
        return paths.exam(name).clip
    return Path(paths.root, read_json(file, "clip")["video"])
