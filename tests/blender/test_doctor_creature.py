"""`doctor --creature`: exit 0 only when nothing stops the capture."""

from __future__ import annotations

import json
from pathlib import Path

import bpy
import numpy as np
import pytest

from anymocap_addon.cli import main
from anymocap_addon.core.creature import Facing, PrepFix, load_creature
from anymocap_addon.core.project import Project

from .test_checkup import add_box, walker


def doctor(root: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str, dict]:
    capsys.readouterr()
    code = main(["doctor", "--project", str(root), "--creature", "w", *options, "--json"])
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
    assert "FAIL Weights of Body: 4 of" in text and "doctor --creature w --fix" in text
    code, text, answer = doctor(tmp_path, capsys, "--fix")
    assert (code, answer["ok"]) == (0, True) and "mended Body" in text
    assert answer["fixes"] == [{"fix": "clean_weights", "names": ["Body"]}]
    assert load_creature(paths.creature_json).prep.fixes == (PrepFix("clean_weights", ("Body",)),)


def test_doctor_mends_all_that_is_safe_and_hangs_a_part_on_a_bone_only_when_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = Project(tmp_path).creature("w")
    paths.assets.mkdir(parents=True)
    rig, mesh = walker()
    rig.scale = (1, 2, 1)
    for weight, group in zip((0.3, 0.25, 0.2, 0.1, 0.08, 0.07), mesh.vertex_groups, strict=True):
        group.add([0], weight, "REPLACE")
    add_box("Eye", (0.05, -1.5, 1.3), 0.02)
    bpy.ops.export_scene.gltf(filepath=str(paths.assets / "model.glb"), export_format="GLB", export_all_influences=True)
    code, text, answer = doctor(tmp_path, capsys, "--fix")
    assert (code, {item["fix"] for item in answer["fixes"]}) == (0, {"apply_scale", "limit_weights"})
    assert "doctor --creature w --fix bind_parts" in text
    code, text, answer = doctor(tmp_path, capsys, "--fix", "bind_parts")
    assert code == 0 and "mended Eye follows Head." in text


def test_doctor_answers_which_way_it_faces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = Project(tmp_path).creature("w")
    paths.assets.mkdir(parents=True)
    rig, _ = walker()
    rig.rotation_euler.z = -np.pi / 2
    bpy.ops.export_scene.gltf(filepath=str(paths.assets / "model.glb"), export_format="GLB")
    _, text, _ = doctor(tmp_path, capsys)
    assert "prep --rotz-deg=90 --up=z" in text
    capsys.readouterr()
    prep = ["prep", "--project", str(tmp_path), "--creature", "w"]
    assert main(prep) == 0
    said = capsys.readouterr().err
    assert "Nobody has confirmed which way it faces" in said and "prep --creature w --rotz-deg=90 --up=z" in said
    assert main([*prep, "--rotz-deg=90", "--up=z"]) == 0
    _, text, _ = doctor(tmp_path, capsys, "--confirm-facing")
    assert "ok   Facing: You confirmed it" in text
    assert load_creature(paths.creature_json).facing_confirmed == Facing("z", 90.0)
    assert main([*prep, "--force"]) == 0
    assert "Nobody has confirmed" not in capsys.readouterr().err


def test_doctor_mends_no_nameless_creature(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--fix"]) == main(["doctor", "--confirm-facing"]) == 2
    assert "doctor --creature NAME" in capsys.readouterr().err
