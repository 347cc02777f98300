"""The built-in creature goes through every stage of the installed extension, by command line and by operator."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_blender import RealBlender

INSIDE = Path(__file__).parent / "inside"
WAY = {
    "example": [],
    "prep": [],
    "rig": [],
    "ref": [],
    "prompt": ["--move", "walk", "--action", "It walks."],
    "dataset": ["--poses", "8", "--rows", "64"],
    "train": ["--steps", "2"],
    "exam": ["--clip", "walk", "--frames", "8"],
    "detect": ["--clip", "walk"],
    "preview": ["--clip", "walk"],
    "fit": ["--clip", "walk"],
    "apply": ["--clip", "walk"],
    "showcase": ["--clip", "walk"],
    "report": ["--clip", "walk"],
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("Projekt ü")


@pytest.mark.parametrize("stage", WAY)
def test_from_mesh_to_keyframes(blender: RealBlender, project: Path, stage: str) -> None:
    place = ["--project", project, "--creature", "lynx", "--json"]
    ended = blender.command("anymocap", stage, *WAY[stage], *place, timeout_s=400)
    assert ended.code == 0, ended.output
    answer = ended.last_json()
    assert answer["ok"] and not answer["skipped"]
    for path in answer["outputs"]:
        assert Path(path).stat().st_size > 0, path


def test_then_all_is_ready(blender: RealBlender, project: Path) -> None:
    ended = blender.command(
        "anymocap", "status", "--project", project, "--creature", "lynx", "--clip", "walk", "--json"
    )
    assert ended.code == 0, ended.output
    states = {entry["stage"]: entry["state"] for entry in ended.last_json()["stages"]}
    assert {stage: states[stage] for stage in WAY if stage in states and states[stage] != "ready"} == {}


def test_operators_run_to_the_end_without_a_window(blender: RealBlender, tmp_path: Path) -> None:
    ended = blender.script(INSIDE / "operators.py", tmp_path)
    assert ended.code == 0, ended.output
    found = ended.last_json()
    assert found["finished"] == [["FINISHED"]] * 3 and found["armatures"]
    assert "dataset_samples.jpg" in found["refused"] and "Traceback" not in found["refused"]


def test_bad_input_is_one_sentence_and_exit_code_2(blender: RealBlender, tmp_path: Path) -> None:
    ended = blender.command("anymocap", "prep", "--project", tmp_path, "--creature", "nobody", "--json")
    assert ended.code == 2 and "Traceback" not in ended.output, ended.output
    assert "nobody" in ended.last_json()["error"]["file"]
