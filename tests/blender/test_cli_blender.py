"""Stages that need Blender, through the command line, in its own background process."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def anymocap(*arguments: str) -> tuple[int, dict, str]:
    command = [sys.executable, "-m", "anymocap_addon", *arguments, "--json"]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    return ended.returncode, json.loads(ended.stdout.strip().splitlines()[-1]), ended.stderr


@pytest.mark.needs_assets
def test_a_project_with_odd_letters_goes_from_mesh_to_reference(tmp_path, assets_dir):
    project = tmp_path / "Projekt mit 空白 ü"
    model = project / "assets" / "kleine Füchsin" / "model.glb"
    model.parent.mkdir(parents=True)
    shutil.copy(assets_dir / "creatures" / "Fox.glb", model)
    for stage in ("prep", "rig", "ref"):
        code, answer, err = anymocap(stage, "--project", str(project))
        assert (code, answer["ok"]) == (0, True), err
        for path in answer["outputs"]:
            assert Path(path).stat().st_size > 0
    code, answer, _ = anymocap("status", "--project", str(project))
    states = {entry["stage"]: entry["state"] for entry in answer["stages"]}
    assert (states["prep"], states["rig"], states["ref"], states["dataset"]) == ("ready", "ready", "ready", "missing")


def test_a_truncated_mesh_is_bad_input_and_leaves_nothing(tmp_path):
    model = tmp_path / "assets" / "c" / "model.glb"
    model.parent.mkdir(parents=True)
    model.write_bytes(b"glTF\x02\x00\x00\x00")
    code, answer, err = anymocap("prep", "--project", str(tmp_path))
    assert code == 2 and answer["error"]["file"] == str(model)
    assert "Traceback" not in err
    assert not (tmp_path / "assets" / "c" / "prep" / "static.blend").exists()
