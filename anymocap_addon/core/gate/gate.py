"""The gate stage: a clip is scored before it is read, and refused with reasons and a picture."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..clip_source import clip_video
from ..detect.detect import load_reference
from ..errors import BadInputError
from ..formats import write_json_file
from ..stage_context import StageContext
from ..video.decode import Clip
from .judge import judge
from .limits import LIMITS
from .picture import write_picture

Picture = NDArray[np.uint8]

# 15 seconds at 24 frames a second; of longer clips every second, third … frame is looked at.
MOST_FRAMES = 360
DECODING_SHARE = 0.5


def run(ctx: StageContext) -> dict[str, Any]:
    """Write clips/<clip>/gate.json and gate.png.

    Raises:
        BadInputError: the clip is refused and `allow` is not set; or there is no clip, or no ref.png.
    """
    files = ctx.paths.clip(str(ctx.settings["clip"]))
    video = clip_video(ctx.paths, files.name)
    layout, creature = ctx.layout(), ctx.load_creature()
    ref = load_reference(ctx.paths.ref_png, layout)
    threads = int(ctx.settings.get("threads", 0)) or os.cpu_count() or 1
    pictures, fps = sampled(video, threads, lambda share: ctx.progress(DECODING_SHARE * share, 1.0, "looking"))
    verdict = judge(
        pictures, ref, layout, creature.paint, fps,
        progress=lambda share: ctx.progress(DECODING_SHARE + (1 - DECODING_SHARE) * share, 1.0, "checking"),
    )  # fmt: skip
    allowed = bool(ctx.settings.get("allow", False))
    write_picture(files.gate_png, verdict, pictures, ref, layout)
    told = {
        **verdict.record(), "allowed": allowed, "frames": len(pictures), "fps": fps, "video": _shown(ctx, video),
        "limits": asdict(LIMITS),
    }  # fmt: skip
    write_json_file(files.gate_json, "gate", told)
    for reason in verdict.reasons:
        ctx.log(f"{'Allowed' if allowed else 'Refused'}: {reason}.")
    if verdict.refused and not allowed:
        raise BadInputError(
            f"The clip is refused: {'; '.join(verdict.reasons)}.",
            file=files.gate_png, hint="Film it again, or set Allow (--allow) to read it all the same.",
        )  # fmt: skip
    return {
        "gate": str(files.gate_json), "picture": str(files.gate_png), "refused": verdict.refused,
        "warnings": verdict.reasons,
    }  # fmt: skip


def sampled(
    video: Path, threads: int = 0, progress: Callable[[float], None] = lambda share: None
) -> tuple[list[Picture], float]:
    """The frames to be judged and their rate: all of them, or of a long clip every second, third … one.

    Raises:
        BadInputError: no clip, or fewer than three frames.
    """
    clip = Clip(video, threads)
    expected = clip.info.expected_frames or 0
    every, kept = max(1, -(-expected // MOST_FRAMES)), []
    for index, picture in enumerate(clip):
        if index % every == 0:
            kept.append(picture)
        if len(kept) > MOST_FRAMES:  # the container promised fewer
            kept, every = kept[::2], every * 2
        progress(min(index / max(expected, index + 1), 1.0))
    clip.require_frames()
    return kept, clip.timing().fps / every


def _shown(ctx: StageContext, video: Path) -> str:
    path, root = video.resolve(), ctx.project.root
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
