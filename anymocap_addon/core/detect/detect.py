"""The detect stage: clip -> det.npz and overlay.mp4."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..clip_source import clip_video
from ..detections import Detections, save_detections
from ..errors import BadInputError
from ..fit.sync import SyncFigures, sync_figures
from ..formats import read_json
from ..joint_links import joint_links
from ..layout import Layout
from ..project import ClipPaths
from ..reader.reading import Reader, Reading
from ..rig import RigInfo
from ..stage_context import StageContext
from ..video.align import Alignment, align, warp
from ..video.decode import MIN_FRAMES, Clip, Timing, frames_at
from ..video.encode import encoder
from .overlay import draw_joints
from .retime import at_times, even_times

Picture = NDArray[np.uint8]

# Enough for the studio's lines; the reference pose is looked for in the first frame alone.
ALIGNED_FRAMES = 5
READING_SHARE = 0.7


def run(ctx: StageContext) -> dict[str, Any]:
    """Read the keypoints of one clip.

    Writes clips/<clip>/det.npz and overlay.mp4. det.npz's notes hold the alignment (method,
    correlation, warnings), lost frames and the sync figures.

    Raises:
        BadInputError: the clip cannot be read or has fewer than three frames; ref.png is missing; the reader knows
            other joints or another layout than the rig.
    """
    video = clip_file(ctx)
    rig, layout = ctx.load_rig(), ctx.layout()
    threads = int(ctx.settings.get("threads", 0)) or os.cpu_count() or 1
    reader = _reader(ctx, rig, layout, threads)
    clip = Clip(video, threads)
    alignment = _aligned(ctx, clip, layout)
    reading, timing = _read(ctx, clip, reader, alignment, layout)
    shown = shown_times(_paths(ctx), video)
    warnings = [*alignment.warnings, *_clip_warnings(clip, timing)]
    for warning in warnings:
        ctx.log(f"Warning: {warning}")
    detections = _detections(ctx, rig, reading, timing, alignment, video, shown)
    figures = sync_figures(
        detections.front_uv[..., 1], detections.side_uv[..., 1],
        detections.front_conf, detections.side_conf, rig.contacts, rig.pairs,
    )  # fmt: skip
    detections.notes = notes = _notes(clip, alignment, warnings, timing, figures)
    save_detections(_paths(ctx).det, detections)
    for name, value in notes["sync"].items():
        if value is not None:
            ctx.metric(name, value)
    _draw_overlay(ctx, detections, alignment, layout, joint_links(rig), threads)
    return {
        "det": str(_paths(ctx).det),
        "overlay": str(_paths(ctx).overlay),
        "frames": detections.T,
        "confidence_mean": float(np.mean([detections.front_conf, detections.side_conf])),
        **notes,
    }


def _paths(ctx: StageContext) -> ClipPaths:
    return ctx.paths.clip(str(ctx.settings["clip"]))


def clip_file(ctx: StageContext) -> Path:
    """The clip that the settings name; when `video` is empty the one that was added, or the exam clip of that name."""
    named = str(ctx.settings.get("video") or "")
    if not named:
        return clip_video(ctx.paths, str(ctx.settings["clip"]))
    path = Path(named).expanduser()
    return path if path.is_absolute() or path.exists() else ctx.project.root / path


def shown_times(files: ClipPaths, video: Path) -> NDArray[np.float64] | None:
    """When the original shows the frames of a taken clip, seconds; None where that is when the clip shows them."""
    if video != files.taken or not files.take_json.exists():
        return None
    shown = read_json(files.take_json, "take").get("shown_s")
    return None if shown is None else np.array(shown, float)


def load_reference(path: Path, layout: Layout) -> Picture:
    """ref.png as (720, 1280, 3) RGB.

    Raises:
        BadInputError: missing, no picture, or not as large as the layout.
    """
    if not path.is_file():
        raise BadInputError("There is no reference frame.", file=path, hint="Run the ref stage.")
    # Not cv2.imread: it cannot open every path that Python can.
    picture = cv2.imdecode(np.frombuffer(path.read_bytes() or b"\0", np.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        raise BadInputError("The reference frame is damaged.", file=path, hint="Run the ref stage again.")
    if picture.shape[:2] != (layout.height, layout.width):
        raise BadInputError(
            f"The reference frame is {picture.shape[1]} x {picture.shape[0]}, the layout "
            f"{layout.width} x {layout.height}.", file=path, hint="Run the ref stage again.",
        )  # fmt: skip
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), np.uint8)


def _reader(ctx: StageContext, rig: RigInfo, layout: Layout, threads: int) -> Reader:
    reader = Reader.load(ctx.paths.reader_pt, threads)
    if tuple(reader.names) != rig.keypoints:
        strange = sorted(set(reader.names) ^ set(rig.keypoints))[:4]
        what = f"differing in {', '.join(strange)}" if strange else "in another order"
        raise BadInputError(
            f"The reader was trained for other joints than the rig has ({what}).",
            file=ctx.paths.reader_pt, key="names", hint="Run the dataset and train stages again.",
        )  # fmt: skip
    if reader.layout != layout:
        raise BadInputError(
            "The reader was trained for another layout than creature.json has.",
            file=ctx.paths.reader_pt, key="layout", hint="Run the ref, dataset and train stages again.",
        )  # fmt: skip
    return reader


def _aligned(ctx: StageContext, clip: Clip, layout: Layout) -> Alignment:
    first = list(islice(clip, ALIGNED_FRAMES))
    if len(first) < MIN_FRAMES:
        clip.require_frames(MIN_FRAMES)
    alignment = align(load_reference(ctx.paths.ref_png, layout), first, layout)
    ctx.log(f"Alignment by {alignment.method}, correlation {alignment.correlation:.3f}.")
    ctx.metric("alignment", alignment.method)
    return alignment


def _read(
    ctx: StageContext, clip: Clip, reader: Reader, alignment: Alignment, layout: Layout
) -> tuple[Reading, Timing]:
    expected = clip.info.expected_frames or 0
    size = (layout.width, layout.height)

    def aligned() -> Iterator[Picture]:
        for picture in clip:
            yield warp(picture, alignment.calib, size)

    def report(done: int) -> None:
        ctx.progress(READING_SHARE * done / max(expected, done), 1.0, "reading")

    reading = reader.read(aligned(), report)
    clip.require_frames()
    return reading, clip.timing()


def _clip_warnings(clip: Clip, timing: Timing) -> list[str]:
    warnings = []
    if clip.lost_frames:
        warnings.append(
            f"About {clip.lost_frames} of {clip.info.expected_frames} frames are damaged or cut off; the first "
            f"{len(clip.times)} were read."
        )
    if timing.variable:
        warnings.append(
            f"The clip's frame rate varies. The joints were laid on even steps of {timing.fps:.3f} frames a second."
        )
    return warnings


def _detections(
    ctx: StageContext, rig: RigInfo, reading: Reading, timing: Timing, alignment: Alignment, video: Path,
    shown: NDArray[np.float64] | None,
) -> Detections:  # fmt: skip
    arrays: dict[str, Any] = {name: np.asarray(getattr(reading, name), float) for name in _ARRAYS}
    pts = timing.pts
    if shown is not None and len(shown) == len(pts):
        # A frame that stands in for its neighbours was seen at one time only: between such times lie the joints.
        seen, first = np.unique(shown, return_index=True)
        arrays = {name: at_times(values[first], seen, pts) for name, values in arrays.items()}
    if timing.variable:
        times = even_times(timing)
        arrays = {name: at_times(values, pts, times) for name, values in arrays.items()}
        pts = times
    return Detections(
        names=rig.keypoints, fps=timing.fps, pts=pts, calib=alignment.calib, video=_portable(ctx, video), **arrays
    )


def _portable(ctx: StageContext, video: Path) -> str:
    """Relative to the project where the clip lies within, so that a moved project finds it."""
    path, root = video.resolve(), ctx.project.root
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


_ARRAYS = ("front_uv", "side_uv", "front_conf", "side_conf")


def _notes(
    clip: Clip, alignment: Alignment, warnings: list[str], timing: Timing, figures: SyncFigures
) -> dict[str, Any]:
    agreement = figures.paw_agreement
    return {
        "fps": timing.fps,
        "clip_size": [clip.info.width, clip.info.height],
        "lost_frames": clip.lost_frames,
        "variable_rate": timing.variable,
        "alignment": alignment.record(),
        "warnings": warnings,
        "sync": {
            "paw_agreement": None if math.isnan(agreement) else agreement,
            "height_gap_px": figures.height_gap_px,
            "lag_frames": figures.lag_frames,
        },
    }


def _draw_overlay(
    ctx: StageContext, detections: Detections, alignment: Alignment, layout: Layout,
    links: list[tuple[int, int]], threads: int,
) -> None:  # fmt: skip
    size = (layout.width, layout.height)
    pictures = frames_at(ctx.project.root / detections.video, detections.pts, threads)
    with encoder(_paths(ctx).overlay, size, detections.fps, crf=20, threads=threads) as out:
        for frame, picture in enumerate(pictures):
            out.write(draw_joints(warp(picture, alignment.calib, size), detections, frame, links))
            share = (frame + 1) / detections.T
            ctx.progress(READING_SHARE + (1 - READING_SHARE) * share, 1.0, "drawing overlay.mp4")
