"""The preview stage: the clip at preview size, frame by frame as det.npz read it (see core/preview_frames.py)."""

from __future__ import annotations

import os
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..atomic import remove_leftovers, replacing
from ..detections import Detections, load_detections
from ..errors import BadInputError
from ..formats import write_json_file
from ..preview_frames import FILLER
from ..stage_context import StageContext
from .decode import frames_at
from .probe import VideoInfo, probe

Picture = NDArray[np.uint8]


def run(ctx: StageContext) -> dict[str, Any]:
    """Write clips/<clip>/preview.npy and preview.json of the clip that was read.

    Raises:
        BadInputError: the clip is not read yet, or its video is missing or shorter than it was.
        AnyMoCapError: the disk is full; what was there before stays.
    """
    files = ctx.paths.clip(str(ctx.settings["clip"]))
    det = load_detections(files.det)
    if not det.video:
        raise BadInputError("does not say which clip it was read from.", file=files.det, hint="Read the clip again.")
    video = ctx.project.root / det.video
    info = probe(video)
    size = preview_size(info, int(ctx.settings["rows"]))
    remove_leftovers(files.folder, files.preview.name)
    with replacing(files.preview) as temporary, temporary.open("wb") as handle:
        # Written, not mapped: on a full disk a mapped file ends the process instead of giving an error.
        array_format: Any = np.lib.format  # numpy gives it no types
        header = {"descr": "|u1", "fortran_order": False, "shape": (det.T, size[1], size[0], 4)}
        array_format.write_array_header_1_0(handle, header)
        threads = int(ctx.settings.get("threads", 0)) or os.cpu_count() or 1
        written = 0
        for picture in frames_at(video, det.pts, threads):
            handle.write(packed(picture, size).data)
            written += 1
            ctx.progress(written, det.T, "storing the frames")
        _need_all(written, det, video)
    told = {"frames": det.T, "rows": size[1], "columns": size[0], "video": det.video}
    write_json_file(files.preview_json, "preview", {**told, "clip_width": info.width, "clip_height": info.height})
    return {"preview": str(files.preview), "frames": det.T, "rows": size[1], "columns": size[0]}


def preview_size(info: VideoInfo, rows: int) -> tuple[int, int]:
    """Columns and rows of the preview of a clip: `rows` high, never larger than the clip."""
    rows = min(rows, info.height)
    return max(1, round(info.width * rows / info.height)), rows


def packed(picture: Picture, size: tuple[int, int]) -> Picture:
    """A picture (H, W, 3) RGB at `size` (columns, rows) as (rows, columns, 4) RGBX."""
    pixels = np.full((size[1], size[0], 4), FILLER, np.uint8)
    pixels[..., :3] = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return pixels


def _need_all(written: int, det: Detections, video: Any) -> None:
    if written != det.T:
        raise BadInputError(
            f"{written} of the {det.T} frames that were read are still in the clip.",
            file=video,
            hint="Read the clip again.",
        )
