"""`doctor --creature`: exit 0 only when nothing stops the capture."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from anymocap_addon.cli import main
from anymocap_addon.core.project import Project

from .test_checkup import walker


def doctor(root: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, dict]:
    capsys.readouterr()
    code = main(["doctor", "--project", str(root), "--creature", "w", "--json"])
    lines = capsys.readouterr().out.strip().splitlines()
    return code, "\n".join(lines[:-1]), json.loads(lines[-1])


def spoil_weights(file: Path, count: int) -> None:
    """Make the weights of the first vertices NaN, which Blender's importer would hide."""
    data = bytearray(file.read_bytes())
    size = int.from_bytes(data[12:16], "little")
    gltf = json.loads(data[20 : 20 + size])
    accessor = gltf["accessors"][gltf["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"]]
    assert accessor["componentType"] == 5126 and accessor["count"] >= 48, "floats"
    start = 20 + size + 8 + gltf["bufferViews"][accessor["bufferView"]].get("byteOffset", 0)
    data[start : start + 16 * count] = np.full(4 * count, np.nan, np.float32).tobytes()
    file.write_bytes(data)


def test_doctor_tells_what_stops_a_creature_and_passes_it_when_mended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = Project(tmp_path).creature("w")
    paths.assets.mkdir(parents=True)
    walker()
    bpy.ops.export_scene.gltf(filepath=str(paths.assets / "model.glb"), export_format="GLB")
    spoil_weights(paths.assets / "model.glb", 4)
    code, text, answer = doctor(tmp_path, capsys)
    assert (code, answer["ok"], answer["failures"]) == (1, False, 1)
    assert "FAIL Weights of Body: 4 of" in text and '{"fix": "clean_weights"}' in text
    paths.creature_json.write_text('{"name": "w", "prep": {"fixes": [{"fix": "clean_weights"}]}}', "utf-8")
    code, text, answer = doctor(tmp_path, capsys)
    assert (code, answer["ok"]) == (0, True) and "mended Body" in text
