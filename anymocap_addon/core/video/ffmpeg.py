"""The ffmpeg program that imageio-ffmpeg ships. No ffprobe comes with it, so its log is what we read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import imageio_ffmpeg

from ..errors import AnyMoCapError, BadInputError

_HINT = "Export the clip again as MP4 (H.264), or download it again when the download broke off."
# Playlists and the like may name other files and addresses; a clip may not.
ONLY_FILES = ("-protocol_whitelist", "file,pipe")


def ffmpeg_program() -> str:
    """Path of the ffmpeg binary.

    Raises:
        AnyMoCapError: the installation has none.
    """
    try:
        _allow_to_run()
        program: str = imageio_ffmpeg.get_ffmpeg_exe()
    except (RuntimeError, OSError) as error:
        raise AnyMoCapError(
            "There is no ffmpeg program.", hint="Install imageio-ffmpeg again: its wheel carries one."
        ) from error
    return program


def _allow_to_run() -> None:
    """Blender unpacks wheels without the permissions of their files, so that no program in them may be run."""
    for program in Path(imageio_ffmpeg.__file__).parent.glob("binaries/ffmpeg-*"):
        if not os.access(program, os.X_OK):
            program.chmod(program.stat().st_mode | 0o111)


def environment() -> dict[str, str]:
    """ffmpeg's surroundings: its log in English without colour, read as UTF-8."""
    return {**os.environ, "AV_LOG_FORCE_NOCOLOR": "1", "LC_ALL": "C.UTF-8"}


def file_address(path: Path) -> str:
    """`path` as ffmpeg takes it, whatever characters it holds (a leading '-', a ':' …)."""
    return f"file:{path}"


def check_file(path: Path) -> None:
    """Refuse what cannot be a clip before ffmpeg is asked.

    Raises:
        BadInputError: missing, a folder, or zero bytes.
    """
    if path.is_dir():
        raise BadInputError("The clip is a folder, not a video file.", file=path, hint="Name the file in it.")
    if not path.is_file():
        raise BadInputError("The clip does not exist.", file=path, hint="Check the path, or film the clip first.")
    if path.stat().st_size == 0:
        raise BadInputError("The clip has zero bytes.", file=path, hint=_HINT)


def describe(path: Path) -> str:
    """What `ffmpeg -i` says about a file.

    Raises:
        BadInputError: no video container can be read; the message carries ffmpeg's reason.
    """
    check_file(path)
    command = [ffmpeg_program(), "-hide_banner", "-nostdin", *ONLY_FILES, "-i", file_address(path)]
    done = subprocess.run(command, capture_output=True, env=environment(), check=False)
    text = done.stderr.decode("utf-8", "replace")
    if "Input #0" not in text:
        raise BadInputError(f"The clip cannot be read: {_reason(text)}.", file=path, hint=_HINT)
    return text


def _reason(text: str) -> str:
    """The most telling line of a failed `ffmpeg -i`."""
    for sign, meaning in (
        ("moov atom not found", "its index is missing (it was cut off, or it is no video)"),
        ("Invalid data found", "it is damaged, cut in its header, or no video"),
    ):
        if sign in text:
            return meaning
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "ffmpeg says nothing"
