"""Frames of a clip with their exact presentation times, one pass, none dropped and none doubled."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import AnyMoCapError, BadInputError
from ..layout import WALL
from .ffmpeg import ONLY_FILES, environment, ffmpeg_program, file_address
from .probe import VideoInfo, probe

Picture = NDArray[np.uint8]

MIN_FRAMES = 3
_BASE = re.compile(r"config in time_base: (\d+)/(\d+)")
_FRAME = re.compile(r"\] n:\s*(\d+) pts:\s*(-?\d+|NOPTS)")
_LEVEL = re.compile(r"\[(error|fatal|panic)\] ?(.*)")
# ffmpeg guesses BT.601 for files that do not say; from this height on cameras and video models mean BT.709.
_HD_ROWS = 720
# Frame times may differ by a tick of the container's clock without the rate being variable.
_EVEN_SHARE = 0.02


@dataclass(frozen=True)
class Timing:
    """When the frames are shown.

    Attributes:
        pts: (T) seconds, the first frame at 0, strictly growing.
        fps: frames a second; of a variable rate the usual one, or the mean where no step is usual.
        variable: the steps differ by more than the container's clock explains.
    """

    pts: NDArray[np.float64]
    fps: float
    variable: bool


@dataclass
class _Log:
    """ffmpeg's log as its reader thread fills it; `arrived` guards all fields."""

    arrived: threading.Condition = field(default_factory=threading.Condition)
    tick: float = 0.0
    ticks: list[int | None] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    ended: bool = False

    def read(self, pipe: IO[bytes]) -> None:
        for raw in pipe:
            line = raw.decode("utf-8", "replace").rstrip()
            with self.arrived:
                if match := _FRAME.search(line):
                    self.ticks.append(None if match.group(2) == "NOPTS" else int(match.group(2)))
                elif match := _BASE.search(line):
                    self.tick = int(match.group(1)) / int(match.group(2))
                elif match := _LEVEL.search(line):
                    self.errors.append(match.group(2))
                self.arrived.notify_all()
        with self.arrived:
            self.ended = True
            self.arrived.notify_all()

    def time(self, frame: int, fps: float) -> float:
        """Seconds of a frame on the container's clock; counted frames where the container has no clock."""
        with self.arrived:
            self.arrived.wait_for(lambda: len(self.ticks) > frame or self.ended)
            stamp = self.ticks[frame] if frame < len(self.ticks) else None
        if stamp is None or self.tick <= 0:
            return frame / (fps or 24.0)
        return stamp * self.tick


class FrameSource(Protocol):
    """What gives frames in order; `times` grows with them: seconds on any clock, one a frame given."""

    times: list[float]

    def __iter__(self) -> Iterator[Picture]: ...


class Clip:
    """A clip that is read frame by frame.

    Iterate to get pictures (H, W, 3) uint8 RGB as a player shows them (rotation applied, square pixels, alpha on the
    studio's grey, fields woven into one picture a frame). After the last one `timing()` and `lost_frames` are known.

    Args:
        path: the video file.
        threads: decoder threads; 0 lets ffmpeg choose.

    Raises:
        BadInputError: see `probe`; while iterating: nothing at all could be decoded.
    """

    def __init__(self, path: Path | str, threads: int = 0) -> None:
        self.info: VideoInfo = probe(path)
        self.threads = threads
        self.times: list[float] = []
        self.tick = 0.0
        self.errors: list[str] = []
        self.complete = False

    def __iter__(self) -> Iterator[Picture]:
        self.times, self.errors, self.complete = [], [], False
        info, channels = self.info, 4 if self.info.has_alpha else 3
        size = info.width * info.height * channels
        log = _Log()
        process = subprocess.Popen(
            _command(info, self.threads), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=environment(),
        )  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        reader = threading.Thread(target=log.read, args=(process.stderr,), daemon=True)
        reader.start()
        try:
            while len(data := process.stdout.read(size)) == size:
                self.times.append(log.time(len(self.times), info.fps))
                yield _picture(np.frombuffer(data, np.uint8).reshape(info.height, info.width, channels))
            process.wait()
            reader.join()
            self.complete, self.tick = True, log.tick
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()
            reader.join()
            process.stderr.close()
            self.errors = log.errors
        if not self.times:
            why = self.errors[-1] if self.errors else "ffmpeg gives no reason"
            raise BadInputError(f"No frame of the clip could be decoded: {why}.", file=info.path)

    def timing(self) -> Timing:
        """Times and rate, once every frame was read."""
        if not self.complete:
            raise AnyMoCapError("The clip was not read to its end.", file=self.info.path)
        return timing(np.array(self.times), self.info.fps, self.tick)

    @property
    def lost_frames(self) -> int:
        """Frames that the container promises and that could not be decoded (0 when it promises nothing)."""
        expected = self.info.expected_frames
        missing = 0 if expected is None else expected - len(self.times)
        # Rounding of the claimed duration is no loss; damage is what ffmpeg complains about.
        return max(missing, 0) if self.errors or missing > 2 else 0

    def require_frames(self, count: int = MIN_FRAMES) -> None:
        """Refuse a clip with fewer decoded frames than `count`."""
        if len(self.times) >= count:
            return
        lost = f" ({self.lost_frames} more are damaged or cut off)" if self.lost_frames else ""
        raise BadInputError(
            f"The clip has {len(self.times)} frame{'s' * (len(self.times) != 1)}{lost}; "
            f"a motion needs at least {count}.",
            file=self.info.path,
            hint="Choose a video, not a still picture, or download it again.",
        )


