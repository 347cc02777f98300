"""Showcase stage, last step: the film that shows clip and fitted creature beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from .detect.overlay import draw_joints
from .detections import Detections, load_detections
from .errors import BadInputError
from .joint_links import joint_links
from .layout import Layout
from .motion import Motion, load_motion
from .project import ClipPaths
from .showcase_layout import BLEND, CLIP, CLIP_SIDE, FILM_SIZE, FITTED_SIDE, PORTRAIT, Panel
from .stage_context import StageContext
from .video.align import warp
from .video.decode import frames_at
from .video.encode import encoder

Picture = NDArray[np.uint8]

GROUND = (30, 32, 36)
TEXT = (236, 238, 242)
GAP_PX = 2
AROUND = 0.22  # of the creature's size, kept free around it in the side panels
REDRAW = "Run the showcase stage again."


def run(ctx: StageContext) -> dict[str, Any]:
    """Write showcase.mp4.

    Raises:
        BadInputError: a picture or the clip is missing, or clip and motion are of different length.
    """
    files, layout = ctx.paths.clip(ctx.settings["clip"]), ctx.layout()
    motion, detections = load_motion(files.motion), load_detections(files.det)
    links, window = joint_links(ctx.load_rig()), side_window(layout, motion.joints, BLEND)
    with encoder(files.showcase, FILM_SIZE, motion.fps, crf=19) as film:
        for frame, clip in enumerate(_clip_frames(ctx.project.root, motion, detections, layout)):
            film.write(_film_frame(files, layout, motion, detections, links, window, frame, clip))
            ctx.progress(frame + 1, motion.T, "film frames")
        if film.frames != motion.T:
            raise BadInputError(
                f"has {film.frames} frames where the motion has {motion.T}.",
                file=detections.video,
                hint="The clip changed since it was read: run detect and fit again.",
            )
    return {"showcase": str(files.showcase), "frames": motion.T, "size": list(FILM_SIZE)}


def _clip_frames(root: Path, motion: Motion, detections: Detections, layout: Layout) -> Iterator[Picture]:
    """The clip's frame at the time of every frame of the motion, aligned to the layout."""
    video = root / detections.video
    if not video.exists():
        raise BadInputError(
            "The clip that was read is gone.", file=video, hint="Put it back, or run detect again with --video."
        )
    times = np.arange(motion.T) / motion.fps
    for picture in frames_at(video, times):
        yield warp(picture, detections.calib, (layout.width, layout.height))


def _film_frame(
    files: ClipPaths,
    layout: Layout,
    motion: Motion,
    detections: Detections,
    links: list[tuple[int, int]],
    window: tuple[slice, slice],
    frame: int,
    clip: Picture,
) -> Picture:
    seconds = detections.pts - detections.pts[0]
    read = int(np.abs(seconds - frame / motion.fps).argmin())
    fitted = _picture(files.side / f"{frame:05d}.png", (layout.w_side, layout.height))
    fitted, filmed = fitted[window], clip[:, layout.w_front :][window]
    film = np.empty((FILM_SIZE[1], FILM_SIZE[0], 3), np.uint8)
    film[:] = GROUND
    _put(film, CLIP, draw_joints(clip, detections, read, links))
    _put(film, PORTRAIT, _picture(files.persp / f"{frame:05d}.png", (PORTRAIT.width, PORTRAIT.height)))
    _put(film, CLIP_SIDE, filmed)
    _put(film, FITTED_SIDE, fitted)
    _put(film, BLEND, np.asarray(cv2.addWeighted(filmed, 0.5, fitted, 0.5, 0), np.uint8))
    return film


def side_window(layout: Layout, joints: NDArray[np.float64], panel: Panel) -> tuple[slice, slice]:
    """Rows and columns of the side view around all joints (T, J, 3), of the panel's aspect where that fits."""
    uv = layout.project(joints)[1].reshape(-1, 2) - [layout.w_front, 0]
    low, high = uv.min(0), uv.max(0)
    size = (high - low) + 2 * AROUND * (high - low).max()
    aspect = panel.width / panel.height
    size = np.maximum(size, [size[1] * aspect, size[0] / aspect])
    limits = np.array([layout.w_side, layout.height])
    size = np.minimum(size, limits)
    first = np.clip((low + high) / 2 - size / 2, 0, limits - size)
    left, top = np.floor(first).astype(int).tolist()
    right, bottom = np.ceil(first + size).astype(int).tolist()
    return slice(top, bottom), slice(left, right)


def _picture(file: Path, size: tuple[int, int]) -> Picture:
    if not file.exists():
        raise BadInputError("The picture is missing.", file=file, hint=REDRAW)
    picture = cv2.imdecode(np.fromfile(file, np.uint8), cv2.IMREAD_COLOR)
    if picture is None or picture.shape[:2] != size[::-1]:
        raise BadInputError(f"is not a picture of {size[0]} x {size[1]} px.", file=file, hint=REDRAW)
    return np.asarray(picture[..., ::-1], np.uint8)


def _put(film: Picture, panel: Panel, picture: Picture) -> None:
    """The whole picture, as large as the panel allows, in its middle, with the panel's label."""
    height, width = picture.shape[:2]
    room_w, room_h = panel.width - GAP_PX, panel.height - GAP_PX
    zoom = min(room_w / width, room_h / height)
    size = (max(1, round(width * zoom)), max(1, round(height * zoom)))
    way = cv2.INTER_AREA if zoom < 1 else cv2.INTER_LINEAR
    scaled = picture if size == (width, height) else cv2.resize(picture, size, interpolation=way)
    left, top = panel.left + (panel.width - size[0]) // 2, panel.top + (panel.height - size[1]) // 2
    film[top : top + size[1], left : left + size[0]] = scaled
    at = (panel.left + 12, panel.top + 22)
    for colour, thickness in ((GROUND, 3), (TEXT, 1)):
        cv2.putText(film, panel.label, at, cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, thickness, cv2.LINE_AA)
