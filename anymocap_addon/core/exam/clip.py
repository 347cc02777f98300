"""The exam's clip: clean frames -> clip.mp4 with the faults of generated video; the true calib goes into truth.npz."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..errors import BadInputError
from ..layout import Layout
from ..stage_context import StageContext
from ..video.encode import encoder
from .faults import Faults, draw_faults, late_front, spoil
from .truth import load_truth, save_truth

Picture = NDArray[np.uint8]
CACHED_FRAMES = 8


def run(ctx: StageContext) -> dict[str, Any]:
    """Encode exam/<clip>/frames/*.png as exam/<clip>/clip.mp4 and record calib and lag in truth.npz.

    Raises:
        BadInputError: frames are missing, damaged, of another size than the layout, or not as many as the truth's.
    """
    paths = ctx.paths.exam(str(ctx.settings["clip"]))
    layout, truth = ctx.layout(), load_truth(paths.truth)
    faults = draw_faults(
        str(ctx.settings.get("faults", "none")), layout, int(ctx.settings.get("seed", 0)),
        float(ctx.settings.get("lag_frames", 0.0)),
    )  # fmt: skip
    files = _frame_files(paths.frames, truth.T)
    load = lru_cache(CACHED_FRAMES)(lambda index: _load(files[index], layout))
    preset = faults.preset
    with encoder(
        paths.clip, faults.size, truth.fps, crf=preset.crf, bitrate_kbps=preset.bitrate_kbps, preset="veryfast"
    ) as out:
        previous = _lagged(load, 0, len(files), faults, layout)
        for index in range(len(files)):
            frame = _lagged(load, index, len(files), faults, layout)
            out.write(spoil(frame, previous, faults, index))
            previous = frame
            ctx.progress(index + 1, len(files), "encoding the exam clip")
    save_truth(paths.truth, dataclasses.replace(truth, calib_true=faults.calib, lag_frames=faults.lag_frames))
    return {"clip": str(paths.clip), "frames": truth.T, "size": list(faults.size), "lag_frames": faults.lag_frames}


def _frame_files(folder: Path, count: int) -> list[Path]:
    files = sorted(folder.glob("[0-9]*.png")) if folder.is_dir() else []
    if len(files) != count:
        raise BadInputError(
            f"The exam has {len(files)} drawn frames for {count} frames of truth.",
            file=folder, hint="Run the exam stage again: it draws what is missing.",
        )  # fmt: skip
    return files


def _load(path: Path, layout: Layout) -> Picture:
    picture = cv2.imdecode(np.frombuffer(path.read_bytes() or b"\0", np.uint8), cv2.IMREAD_COLOR)
    hint = "Delete it and run the exam stage again."
    if picture is None:
        raise BadInputError("The drawn frame is damaged.", file=path, hint=hint)
    if picture.shape[:2] != (layout.height, layout.width):
        raise BadInputError(
            f"The drawn frame is {picture.shape[1]} x {picture.shape[0]}, not {layout.width} x {layout.height}.",
            file=path, hint=hint,
        )  # fmt: skip
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), np.uint8)


def _lagged(load: Callable[[int], Picture], index: int, count: int, faults: Faults, layout: Layout) -> Picture:
    """Frame `index` with its front view `lag_frames` late; the ends stand still."""
    side = load(index)
    if not faults.lag_frames:
        return side
    time = float(np.clip(index - faults.lag_frames, 0, count - 1))
    before = int(time)
    after = min(before + 1, count - 1)
    return late_front(load(before), load(after), time - before, layout, side)