def _command(info: VideoInfo, threads: int) -> list[str]:
    matrix = "" if info.known_matrix else ":in_color_matrix=" + ("bt709" if info.height >= _HD_ROWS else "bt601")
    scale = f"scale={info.width}:{info.height}:flags=bicubic+accurate_rnd+full_chroma_int{matrix}"
    # One frame for each: two a frame would show times that the container does not count.
    fields = "bwdif=mode=send_frame:deint=all," if info.interlaced else ""
    pixels = "rgba" if info.has_alpha else "rgb24"
    decoder = ["-c:v", "libvpx-vp9"] if info.has_alpha and info.codec == "vp9" else []
    return [
        ffmpeg_program(), "-hide_banner", "-nostdin", "-nostats", "-loglevel", "repeat+level+info",
        *ONLY_FILES, "-threads", str(threads), "-fflags", "+discardcorrupt", *decoder, "-i", file_address(info.path),
        "-map", f"0:{info.stream}", "-vf", f"{fields}showinfo=checksum=0,{scale}", "-fps_mode", "passthrough",
        "-f", "rawvideo", "-pix_fmt", pixels, "pipe:1",
    ]  # fmt: skip


def _picture(frame: Picture) -> Picture:
    if frame.shape[2] == 3:
        return frame
    alpha = frame[..., 3:].astype(np.float32) / 255
    solid = frame[..., :3] * alpha + np.array(WALL, np.float32) * (1 - alpha)
    return np.rint(solid).astype(np.uint8)


def timing(times: NDArray[np.float64], claimed_fps: float, tick: float = 0.0) -> Timing:
    """Rate of frames shown at `times` (T) seconds on any clock; see `_rate` for what a claimed rate is worth.

    Args:
        tick: the clock's step in seconds, where it is known.

    Raises:
        BadInputError: the times do not grow.
    """
    pts = times - times[0]
    if len(pts) < 2:
        return Timing(pts, claimed_fps or 24.0, False)
    steps = np.diff(pts)
    usual, mean = float(np.median(steps)), float(pts[-1] / (len(pts) - 1))
    if usual <= 0 or mean <= 0:
        raise BadInputError("The frames' times do not grow.", hint="Convert the clip to a constant frame rate.")
    # One millisecond: the clock of Matroska and WebM, which makes 24 fps read as steps of 41 and 42 ms.
    uneven = np.abs(steps - usual) > max(_EVEN_SHARE * usual, 1.1e-3)
    # A GIF counts in hundredths: its even 24 fps are steps of 4 and 5, never more than one off the even times.
    rounded = bool((np.abs(pts - mean * np.arange(len(pts))) <= 1.05 * tick).all())
    if uneven.any() and not rounded:
        return Timing(pts, 1 / usual if uneven.mean() < 0.5 else 1 / mean, True)
    return Timing(pts, _rate(mean, float(pts[-1]), claimed_fps, max(tick, 1e-3)), False)


def _rate(step: float, span: float, claimed_fps: float, tick: float) -> float:
    """The whole, broadcast or claimed rate that the mean step stands for, as far as a clock of `tick` s can tell.

    A claim is not simply believed: containers claim 1,000 frames a second, or 29.97 for 30000/1001.
    """
    measured = 1 / step
    whole, broadcast = float(round(measured)), round(measured * 1.001) / 1.001
    for rate in (*sorted((whole, broadcast), key=lambda r: abs(r - measured)), claimed_fps):
        if abs(rate / measured - 1) < 1.5 * tick / span:
            return rate
    return measured


def read_clip(path: Path | str, threads: int = 0) -> tuple[list[Picture], Timing]:
    """All frames at once, for short clips and tests."""
    clip = Clip(path, threads)
    frames = list(clip)
    return frames, clip.timing()


def frames_at(path: Path | str, times: NDArray[np.float64], threads: int = 0) -> Iterator[Picture]:
    """For each of the growing `times` (seconds after the first frame) the frame that lies nearest.

    Clips of a constant rate give every frame once; of a variable rate, what a player would show.
    """
    yield from nearest_frames(Clip(path, threads), times)


def nearest_frames(clip: FrameSource, times: NDArray[np.float64]) -> Iterator[Picture]:
    """As `frames_at`, of a clip that is open."""
    wanted = iter(np.asarray(times, float).tolist())
    target = next(wanted, None)
    previous: tuple[float, Picture] | None = None
    for picture in clip:
        now = clip.times[-1] - clip.times[0]
        while target is not None and previous is not None and target <= (previous[0] + now) / 2:
            yield previous[1]
            target = next(wanted, None)
        if target is None:
            return
        previous = (now, picture)
    while target is not None and previous is not None:
        yield previous[1]
        target = next(wanted, None)
