"""The rig stage writes the bone map, leaves driven bones to what drives them, and obeys the artist's edits."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from anymocap_addon.blender.apply import apply_motion
from anymocap_addon.blender.scene import open_rigged
from anymocap_addon.core.bone_map import BoneEdit, BoneMap, load_bone_map, save_bone_map
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.rig import load_rig_info

from .artist_rigs import armature_of, constrain, ik_quadruped, layered_quadruped, skin
from .stage_runs import run_prep, run_rig
from .test_apply import motion_of


def brought(root: Path, armature: bpy.types.Object, weights: dict[str, float] | None = None) -> CreaturePaths:
    """The armature with a skin, saved as an artist's file, prepped and rigged as the creature "dog"."""
    skin(armature, weights)
    file = root / "dog.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file), check_existing=False)
    run_prep(root, "dog", file)
    run_rig(root, "dog")
    return Project(root).creature("dog")


def artists(root: Path, name: str) -> bpy.types.Object:
    """The armature as it is in the artist's own file."""
    bpy.ops.wm.open_mainfile(filepath=str(root / "dog.blend"))
    bpy.context.view_layer.update()
    return bpy.data.objects[name]


@pytest.fixture
def empty() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)


def again(paths: CreaturePaths, **edits: BoneEdit) -> BoneMap:
    found = load_bone_map(paths.bone_map)
    named = {name.replace("__", "."): edit for name, edit in edits.items()}
    save_bone_map(paths.bone_map, BoneMap(found.armature, found.bones, named))
    run_rig(paths.root, "dog")
    return load_bone_map(paths.bone_map)


def test_ik_paws_are_captured_on_their_legs_and_animate_the_artists_own_rig(tmp_path: Path, empty: None) -> None:
    paths = brought(tmp_path, ik_quadruped())
    found = load_bone_map(paths.bone_map)
    paw, pole, root = found.of("FrontPaw.L"), found.of("FrontPole.L"), found.of("Root")
    assert paw.state == "captured" and paw.parent == "FrontLower.L" and paw.role == "ik_target"
    assert (pole.state, pole.role, pole.follows) == ("left_out", "ik_pole", ("FrontLower.L",))
    assert root.state == "left_out" and "no skin" in root.reason
    rig = load_rig_info(paths.rig_info)
    motion = motion_of(rig)
    assert apply_motion(open_rigged(paths).armature, rig, motion, "own").max_error_mm < 0.05
    result = apply_motion(artists(tmp_path, "Dog"), rig, motion, "his")
    assert result.onto == "controls" and result.max_error_mm < 0.05 and "FrontPole.L" in result.keyed


def test_a_layered_rig_is_captured_on_its_deform_bones(tmp_path: Path, empty: None) -> None:
    paths = brought(tmp_path, layered_quadruped(1.0))
    found = load_bone_map(paths.bone_map)
    assert all(name.startswith("DEF-") for name in found.captured()) and len(found.captured()) == 17
    rig = load_rig_info(paths.rig_info)
    motion = motion_of(rig)
    assert apply_motion(open_rigged(paths).armature, rig, motion, "own").max_error_mm < 0.05
    result = apply_motion(artists(tmp_path, "Layers"), rig, motion, "his")
    assert result.onto == "controls" and result.max_error_mm < 0.05


def arm_with_helpers() -> bpy.types.Object:
    """Prefixes, _end leaves, a twist bone that a constraint drives and one that none does."""
    rows = {
        "mixamorig1:Hips": ((0, 0.3, 0.6), (0, 0, 0.6), None),
        "mixamorig1:Spine": ((0, 0, 0.6), (0, -0.4, 0.6), "mixamorig1:Hips"),
        "mixamorig1:Head": ((0, -0.4, 0.6), (0, -0.7, 0.7), "mixamorig1:Spine"),
        "mixamorig1:Head_end": ((0, -0.7, 0.7), (0, -0.8, 0.75), "mixamorig1:Head"),
    }
    for side, x in (("Left", 1), ("Right", -1)):
        upper, lower, twist = (f"mixamorig1:{side}{part}" for part in ("Arm", "ForeArm", "ForeArmTwist"))
        rows[upper] = ((0.1 * x, -0.3, 0.6), (0.4 * x, -0.3, 0.6), "mixamorig1:Spine")
        rows[lower] = ((0.4 * x, -0.3, 0.6), (0.7 * x, -0.3, 0.6), upper)
        rows[f"mixamorig1:{side}Hand"] = ((0.7 * x, -0.3, 0.6), (0.85 * x, -0.3, 0.6), lower)
        rows[twist] = ((0.55 * x, -0.3, 0.6), (0.7 * x, -0.3, 0.6), lower)
    armature = armature_of(rows, "Game")
    hand = "mixamorig1:LeftHand"
    constrain(armature, "mixamorig1:LeftForeArmTwist", "COPY_ROTATION", hand, influence=0.5)
    return armature


def test_twist_bones_are_driven_and_end_bones_left_out(tmp_path: Path, empty: None) -> None:
    armature = arm_with_helpers()
    weights = {b.name: 1.0 for b in armature.data.bones if not b.name.endswith("_end")}
    paths = brought(tmp_path, armature, weights)
    found = load_bone_map(paths.bone_map)
    left, right = found.of("mixamorig1:LeftForeArmTwist"), found.of("mixamorig1:RightForeArmTwist")
    assert (left.state, left.role, left.follows) == ("driven", "helper", ("mixamorig1:LeftHand",))
    assert (right.state, right.follows) == ("driven", ("mixamorig1:RightForeArm",))
    assert found.of("mixamorig1:Head_end").state == "left_out"
    rig = load_rig_info(paths.rig_info)
    rigged = open_rigged(paths).armature
    assert not rigged.pose.bones["mixamorig1:LeftForeArmTwist"].constraints[0].mute
    result = apply_motion(artists(tmp_path, "Game"), rig, motion_of(rig), "his")
    assert result.onto == "deform" and result.max_error_mm < 0.05


def test_the_artists_edits_decide(tmp_path: Path, empty: None) -> None:
    paths = brought(tmp_path, ik_quadruped())
    found = again(paths, Tail=BoneEdit("left_out"), FrontPaw__L=BoneEdit(parent="Body"))
    rig = load_rig_info(paths.rig_info)
    assert "Tail" not in rig.bones and found.of("Tail").reason == "As you chose."
    assert rig.bones[rig.parents[rig.index("FrontPaw.L")]] == "Body"
    assert found.edits["Tail"] == BoneEdit("left_out")
    assert "Tail" in load_rig_info(again(paths) and paths.rig_info).bones
    with pytest.raises(BadInputError, match="Did you mean 'Tail'"):
        again(paths, Tial=BoneEdit("left_out"))


def test_drivers_of_captured_bones_rest_in_the_rigged_copy(tmp_path: Path, empty: None) -> None:
    armature = ik_quadruped()
    armature.pose.bones["Tail"].driver_add("rotation_quaternion", 1).driver.expression = "0.3"
    paths = brought(tmp_path, armature)
    rig = load_rig_info(paths.rig_info)
    applied = apply_motion(open_rigged(paths).armature, rig, motion_of(rig), "own")
    assert applied.max_error_mm < 0.05 and np.isfinite(applied.joints).all()
