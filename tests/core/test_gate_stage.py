"""The gate as a stage: it stops a clip before the reading, says why in words and a picture, and can be overruled."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from anymocap_addon.core.clip_source import add_clip, clip_video
from anymocap_addon.core.creature import Creature, save_creature
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.formats import read_json
from anymocap_addon.core.gate import gate
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.stage_context import StageContext
from anymocap_addon.core.video import take
from anymocap_addon.core.video.encode import encode
from anymocap_addon.jobs.plan import stale_plan
from anymocap_addon.jobs.registry import REGISTRY

from .two_view_clip import LAYOUT, PAINT, clip, frame

COUNT = 24


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    paths = Project(tmp_path / "project").creature("crate")
    save_creature(paths.creature_json, Creature("crate", layout=LAYOUT, paint=PAINT))
    paths.ref_png.parent.mkdir(parents=True)
    reference = cv2.cvtColor(frame(0.0, move=0.0), cv2.COLOR_RGB2BGR)
    paths.ref_png.write_bytes(cv2.imencode(".png", reference)[1].tobytes())
    return paths


def context(paths: CreaturePaths, **settings: object) -> StageContext:
    return StageContext(Project(paths.root), paths, {"clip": "walk", "threads": 1, **settings})


def test_a_good_clip_passes_and_a_bad_one_stops_with_reasons_and_a_picture(
    paths: CreaturePaths, tmp_path: Path
) -> None:
    encode(tmp_path / "good.mp4", clip(COUNT), 24.0)
    take.run(context(paths, video=str(tmp_path / "good.mp4")))
    files = paths.clip("walk")
    assert gate.run(context(paths))["refused"] is False
    told = read_json(files.gate_json, "gate")
    assert not told["refused"] and told["frames"] == COUNT and told["video"].endswith("clips/walk/source.mp4")
    assert [check["check"] for check in told["checks"]] == ("split camera step colours inside same motion cut".split())
    encode(tmp_path / "still.mp4", [clip(1)[0]] * COUNT, 24.0)
    files.source.unlink()
    take.run(context(paths, video=str(tmp_path / "still.mp4")))
    with pytest.raises(BadInputError, match=r"gate\.png: The clip is refused: nothing moves.*--allow"):
        gate.run(context(paths))
    told = read_json(files.gate_json, "gate")
    assert told["refused"] and told["reasons"] == ["nothing moves in the whole clip"] and not told["allowed"]
    picture = cv2.imdecode(np.frombuffer(files.gate_png.read_bytes(), np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None and picture.shape[1] == 1280
    result = gate.run(context(paths, allow=True))
    assert result["refused"] and result["warnings"] == ["nothing moves in the whole clip"]


def test_run_takes_in_and_judges_added_clips_only(paths: CreaturePaths, tmp_path: Path) -> None:
    paths.model().write_bytes(b"mesh")
    encode(tmp_path / "good.mp4", clip(3), 24.0)
    add_clip(paths, "walk", tmp_path / "good.mp4")
    paths.exam("test").folder.mkdir(parents=True)
    paths.exam("test").clip.write_bytes(b"exam")
    planned = [(plan.stage_name, plan.item) for plan in stale_plan(REGISTRY, paths, ["walk", "test"])]
    of_walk = [name for name, item in planned if item == "walk"]
    assert of_walk[:3] == ["take", "gate", "detect"]
    assert next(name for name, item in planned if item == "test") == "detect"
    take_settings = REGISTRY["take"].check({"clip": "walk"})
    assert REGISTRY["take"].inputs(paths, take_settings) == [tmp_path / "good.mp4"]
    take.run(context(paths))
    detect = REGISTRY["detect"].check({"clip": "walk"})
    upstream = REGISTRY.upstream(REGISTRY["detect"], paths, detect)
    assert clip_video(paths, "walk") == paths.clip("walk").taken and "take" in [stage.name for stage in upstream]
