"""Apply onto rigs with controls: IK targets and poles, FK controls through layers, baked; the rig stays as it was."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from anymocap_addon.blender.action_slots import action_fcurves
from anymocap_addon.blender.apply import ApplyOptions, apply_motion
from anymocap_addon.blender.own_actions import bone_of
from anymocap_addon.core.errors import AnyMoCapError, BadInputError
from anymocap_addon.core.rig import RigInfo

from .artist_rigs import armature_of, constrain, ik_quadruped, layered_quadruped
from .capture_rig import rig_of
from .test_apply import motion_of

PAWS = {f"{end}Paw.{side}": f"{end}Lower.{side}" for end in ("Front", "Back") for side in "LR"}
ACCURATE_MM = 0.05


@pytest.fixture(autouse=True)
def empty() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)


def applied(armature: bpy.types.Object, rig: RigInfo, onto: str, **options: Any) -> Any:
    return apply_motion(armature, rig, motion_of(rig), f"wave {onto}", 1.0, ApplyOptions(onto=onto, **options))


def dog(pole: bool) -> tuple[bpy.types.Object, RigInfo]:
    armature = ik_quadruped(pole)
    return armature, rig_of(armature, "Body", None, PAWS)


def as_made(armature: bpy.types.Object) -> dict[str, Any]:
    """All of a rig that is the artist's and no animation."""
    rest = {b.name: (np.array(b.matrix_local).round(6).tolist(), b.use_connect) for b in armature.data.bones}
    bones = {}
    for bone in armature.pose.bones:
        constraints = [
            (c.name, c.type, c.mute, round(c.influence, 6), getattr(c, "subtarget", "")) for c in bone.constraints
        ]
        shape = bone.custom_shape.name if bone.custom_shape else ""
        locks = (tuple(bone.lock_location), tuple(bone.lock_rotation), bone.lock_rotation_w, tuple(bone.lock_scale))
        bones[bone.name] = (constraints, shape, bone.rotation_mode, locks)
    drivers = [(d.data_path, d.driver.type, d.mute) for d in armature.animation_data.drivers]
    return {"rest": rest, "bones": bones, "drivers": drivers}


def keyed(applied_now: Any, armature: bpy.types.Object) -> set[str]:
    return {bone_of(curve.data_path) for curve in action_fcurves(applied_now.action, armature)}


@pytest.mark.parametrize("pole", [True, False])
def test_paws_that_are_ik_targets_and_their_poles_follow(pole: bool) -> None:
    armature, rig = dog(pole)
    result = applied(armature, rig, "auto")
    assert result.onto == "controls" and result.max_error_mm < ACCURATE_MM
    poles = {name for name in keyed(result, armature) if "Pole" in name}
    assert len(poles) == (4 if pole else 0) and set(PAWS) <= keyed(result, armature)


@pytest.mark.parametrize(("ik", "control"), [(0.0, "front_paw.L_fk"), (1.0, "front_paw.L_ik"), (0.4, "tail_fk")])
def test_a_layered_rig_is_keyed_on_its_controls(ik: float, control: str) -> None:
    armature = layered_quadruped(ik)
    result = applied(armature, rig_of(armature, "DEF-spine"), "auto")
    assert result.onto == "controls" and result.max_error_mm < ACCURATE_MM
    names = keyed(result, armature)
    assert control in names and not [n for n in names if n.startswith(("DEF-", "ORG-"))]
    assert ik != 0.0 or not [n for n in names if n.startswith("MCH-")]


@pytest.mark.parametrize("onto", ["controls", "bake"])
@pytest.mark.parametrize("layered", [True, False])
def test_the_rig_itself_stays_as_the_artist_made_it(onto: str, layered: bool) -> None:
    armature, rig = (layered_quadruped(1.0), None) if layered else dog(True)
    rig = rig or rig_of(armature, "DEF-spine")
    for number, bone in enumerate(armature.pose.bones):
        bone.rotation_mode = ("QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE")[number % 4]
        bone.lock_location = bone.lock_rotation = (True, False, True)
        bone.custom_shape = bpy.data.objects.get("shape") or bpy.data.objects.new("shape", None)
    armature.animation_data_create()
    before = as_made(armature)
    result = applied(armature, rig, onto)
    bpy.context.scene.frame_set(12)
    assert result.max_error_mm < ACCURATE_MM and result.onto == onto
    bpy.context.scene.frame_set(200)
    assert as_made(armature) == before


