"""Numbered pictures as a clip: a folder, a pattern with # or %04d, or any one of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from ..errors import BadInputError
from ..layout import WALL
from .decode import Timing, timing
from .file_types import PICTURE_SUFFIXES

Picture = NDArray[np.uint8]

DEFAULT_RATE = 24.0
_NUMBER = re.compile(r"(\d+)(?!.*\d)")
_PLACE = re.compile(r"#+|%0?\d*d")


@dataclass
class PictureSequence:
    """Pictures in the order of their numbers, each at its number's time: a missing one leaves a hole in time.

    Iterate to get pictures (H, W, 3) uint8 RGB, alpha on the studio's grey, 16 bits brought to 8.

    Attributes:
        files: the pictures, by growing number. numbers: theirs.
        rate: numbers a second.
        times: seconds of the pictures given so far, the first at 0.
    """

    files: list[Path]
    numbers: list[int]
    rate: float
    times: list[float] = field(default_factory=list)

    @property
    def missing(self) -> int:
        """How many numbers between the first and the last have no picture."""
        return self.numbers[-1] - self.numbers[0] + 1 - len(self.numbers)

    def __iter__(self) -> Iterator[Picture]:
        self.times = []
        size: tuple[int, ...] = ()
        for file, number in zip(self.files, self.numbers, strict=True):
            picture = _load(file)
            size = size or picture.shape
            if picture.shape != size:
                raise BadInputError(
                    f"The picture is {picture.shape[1]} x {picture.shape[0]}, the first one {size[1]} x {size[0]}.",
                    file=file, hint="Keep pictures of one size in the sequence.",
                )  # fmt: skip
            self.times.append((number - self.numbers[0]) / self.rate)
            yield picture

    def timing(self) -> Timing:
        """Times and rate by the numbers; a sequence with holes has a variable rate."""
        return timing((np.array(self.numbers) - self.numbers[0]) / self.rate, self.rate)


def is_sequence(path: Path) -> bool:
    """Whether `path` names pictures rather than a video file."""
    return path.is_dir() or path.suffix.lower() in PICTURE_SUFFIXES


def open_sequence(path: Path, rate: float = 0.0) -> PictureSequence:
    """Find the pictures of a sequence.

    Args:
        path: their folder, a pattern (walk_####.png, walk_%04d.png), or one of them.
        rate: pictures a second; 0 = 24.

    Raises:
        BadInputError: no numbered pictures there, or two of one number.
    """
    folder = path if path.is_dir() else path.parent
    pattern = None if path.is_dir() else _pattern(path.name)
    found = [file for file in folder.iterdir() if file.is_file()] if folder.is_dir() else []
    found = [file for file in found if file.suffix.lower() in PICTURE_SUFFIXES and not file.name.startswith(".")]
    if pattern is None:
        pattern = _commonest(found)
    numbered = sorted(
        (int(match.group(1)), file) for file in found if pattern and (match := pattern.fullmatch(file.name))
    )
    if not numbered:
        raise BadInputError(
            "There are no numbered pictures.", file=path,
            hint=f"Name a folder of pictures ({', '.join(PICTURE_SUFFIXES)}) whose names end in their number.",
        )  # fmt: skip
    numbers = [number for number, _ in numbered]
    for (number, file), following in zip(numbered, numbers[1:], strict=False):
        if number == following:
            raise BadInputError(f"Two pictures have the number {number}.", file=file, hint="Keep one of them.")
    return PictureSequence([file for _, file in numbered], numbers, rate or DEFAULT_RATE)


def _pattern(name: str) -> re.Pattern[str] | None:
    """Names like `name`, with another number in the place of # or %04d, else of its last digits."""
    place = _PLACE.search(name) or _NUMBER.search(name)
    if place is None:
        return None
    before, after = name[: place.start()], name[place.end() :]
    return re.compile(f"{re.escape(before)}(\\d+){re.escape(after)}")


def _commonest(files: list[Path]) -> re.Pattern[str] | None:
    """The pattern that most of the files follow: a folder may hold a cover or a preview too."""
    patterns = Counter(found.pattern for file in files if (found := _pattern(file.name)))
    return re.compile(patterns.most_common(1)[0][0]) if patterns else None


def _load(file: Path) -> Picture:
    # Not cv2.imread: it cannot open every path that Python can.
    picture = cv2.imdecode(np.frombuffer(file.read_bytes() or b"\0", np.uint8), cv2.IMREAD_UNCHANGED)
    if picture is None:
        raise BadInputError("The picture is damaged.", file=file, hint="Write it again.")
    values = np.asarray(picture)
    if values.dtype != np.uint8:
        top = 65535.0 if values.dtype == np.uint16 else 1.0
        values = np.rint(np.clip(values.astype(np.float32) / top, 0, 1) * 255).astype(np.uint8)
    if values.ndim == 2:
        values = np.repeat(values[..., None], 3, 2)
    colours = values[..., 2::-1]
    if values.shape[2] == 4:
        alpha = values[..., 3:].astype(np.float32) / 255
        colours = np.rint(colours * alpha + np.array(WALL, np.float32) * (1 - alpha)).astype(np.uint8)
    return np.ascontiguousarray(colours)
