"""The take stage: any video file or numbered pictures -> clips/<clip>/source.mp4, the one form that all stages read.

source.mp4 has a constant frame rate that starts at 0, square pixels, the picture upright, even sides, progressive
frames, 8 bits, and no sound. A file that is all that already goes in without being encoded again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atomic import remove_leftovers, replacing
from ..clip_source import add_clip, added_video, original_video
from ..detect.retime import even_times
from ..errors import AnyMoCapError, BadInputError
from ..file_mark import file_sha256
from ..formats import write_json_file
from ..project import ClipPaths
from ..stage_context import StageContext
from .decode import MIN_FRAMES, Clip, Timing, nearest_frames
from .encode import encoder
from .ffmpeg import ONLY_FILES, environment, ffmpeg_program, file_address
from .probe import VideoInfo
from .sequence import PictureSequence, is_sequence, open_sequence

Picture = NDArray[np.uint8]
Source = Clip | PictureSequence

# Beyond what a viewer can tell from the original: the reader gets no second helping of compression.
CRF = 10.0
COUNTING_SHARE, WRITING_SHARE = 0.2, 0.6


def run(ctx: StageContext) -> dict[str, Any]:
    """Write clips/<clip>/source.mp4 and take.json, and clip.json when the clip is new.

    The original is never changed; one that lies outside the project is copied into clips/<clip>/original.

    Raises:
        BadInputError: no such file, no picture in it, fewer than three frames, pictures of several sizes, or the clip
            was made of another video.
        AnyMoCapError: the disk is full, or the written frames are not those expected; what was there before stays.
    """
    files = ctx.paths.clip(str(ctx.settings["clip"]))
    original = _original(ctx)
    threads = int(ctx.settings.get("threads", 0)) or os.cpu_count() or 1
    rate = float(ctx.settings.get("rate", 0.0))
    source = open_source(original, rate, threads)
    timing, warnings = _counted(ctx, source, rate)
    _keep(ctx, original, files)
    remove_leftovers(files.folder, files.taken.name)
    written = _write(ctx, source, timing, files.taken, threads)
    for warning in warnings:
        ctx.log(f"Warning: {warning}")
    told = {
        **written, "fps": timing.fps, "original": _described(ctx, original, source),
        "source_frames": len(timing.pts), "warnings": warnings,
    }  # fmt: skip
    write_json_file(files.take_json, "take", told)
    return {"video": str(files.taken), **{key: value for key, value in told.items() if key != "shown_s"}}


def open_source(path: Path, rate: float = 0.0, threads: int = 0) -> Source:
    """Open a video file, or numbered pictures at `rate` (pictures a second, 0 = 24).

    Raises:
        BadInputError: missing, unreadable, or without a picture.
    """
    return open_sequence(path, rate) if is_sequence(path) else Clip(path, threads)


def _original(ctx: StageContext) -> Path:
    """The clip as it came; a new clip is added here."""
    name, named = str(ctx.settings["clip"]), str(ctx.settings.get("video") or "")
    if named:
        path = Path(named).expanduser()
        path = path if path.is_absolute() or path.exists() else ctx.project.root / path
        # Its kept copy stands for a file that is gone.
        if path.exists() or added_video(ctx.paths, name) is None:
            add_clip(ctx.paths, name, path)
    original = original_video(ctx.paths, name)
    if original is None:
        raise BadInputError(
            f"There is no clip {name!r}.", key="video", hint="Give --video FILE: a video of both views, or pictures."
        )
    return original


def _counted(ctx: StageContext, source: Source, rate: float) -> tuple[Timing, list[str]]:
    """Times of all frames, which are decoded once for it, and what is to be said about them."""
    if isinstance(source, PictureSequence):
        timing, warnings = source.timing(), []
        if len(source.files) < MIN_FRAMES:
            raise BadInputError(
                f"The sequence has {len(source.files)} pictures; a motion needs at least {MIN_FRAMES}.",
                file=source.files[0],
            )
        if source.missing:
            warnings.append(f"{source.missing} numbers of the sequence have no picture; their neighbours stand in.")
        return timing, warnings
    for done, _ in enumerate(source, 1):
        expected = max(source.info.expected_frames or 0, done)
        ctx.progress(COUNTING_SHARE * done / expected, 1.0, "counting the frames")
    source.require_frames()
    timing, warnings = source.timing(), []
    if source.lost_frames:
        warnings.append(
            f"About {source.lost_frames} of {source.info.expected_frames} frames are damaged or cut off; the other "
            f"{len(timing.pts)} were taken."
        )
    if rate:
        timing = Timing(np.arange(len(timing.pts)) / rate, rate, False)
    if timing.variable:
        warnings.append(
            f"The frame rate varies. The frames were laid on even steps of {timing.fps:.3f} a second; the reading "
            "keeps their true times."
        )
    return timing, warnings


def _write(ctx: StageContext, source: Source, timing: Timing, target: Path, threads: int) -> dict[str, Any]:
    """Write the taken clip, count it, and return what take.json says of it."""
    times = even_times(timing) if timing.variable else timing.pts
    if isinstance(source, Clip) and is_clean(source, timing):
        with replacing(target) as temporary:
            _copy_stream(source.info, temporary)
            if _is_whole(temporary, len(times), timing.fps, threads):
                size = (source.info.width, source.info.height)
                return _told(size, size, len(times), True, None)
            temporary.unlink()
            shown, size = _encode(ctx, source, timing, times, temporary, threads)
            _check(temporary, target, len(times), timing.fps, threads)
    else:
        with replacing(target) as temporary:
            shown, size = _encode(ctx, source, timing, times, temporary, threads)
            _check(temporary, target, len(times), timing.fps, threads)
    return _told(size, (size[0] + size[0] % 2, size[1] + size[1] % 2), len(times), False, shown)


def _told(
    shown: tuple[int, int], stored: tuple[int, int], frames: int, copied: bool, shown_s: list[float] | None
) -> dict[str, Any]:
    told: dict[str, Any] = {"frames": frames, "width": stored[0], "height": stored[1], "copied": copied}
    told["padded"] = [stored[0] - shown[0], stored[1] - shown[1]]
    if shown_s is not None:
        told["shown_s"] = shown_s
    return told


def is_clean(clip: Clip, timing: Timing) -> bool:
    """Whether a clip that was read to its end already is what take makes, so that its stream can be copied."""
    info = clip.info
    return (
        info.codec == "h264"
        and info.pixel_format == "yuv420p"
        and not (info.full_range or info.interlaced or info.rotation_deg or timing.variable or clip.lost_frames)
        and (info.width, info.height) == (info.coded_width, info.coded_height)
        and info.width % 2 == info.height % 2 == 0
        and np.allclose(timing.pts, np.array(clip.times) - clip.times[0], atol=1e-3)
    )


def _copy_stream(info: VideoInfo, target: Path) -> None:
    command = [
        ffmpeg_program(), "-hide_banner", "-nostdin", "-loglevel", "error", *ONLY_FILES, "-i", file_address(info.path),
        "-map", f"0:{info.stream}", "-c", "copy", "-map_metadata", "-1", "-movflags", "+faststart", "-y",
        file_address(target),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, env=environment(), check=False)
    if done.returncode:  # the container takes no such stream: it is encoded instead
        target.unlink(missing_ok=True)


def _encode(
    ctx: StageContext, source: Source, timing: Timing, times: NDArray[np.float64], target: Path, threads: int
) -> tuple[list[float] | None, tuple[int, int]]:
    """Encode the frame nearest to each of `times`; returns when they were shown (None where that is `times`) and the
    picture's size before it was made even.
    """
    shown: list[float] = []
    size = (0, 0)
    pictures = _frames(source, timing, times, shown)
    first = next(pictures)
    size = (first.shape[1], first.shape[0])
    with encoder(target, (size[0] + size[0] % 2, size[1] + size[1] % 2), timing.fps, crf=CRF, threads=threads) as out:
        out.write(_even(first))
        for done, picture in enumerate(pictures, 2):
            out.write(_even(picture))
            ctx.progress(COUNTING_SHARE + WRITING_SHARE * done / len(times), 1.0, "writing source.mp4")
    return (shown if timing.variable else None), size


def _frames(source: Source, timing: Timing, times: NDArray[np.float64], shown: list[float]) -> Iterator[Picture]:
    """All frames of a constant rate; of a variable one the nearest to each time, whose true times go into `shown`."""
    if not timing.variable:
        yield from source
        return
    middles = (timing.pts[1:] + timing.pts[:-1]) / 2
    shown += timing.pts[np.searchsorted(middles, times)].tolist()
    yield from nearest_frames(source, times)


def _even(picture: Picture) -> Picture:
    """The last row or column again where their number is odd: nothing is scaled."""
    height, width = picture.shape[:2]
    if height % 2 == width % 2 == 0:
        return picture
    return np.pad(picture, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")


def _is_whole(path: Path, frames: int, fps: float, threads: int) -> bool:
    """Whether the written clip has exactly these frames at even times from 0."""
    if not path.is_file() or path.stat().st_size == 0:
        return False
    clip = Clip(path, threads)
    count = sum(1 for _ in clip)
    even = np.allclose(clip.times, np.arange(count) / fps, atol=2e-3)
    return count == frames and even


def _check(path: Path, target: Path, frames: int, fps: float, threads: int) -> None:
    if not _is_whole(path, frames, fps, threads):
        raise AnyMoCapError(
            f"The written clip does not have the {frames} frames that were expected at {fps:g} a second.",
            file=target, hint="Convert the clip to MP4 (H.264) with a constant frame rate and try again.",
        )  # fmt: skip


def _keep(ctx: StageContext, original: Path, files: ClipPaths) -> None:
    """Copy an original from outside into the project: downloads are deleted, and projects are moved."""
    if original.resolve().is_relative_to(ctx.project.root):
        return
    pictures = open_sequence(original).files if is_sequence(original) else None
    if pictures is None:
        _copy(original, files.original / original.name)
        return
    folder = files.original / original.name if original.is_dir() else files.original
    for picture in pictures:
        ctx.check_cancel()
        _copy(picture, folder / picture.name)


def _copy(source: Path, target: Path) -> None:
    if target.is_file() and target.stat().st_size == source.stat().st_size and _same(source, target):
        return
    with replacing(target) as temporary:
        shutil.copyfile(source, temporary)


def _same(one: Path, other: Path) -> bool:
    return file_sha256(one) == file_sha256(other)


def _described(ctx: StageContext, original: Path, source: Source) -> dict[str, Any]:
    """The original: where it is, and what it was."""
    path = original.resolve()
    inside = path.is_relative_to(ctx.project.root)
    told: dict[str, Any] = {"path": path.relative_to(ctx.project.root).as_posix() if inside else str(path)}
    if isinstance(source, PictureSequence):
        return {**told, "pictures": len(source.files), "missing": source.missing, "rate": source.rate}
    info = source.info
    return {
        **told, "size": path.stat().st_size, "sha256": file_sha256(path), "codec": info.codec,
        "pixel_format": info.pixel_format, "coded_width": info.coded_width, "coded_height": info.coded_height,
        "rotation_deg": info.rotation_deg, "interlaced": info.interlaced, "has_alpha": info.has_alpha,
        "has_audio": info.has_audio, "claimed_fps": info.fps,
    }  # fmt: skip