@pytest.mark.parametrize("layered", [True, False])
def test_a_bake_holds_constraints_off_only_while_it_plays(layered: bool) -> None:
    armature, rig = (layered_quadruped(0.5), None) if layered else dog(True)
    rig = rig or rig_of(armature, "DEF-spine")
    result = applied(armature, rig, "bake")
    owner, name = ("DEF-spine", "Copy Transforms") if layered else ("FrontLower.L", "IK")
    constraint = armature.pose.bones[owner].constraints[name]
    seen = []
    for frame in (0, 1, 24, 25):
        bpy.context.scene.frame_set(frame)
        seen.append((constraint.influence, constraint.enabled))
    assert result.max_error_mm < ACCURATE_MM
    assert [influence * on for influence, on in seen] == [1.0, 0.0, 0.0, 1.0]


def test_after_a_bake_the_controls_are_found_again() -> None:
    armature, rig = dog(True)
    applied(armature, rig, "bake")
    bpy.context.scene.frame_set(5)
    assert armature.pose.bones["FrontLower.L"].constraints["IK"].influence == 0.0
    again = applied(armature, rig, "auto")
    assert again.onto == "controls" and again.max_error_mm < ACCURATE_MM
    assert armature.pose.bones["FrontLower.L"].constraints["IK"].influence == 1.0


def test_deform_on_a_rig_with_ik_is_refused_and_says_what_to_do() -> None:
    armature, rig = dog(True)
    with pytest.raises(AnyMoCapError, match=r"Ik.*Bake"):
        applied(armature, rig, "deform")
    assert armature.animation_data.action is None and not bpy.data.actions


def test_what_cannot_be_solved_is_named() -> None:
    armature, rig = dog(False)
    other = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(other)
    armature.pose.bones["Head"].constraints.new("COPY_ROTATION").target = other
    bpy.context.view_layer.update()
    with pytest.raises(BadInputError, match=r"'Head'.*follows the object 'Empty'.*Bake"):
        applied(armature, rig, "controls")
    assert applied(armature, rig, "bake").max_error_mm < ACCURATE_MM


def test_drivers_on_captured_bones_cannot_be_baked_over() -> None:
    armature, rig = dog(True)
    armature.pose.bones["Tail"].driver_add("rotation_quaternion", 1).driver.expression = "0.3"
    with pytest.raises(BadInputError, match="Tail"):
        applied(armature, rig, "bake")


def test_one_way_of_aiming_is_read_backwards() -> None:
    rows = {
        "Root": ((0, 0, 0), (0, 0.1, 0), None),
        "Body": ((0, 0.3, 0.5), (0, -0.3, 0.5), "Root"),
        "Head": ((0, -0.3, 0.5), (0, -0.6, 0.55), "Body"),
        "Look": ((0, -1.2, 0.65), (0, -1.3, 0.65), "Root"),
    }
    armature = armature_of(rows)
    constrain(armature, "Head", "DAMPED_TRACK", "Look")
    result = applied(armature, rig_of(armature, "Body"), "auto")
    assert result.onto == "controls" and "Look" in keyed(result, armature) and result.max_error_mm < ACCURATE_MM


def test_an_armature_constraint_is_read_backwards() -> None:
    rows = {
        "Root": ((0, 0, 0), (0, 0.1, 0), None),
        "Body": ((0, 0.3, 0.5), (0, -0.3, 0.5), None),
        "Head": ((0, -0.3, 0.5), (0, -0.6, 0.55), "Body"),
        "Torso": ((0, 0.3, 0.5), (0.2, 0.3, 0.6), "Root"),
    }
    armature = armature_of(rows)
    constrain(armature, "Body", "ARMATURE", "Torso")
    result = applied(armature, rig_of(armature, "Body"), "auto")
    assert result.onto == "controls" and "Torso" in keyed(result, armature) and result.max_error_mm < ACCURATE_MM


def test_on_chosen_bones_alone_a_control_gets_keys() -> None:
    armature, rig = dog(True)
    result = applied(armature, rig, "auto", bones=frozenset({"FrontPole.L", "Tail"}))
    assert keyed(result, armature) == {"FrontPole.L", "Tail"} and result.joints is None


def test_another_frame_rate_and_rotated_armature(monkeypatch: pytest.MonkeyPatch) -> None:
    armature, rig = dog(True)
    armature.rotation_euler, armature.location, armature.scale = (0.3, 0.2, 1.0), (3, 1, 0), (2.0, 2.0, 2.0)
    bpy.context.scene.render.fps = 30
    bpy.context.view_layer.update()
    assert applied(armature, rig, "auto").max_error_mm < ACCURATE_MM
