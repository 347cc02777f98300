"""The example: a clip of the built-in creature that comes with the add-on, already read."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from ..core.atomic import write_bytes
from ..core.clip_source import add_clip
from ..core.creature import load_creature
from ..core.detections import load_detections, save_detections
from ..core.errors import AnyMoCapError
from ..core.file_mark import mark_file
from ..core.formats import read_json
from ..core.layout import Layout
from ..core.project import CreaturePaths, Project
from ..core.rig import load_rig_info
from ..core.stage_record import StageRecord, load_record, save_record
from .plan import Planned, as_last_time
from .registry import REGISTRY
from .serving import versions
from .state import STAGE_VERSION, creature_values

EXAMPLE_FOLDER = Path(__file__).resolve().parent.parent / "example"
CREATURE = "lynx"
CLIP = "example"
ORIGIN = "came_with"
_SAME_PX = 0.5  # another Blender makes the same mesh to a few tenths of a millimetre


def example_creature(project: Project) -> CreaturePaths:
    """Where the example lies: the lynx, or the first "lynx 2", … that is no creature of the artist's own."""
    number = 1
    while True:
        paths = project.creature(CREATURE if number == 1 else f"{CREATURE} {number}")
        if not paths.assets.exists() or load_record(paths, "example") is not None:
            return paths
        number += 1


def example_plan(paths: CreaturePaths, preview_rows: int) -> list[Planned]:
    """From nothing to a fitted motion and its preview; no reader is trained.

    Args:
        preview_rows: height of the clip in the viewport, px.
    """
    settings_of = as_last_time(paths)

    def fit_settings() -> dict[str, Any]:
        place_example(paths)
        return settings_of(REGISTRY["fit"], CLIP)

    own = [Planned(name, settings_of(REGISTRY[name], None)) for name in ("example", "prep", "rig", "ref")]
    preview = {**settings_of(REGISTRY["preview"], CLIP), "rows": preview_rows}
    return [*own, Planned("fit", fit_settings, CLIP), Planned("preview", preview, CLIP)]


def place_example(paths: CreaturePaths) -> None:
    """Put clip and reading where the clip's stages look for them, as if detect had just run.

    A reading that the artist made of this clip is left alone.

    Raises:
        BadInputError: the creature is not rigged, or a file of the add-on is damaged.
        AnyMoCapError: the rig is not the one that the clip shows; the disk is full.
    """
    former = load_record(paths, "detect", CLIP)
    if former is not None and former.outcome == "done" and ORIGIN not in former.result:
        return
    story = read_json(EXAMPLE_FOLDER / "example.json", "example")
    detections = load_detections(EXAMPLE_FOLDER / "det.npz")
    _check_rig(paths, detections.names, story["layout"])
    video = paths.video(CLIP, 0, CLIP)
    files = paths.clip(CLIP)
    write_bytes(video, (EXAMPLE_FOLDER / "clip.mp4").read_bytes())
    write_bytes(files.overlay, (EXAMPLE_FOLDER / "overlay.mp4").read_bytes())
    add_clip(paths, CLIP, video)
    detections.video = video.relative_to(paths.root).as_posix()
    save_detections(files.det, detections)
    save_record(paths, _record(paths, story["reading"]))


def _check_rig(paths: CreaturePaths, names: tuple[str, ...], layout: dict[str, Any]) -> None:
    own = load_creature(paths.creature_json).layout
    corners = np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 1.0]])
    apart = (
        [np.abs(a - b).max() for a, b in zip(own.project(corners), Layout(**layout).project(corners))] if own else []
    )
    drawn = bool(apart) and max(apart) < _SAME_PX
    if not drawn or load_rig_info(paths.rig_info).keypoints != names:
        raise AnyMoCapError(
            "The built-in creature was changed, so that the example's clip no longer shows it.",
            file=paths.assets,
            hint="Try the example in another project folder.",
        )


def _record(paths: CreaturePaths, reading: dict[str, Any]) -> StageRecord:
    """What detect would have recorded; without a reader, which the creature does not have yet."""
    stage = REGISTRY["detect"]
    settings = stage.item_settings(CLIP)
    read = [*stage.inputs(paths, settings), *stage.optional_inputs(paths, settings)]
    return StageRecord(
        stage=stage.name,
        outcome="done",
        clip=CLIP,
        settings={**settings, **creature_values(stage, paths)},
        inputs=[mark_file(path, paths.root) for path in read if path.exists()],
        outputs=[mark_file(path, paths.root) for path in stage.outputs(paths, settings)],
        result={**reading, ORIGIN: "the example"},
        versions={**versions(), STAGE_VERSION: str(stage.version)},
        started=time.strftime("%Y-%m-%dT%H:%M:%S"),
    )
