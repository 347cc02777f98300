"""The check-up on data that prep handles by itself, or that only the artist can change: each is found and named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import bpy
import pytest

from anymocap_addon.blender.creature_facts import creature_facts
from anymocap_addon.blender.creature_fixes import apply_fixes
from anymocap_addon.blender.scene import fresh_scene
from anymocap_addon.core.checkup.checkup import check_up
from anymocap_addon.core.checkup.finding import Finding
from anymocap_addon.core.creature import PrepFix
from anymocap_addon.core.errors import BadInputError

from .test_checkup import BONES, add_box, walker

Object = bpy.types.Object


def told(subject: str) -> list[Finding]:
    """What is said of a subject, whatever its level."""
    facts = creature_facts(bpy.context.scene.objects, "walker")
    return [finding for finding in check_up(facts) if finding.subject == subject]


def shape_key(_: Object, mesh: Object) -> None:
    mesh.shape_key_add(name="Basis")
    mesh.shape_key_add(name="Smile")


def driven_key(rig: Object, mesh: Object) -> None:
    shape_key(rig, mesh)
    mesh.data.shape_keys.key_blocks["Smile"].driver_add("value").driver.expression = "0.5"


def bone_driver(rig: Object, _: Object) -> None:
    rig.pose.bones["Head"].driver_add("rotation_euler", 0).driver.expression = "0.1"


def constraint_driver(rig: Object, _: Object) -> None:
    rig.pose.bones["Head"].constraints.new("COPY_ROTATION").driver_add("influence").driver.expression = "0.1"


def mirror(_: Object, mesh: Object) -> None:
    mesh.modifiers.new("Mirror", "MIRROR")
    mesh.modifiers.new("Subdivision", "SUBSURF")


def two_armature_modifiers(rig: Object, mesh: Object) -> None:
    mesh.modifiers.new("Second", "ARMATURE").object = rig


def shared_mesh(_: Object, mesh: Object) -> None:
    bpy.data.objects.new("Twin", mesh.data)


def rotation_mode(rig: Object, _: Object) -> None:
    rig.pose.bones["Head"].rotation_mode = "XYZ"


def axis_angle(rig: Object, _: Object) -> None:
    rig.pose.bones["Head"].rotation_mode = "AXIS_ANGLE"


def constraint(rig: Object, _: Object) -> None:
    rig.pose.bones["Head"].constraints.new("LIMIT_ROTATION")


def numbered(rig: Object, _: Object) -> None:
    rig.data.bones["Head"].name = "Bone.001"


def numbered_by_blender(rig: Object, _: Object) -> None:
    rig.data.bones["Foot.L"].name = "Hips"  # taken: Blender numbers it


def foreign_bone(rig: Object, _: Object) -> None:
    rig.data.bones["Head"].name = "頭"


def foreign_mesh(_: Object, mesh: Object) -> None:
    mesh.name = "Körper"


def leaf(rig: Object, _: Object) -> None:
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bone = rig.data.edit_bones.new("Head_end")
    bone.head, bone.tail, bone.parent = (0, -0.8, 1.2), (0, -0.9, 1.2), rig.data.edit_bones["Head"]
    bpy.ops.object.mode_set(mode="OBJECT")


def same_bones_elsewhere(rig: Object, _: Object) -> None:
    other = bpy.data.objects.new("Spare", rig.data.copy())
    bpy.context.scene.collection.objects.link(other)


ALL = tuple(BONES)
CASES: dict[str, tuple[Callable[[Object, Object], None], str, str, str, tuple[str, ...]]] = {
    "shape key": (shape_key, "Shape keys", "pass", "1 shape keys on Body", ("Body",)),
    "driven shape key": (driven_key, "Shape keys", "pass", "1 of them follow drivers", ("Body",)),
    "driver of a bone": (bone_driver, "Drivers", "pass", "Head follow drivers", ("Head",)),
    "driver of a constraint": (constraint_driver, "Drivers", "pass", "Head follow drivers", ("Head",)),
    "modifiers": (mirror, "Modifiers", "pass", "Mirror, Subsurf of Body are applied on prep's copy", ("Body",)),
    "armature modifiers": (two_armature_modifiers, "Armature modifiers", "warn", "the first that is shown", ("Body",)),
    "shared mesh": (shared_mesh, "Shared meshes", "pass", "prep's copy gets its own", ("Body",)),
    "constraint": (constraint, "Constraints", "pass", "Head have constraints (Limit Rotation)", ("Head",)),
    "numbered name": (numbered, "Numbered names", "pass", "Bone.001", ("Bone.001",)),
    "duplicate name": (numbered_by_blender, "Numbered names", "pass", "1 bones have", ("Hips.001",)),
    "name in another script": (foreign_bone, "Letters", "warn", "頭", ("頭",)),
    "mesh with an umlaut": (foreign_mesh, "Letters", "warn", "Körper", ("Körper",)),
    "leaf bone": (leaf, "Leaf bones", "pass", "1 end bones without skin (Head_end)", ("Head_end",)),
    "names of several armatures": (same_bones_elsewhere, "Duplicate names", "warn", "several armatures", ALL),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_found_where_it_is_and_nowhere_else(case: str) -> None:
    rig, mesh = walker()
    make, subject, level, text, names = CASES[case]
    assert not told(subject)
    make(rig, mesh)
    (finding,) = told(subject)
    assert (finding.level, finding.fix) == (level, "") and text in finding.text
    assert sorted(finding.names) == sorted(names)
    assert finding.hint or level == "pass", "who is warned is told what to do"


@pytest.mark.parametrize(("make", "words"), [(rotation_mode, "XYZ"), (axis_angle, "Axis Angle")])
def test_rotation_modes_are_named(make: Callable[[Object, Object], None], words: str) -> None:
    rig, mesh = walker()
    assert told("Rotation modes")[0].text.startswith("Rotation modes: Quaternion.")
    make(rig, mesh)
    assert words.casefold() in told("Rotation modes")[0].text.casefold()


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """A .blend whose collection Walker holds the creature."""
    rig, mesh = walker()
    folder = bpy.data.collections.new("Walker")
    for obj in (rig, mesh):
        bpy.context.scene.collection.objects.unlink(obj)
        folder.objects.link(obj)
    bpy.context.scene.collection.children.link(folder)
    mesh.vertex_groups["Foot.L"].remove([24, 25])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    fresh_scene()
    return tmp_path / "library.blend"


def link(library: Path) -> bpy.types.Collection:
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.collections = ["Walker"]
    (folder,) = wanted.collections
    return folder


def test_linked_data_is_told_and_its_fix_is_refused_with_the_way_out(library: Path) -> None:
    bpy.context.scene.collection.children.link(link(library))
    (finding,) = told("Linked data")
    assert finding.level == "warn" and set(finding.names) == {"Rig", "Body"} and "Library Override" in finding.hint
    weights = next(f for f in told("Weights of Body") if f.fix)
    with pytest.raises(BadInputError, match="linked from another file") as refused:
        apply_fixes(list(bpy.context.scene.objects), [PrepFix(weights.fix, weights.names)])
    assert "Make Local" in refused.value.hint


def test_a_library_override_is_told_as_what_takes_keys(library: Path) -> None:
    folder = link(library)
    made = folder.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    assert made is not None
    (finding,) = told("Library override")
    assert finding.level == "pass" and set(finding.names) == {"Rig", "Body"} and not told("Linked data")


def test_several_things_at_once_are_all_told() -> None:
    rig, mesh = walker()
    for make in (driven_key, bone_driver, mirror, axis_angle, leaf, foreign_mesh):
        make(rig, mesh)
    add_box("Hat", (0, -0.6, 1.5), 0.1)
    subjects = {finding.subject for finding in check_up(creature_facts(bpy.context.scene.objects, "walker"))}
    assert subjects >= {"Shape keys", "Drivers", "Modifiers", "Leaf bones", "Letters", "Hat is not skinned"}
