"""H.264 files that every player and Blender can show, whole or not at all."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from ..atomic import replacing
from ..errors import AnyMoCapError
from .ffmpeg import environment, ffmpeg_program, file_address

Picture = NDArray[np.uint8]
_FULL = "No space left"


class Encoder:
    """A running encoder; made by `encoder`. `write` takes (H, W, 3) uint8 RGB pictures of one even size."""

    def __init__(self, process: subprocess.Popen[bytes], size: tuple[int, int], target: Path) -> None:
        self._process = process
        self._size = size
        self._target = target
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.frames = 0

    def _read(self) -> None:
        pipe = self._process.stderr
        assert pipe is not None
        self._lines.extend(line.decode("utf-8", "replace").strip() for line in pipe)

    def write(self, picture: Picture) -> None:
        """Append one frame."""
        if picture.shape != (self._size[1], self._size[0], 3) or picture.dtype != np.uint8:
            raise ValueError(f"a frame is {picture.dtype} {picture.shape}, not uint8 {self._size[::-1]} RGB")
        pipe = self._process.stdin
        assert pipe is not None
        try:
            pipe.write(np.ascontiguousarray(picture).data)
        except BrokenPipeError as error:
            raise self._failure() from error
        self.frames += 1

    def finish(self) -> None:
        """Write what is left; the file is complete afterwards."""
        pipe: IO[bytes] | None = self._process.stdin
        assert pipe is not None
        try:
            pipe.close()
        except BrokenPipeError as error:
            raise self._failure() from error
        if self._process.wait() != 0 or self.frames == 0:
            raise self._failure()
        self._reader.join()

    def _failure(self) -> AnyMoCapError:
        self._process.wait()
        self._reader.join()
        if self.frames == 0:
            return AnyMoCapError("A video without frames cannot be written.", file=self._target)
        reason = next((line for line in self._lines if _FULL in line), self._lines[-1] if self._lines else "no reason")
        hint = "Free some space and run the stage again." if _FULL in reason else ""
        return AnyMoCapError(f"ffmpeg could not write the video: {reason}.", file=self._target, hint=hint)

    def stop(self) -> None:
        """End the process, whatever state it is in."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stderr):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # what was buffered for a process that has ended


def _quality(crf: float | None, bitrate_kbps: float | None) -> list[str]:
    if bitrate_kbps is None:
        return ["-crf", f"{18 if crf is None else crf:g}"]
    rate = f"{bitrate_kbps:g}k"
    return ["-b:v", rate, "-maxrate", rate, "-bufsize", f"{2 * bitrate_kbps:g}k"]


@contextmanager
def encoder(
    path: Path | str,
    size: tuple[int, int],
    fps: float,
    *,
    crf: float | None = None,
    bitrate_kbps: float | None = None,
    preset: str = "veryfast",
    threads: int = 0,
) -> Iterator[Encoder]:
    """An open H.264 file (yuv420p, BT.709, index at the front); it appears under its name when the block ends well.

    Args:
        path: where to; `.mp4` or `.mkv`.
        size: (width, height) in px, both even because chroma is halved.
        fps: frames a second.
        crf: constant quality, 18 when neither it nor `bitrate_kbps` is given.
        bitrate_kbps: constrained bitrate instead, kbit/s.
        threads: 0 lets the encoder choose.

    Raises:
        AnyMoCapError: the disk is full, ffmpeg fails, or no frame was written.
    """
    width, height = size
    if width % 2 or height % 2:
        raise ValueError(f"size {size} is not even")
    rate = Fraction(fps).limit_denominator(1001)
    with replacing(path) as temporary:
        command = [
            ffmpeg_program(), "-hide_banner", "-nostats", "-loglevel", "warning", "-y",
            "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(rate), "-i", "pipe:0",
            "-an", "-vf", "scale=out_color_matrix=bt709:out_range=tv:flags=accurate_rnd+full_chroma_inp",
            "-c:v", "libx264", "-preset", preset, *_quality(crf, bitrate_kbps), "-pix_fmt", "yuv420p",
            "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv",
            "-threads", str(threads), "-movflags", "+faststart", file_address(temporary),
        ]  # fmt: skip
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment()
        )
        running = Encoder(process, size, Path(path))
        try:
            yield running
            running.finish()
        finally:
            running.stop()


def encode(
    path: Path | str,
    frames: Iterable[Picture],
    fps: float,
    *,
    crf: float | None = None,
    bitrate_kbps: float | None = None,
    preset: str = "veryfast",
    threads: int = 0,
) -> int:
    """Write all `frames` (see `encoder`); the first one gives the size. Returns how many were written."""
    pictures = iter(frames)
    first = next(pictures, None)
    if first is None:
        raise AnyMoCapError("A video without frames cannot be written.", file=path)
    size = (first.shape[1], first.shape[0])
    with encoder(path, size, fps, crf=crf, bitrate_kbps=bitrate_kbps, preset=preset, threads=threads) as out:
        out.write(first)
        for picture in pictures:
            out.write(picture)
        return out.frames
