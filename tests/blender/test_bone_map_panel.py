"""The bone list of the panel: read, changed and taken back by operators."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from anymocap_addon.core.bone_map import BoneEdit, BoneMap, MappedBone, load_bone_map, save_bone_map
from anymocap_addon.core.project import Project
from anymocap_addon.registration import register_all, unregister_all


@pytest.fixture
def scene(tmp_path: Path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    register_all()
    paths = Project(tmp_path).creature("dog")
    paths.assets.mkdir(parents=True)
    bones = (
        MappedBone("Hip", "captured", None),
        MappedBone("Leg", "captured", "Hip"),
        MappedBone("Pole", "left_out", None, ("Leg",), "ik_pole", "IK pole of Leg."),
    )
    save_bone_map(paths.bone_map, BoneMap("Dog", bones))
    bpy.context.scene.anymocap.project = str(tmp_path)
    bpy.context.scene.anymocap.creature = "dog"
    yield paths
    unregister_all()


def test_bones_are_shown_changed_and_reset(scene) -> None:
    shown = bpy.context.window_manager.anymocap_bone_map
    assert bpy.ops.anymocap.show_bones() == {"FINISHED"}
    assert [(b.name, b.state, b.parent, b.depth) for b in shown.bones] == [
        ("Hip", "captured", "", 0),
        ("Leg", "captured", "Hip", 1),
        ("Pole", "left_out", "", 0),
    ]
    assert bpy.ops.anymocap.edit_bone(bone="Pole", state="captured", parent="Leg") == {"FINISHED"}
    assert load_bone_map(scene.bone_map).edits == {"Pole": BoneEdit("captured", "Leg")}
    assert shown.bones["Pole"].edited and shown.bones["Pole"].parent == "Leg"
    assert bpy.ops.anymocap.edit_bone(bone="Leg", state="left_out") == {"FINISHED"}
    assert bpy.ops.anymocap.reset_bones(bone="Pole") == {"FINISHED"}
    assert set(load_bone_map(scene.bone_map).edits) == {"Leg"}
    assert bpy.ops.anymocap.reset_bones() == {"FINISHED"}
    assert not load_bone_map(scene.bone_map).edits and not any(b.edited for b in shown.bones)


def test_a_bone_that_is_not_there_is_refused_in_words(scene) -> None:
    with pytest.raises(RuntimeError, match="no bone 'Arm'"):
        bpy.ops.anymocap.edit_bone(bone="Leg", parent="Arm")
    with pytest.raises(RuntimeError, match="cannot hang on itself"):
        bpy.ops.anymocap.edit_bone(bone="Leg", parent="Leg")
    scene.bone_map.unlink()
    with pytest.raises(RuntimeError, match=r"bone_map\.json"):
        bpy.ops.anymocap.show_bones()
