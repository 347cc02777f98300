"""What a clip is, without decoding it: size as shown, rate, rotation, pixel format."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadInputError
from .ffmpeg import describe

_DURATION = re.compile(r"Duration: (\d+):(\d+):(\d+(?:\.\d+)?)")
_STREAM = re.compile(r"^\s*Stream #0:(\d+)\S*: (Video|Audio): (.*)$")
_SIZE = re.compile(r"^(\d+)x(\d+)(?: \[SAR (\d+):(\d+) DAR \d+:\d+\])?")
_ROTATION = re.compile(r"rotation of (-?\d+(?:\.\d+)?) degrees")
_RATE = re.compile(r"^(\d+(?:\.\d+)?)(k?) (fps|tbr)$")
_MATRICES = ("bt709", "bt470bg", "smpte170m", "bt2020", "fcc", "smpte240m", "gbr", "ycgco")
_FIELDS = ("top first", "bottom first", "top coded first", "bottom coded first")
_ALPHA = ("yuva", "rgba", "bgra", "argb", "abgr", "gbrap", "ya8", "ya16", "pal8")


@dataclass(frozen=True)
class VideoInfo:
    """The video stream that will be decoded.

    Attributes:
        path: the file.
        stream: index of the stream in the file (the largest picture that is no cover art).
        width, height: px as shown: rotation and pixel aspect applied.
        coded_width, coded_height: px as stored.
        fps: frames a second as the container claims; 0 when it claims none.
        rotation_deg: how far a player turns the picture (0, 90, 180, -90).
        duration_s: as the container claims; None when it does not say.
        codec, pixel_format: ffmpeg's names.
        full_range: the picture uses all 256 levels.
        has_alpha, has_audio: audio is ignored, alpha is laid on the studio's grey.
        known_matrix: the file says how its colours were coded.
        interlaced: a frame holds two fields of different times.
    """

    path: Path
    stream: int
    width: int
    height: int
    coded_width: int
    coded_height: int
    fps: float
    rotation_deg: int
    duration_s: float | None
    codec: str
    pixel_format: str
    full_range: bool
    has_alpha: bool
    has_audio: bool
    known_matrix: bool
    interlaced: bool = False

    @property
    def expected_frames(self) -> int | None:
        """Frames that the container promises, or None."""
        if self.duration_s is None or self.fps <= 0:
            return None
        return round(self.duration_s * self.fps)


@dataclass
class _Stream:
    index: int
    fields: list[str]
    rotation: float = 0.0

    def size(self) -> tuple[int, int, float] | None:
        """Width and height as stored, and the pixel's aspect."""
        for field in self.fields[1:]:
            if match := _SIZE.match(field):
                width, height, a, b = match.groups()
                aspect = int(a) / int(b) if a and int(a) and int(b) else 1.0
                return int(width), int(height), aspect
        return None

    @property
    def cover(self) -> bool:
        return any("(attached pic)" in field for field in self.fields)

    def rate(self, kind: str) -> float:
        for field in self.fields:
            match = _RATE.match(field.split(" (")[0])
            if match and match.group(3) == kind:
                return float(match.group(1)) * (1000.0 if match.group(2) else 1.0)
        return 0.0


def _fields(text: str) -> list[str]:
    """Split at the commas that stand outside brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += letter in "([" or -(letter in ")]")
        if letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()]


def _streams(text: str) -> tuple[list[_Stream], bool]:
    """All video streams, and whether there is audio."""
    found: list[_Stream] = []
    current: _Stream | None = None
    audio = False
    for line in text.splitlines():
        if match := _STREAM.match(line):
            current = None
            if match.group(2) == "Audio":
                audio = True
            elif int(match.group(1)) not in [stream.index for stream in found]:
                current = _Stream(int(match.group(1)), _fields(match.group(3)))
                found.append(current)
        elif current is not None and (turned := _ROTATION.search(line)):
            current.rotation = float(turned.group(1))
    return found, audio


def probe(path: Path | str) -> VideoInfo:
    """Look at a clip.

    Raises:
        BadInputError: missing, zero bytes, unreadable, or without a picture.
    """
    file = Path(path)
    text = describe(file)
    streams, audio = _streams(text)
    sized = [(s, size) for s in streams if (size := s.size()) is not None and not s.cover]
    if not sized:
        raise BadInputError("The file holds no video picture.", file=file, hint="Choose the clip, not its sound.")
    stream, (width, height, aspect) = max(sized, key=lambda pair: pair[1][0] * pair[1][1])
    shown = (round(width * aspect), height)
    rotation = round(((stream.rotation + 180) % 360 - 180) / 90) * 90
    if abs(rotation) == 90:
        shown = (shown[1], shown[0])
    pixels = next((f for f in stream.fields[1:] if re.match(r"^[a-z]", f)), "")
    duration = _DURATION.search(text)
    hours, minutes, seconds = duration.groups() if duration else ("0", "0", "0")
    name = pixels.split("(")[0].strip()
    return VideoInfo(
        path=file,
        stream=stream.index,
        width=shown[0],
        height=shown[1],
        coded_width=width,
        coded_height=height,
        fps=stream.rate("fps") or stream.rate("tbr"),
        rotation_deg=rotation,
        duration_s=int(hours) * 3600 + int(minutes) * 60 + float(seconds) if duration else None,
        codec=stream.fields[0].split(" ")[0],
        pixel_format=name,
        full_range="(pc" in pixels or name.startswith("yuvj"),
        has_alpha=name.startswith(_ALPHA),
        has_audio=audio,
        known_matrix=any(matrix in pixels for matrix in _MATRICES) or not name.startswith(("yuv", "nv", "p0")),
        interlaced=any(order in pixels for order in _FIELDS),
    )
