"""The check-up: each defect is found, its fix mends it, and nothing of it remains."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from anymocap_addon.blender import checkup
from anymocap_addon.blender.creature_facts import creature_facts
from anymocap_addon.blender.creature_fixes import apply_fixes
from anymocap_addon.blender.scene import fresh_scene, world_vertices
from anymocap_addon.core.checkup.checkup import check_up
from anymocap_addon.core.checkup.facts import facts_of
from anymocap_addon.core.checkup.file import load_checkup
from anymocap_addon.core.checkup.finding import Finding
from anymocap_addon.core.creature import Creature, Facing, Prep, PrepFix, save_creature
from anymocap_addon.core.errors import BadInputError

from .stage_runs import context, run_prep

# A walker that faces -Y: bone -> head, tail, parent.
BONES = {
    "Hips": ((0, 0.5, 1), (0, 0, 1), None),
    "Head": ((0, -0.5, 1.2), (0, -0.8, 1.2), "Hips"),
    "Leg.L": ((0.3, 0, 1), (0.3, 0, 0.4), "Hips"),
    "Foot.L": ((0.3, 0, 0.4), (0.3, 0, 0), "Leg.L"),
    "Leg.R": ((-0.3, 0, 1), (-0.3, 0, 0.4), "Hips"),
    "Foot.R": ((-0.3, 0, 0.4), (-0.3, 0, 0), "Leg.R"),
}
CUBE = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]


def add_box(name: str, middle, half: float) -> bpy.types.Object:
    data = bpy.data.meshes.new(name)
    data.from_pydata((np.array(middle) + half * CUBE).tolist(), [], SIDES)
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def walker(bones=BONES) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Armature and mesh: a box of eight vertices on every bone."""
    fresh_scene()
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (head, tail, parent) in bones.items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = rig.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    middles = [(np.array(head) + tail) / 2 for head, tail, _ in bones.values()]
    points = np.concatenate([middle + 0.1 * CUBE for middle in middles])
    faces = [tuple(8 * b + v for v in side) for b in range(len(bones)) for side in SIDES]
    data = bpy.data.meshes.new("Body")
    data.from_pydata(points.tolist(), [], faces)
    mesh = bpy.data.objects.new("Body", data)
    bpy.context.scene.collection.objects.link(mesh)
    for b, name in enumerate(bones):
        mesh.vertex_groups.new(name=name).add(list(range(8 * b, 8 * b + 8)), 1.0, "REPLACE")
    mesh.modifiers.new("Armature", "ARMATURE").object = rig
    mesh.parent = rig
    bpy.context.view_layer.update()
    return rig, mesh


def found(rule: str, level: str = "") -> list[Finding]:
    facts = creature_facts(bpy.context.scene.objects, "walker")
    assert facts_of(facts.to_json()) == facts
    return [f for f in check_up(facts) if f.rule == rule and f.level != "pass" and level in ("", f.level)]


def fix(finding: Finding) -> None:
    assert finding.fix, finding
    assert apply_fixes(list(bpy.context.scene.objects), [PrepFix(finding.fix, finding.names)])


def points_of(mesh: bpy.types.Object) -> np.ndarray:
    bpy.context.view_layer.update()
    return world_vertices(mesh)


def test_a_sound_creature_has_nothing_to_mend_but_the_question_of_facing() -> None:
    walker()
    told = check_up(creature_facts(bpy.context.scene.objects, "walker"))
    assert [(f.rule, f.level) for f in told if f.level != "pass"] == [("facing", "warn")]


@pytest.mark.parametrize("scale", [(1, 2, 1), (-1, 1, 1), (0.01, 0.01, 0.02)])
def test_stretched_and_mirrored_armatures_are_mended_where_they_stand(scale) -> None:
    rig, mesh = walker()
    rig.matrix_world = Matrix.Translation((3, 2, 1)) @ Matrix.Rotation(0.4, 4, "Z") @ Matrix.Diagonal((*scale, 1))
    before = points_of(mesh)
    heads = [rig.matrix_world @ bone.head_local for bone in rig.data.bones]
    (finding,) = found("scale", "fail")
    fix(finding)
    assert not found("scale") and mesh.matrix_world.to_scale()[:] == pytest.approx((1, 1, 1), abs=1e-5)
    assert points_of(mesh) == pytest.approx(before, abs=1e-5)
    now = [rig.matrix_world @ bone.head_local for bone in rig.data.bones]
    assert np.array(now) == pytest.approx(np.array(heads), abs=1e-5)
    rig.pose.bones["Leg.L"].matrix_basis = Matrix.Rotation(0.5, 4, "X")
    moved = np.linalg.norm(points_of(mesh) - before, axis=1)
    assert moved[16:32].min() > 1e-3 * max(np.abs(scale)) and moved[32:].max() < 1e-5


@pytest.mark.parametrize("scale", [100.0, 300.0, 39.5, 0.01])
def test_uniform_scales_pass_and_say_their_number(scale: float) -> None:
    rig, _ = walker()
    rig.scale = (scale,) * 3
    bpy.context.view_layer.update()
    facts = creature_facts(bpy.context.scene.objects, "walker")
    told = [f for f in check_up(facts) if f.rule == "scale"]
    assert [f.level for f in told] == ["pass"] and f"{scale:.4g}" in told[0].text


def test_weights_that_are_no_numbers_come_from_the_neighbour() -> None:
    _, mesh = walker()
    mesh.data.vertices[3].groups[0].weight = float("nan")
    (finding,) = found("weights", "fail")
    assert "1 of 48" in finding.text
    fix(finding)
    assert not found("weights")
    assert [(mesh.vertex_groups[g.group].name, g.weight) for g in mesh.data.vertices[3].groups] == [("Hips", 1.0)]


def test_vertices_without_weights_come_from_the_neighbour() -> None:
    _, mesh = walker()
    mesh.vertex_groups["Foot.L"].remove([24, 25])
    (finding,) = found("weights")
    assert finding.level == "fail" and "2 of 48" in finding.text
    fix(finding)
    assert not found("weights")
    assert mesh.vertex_groups["Foot.L"].weight(24) == 1.0


def test_more_than_four_influences_become_four_of_the_same_sum() -> None:
    _, mesh = walker()
    for weight, group in zip((0.3, 0.25, 0.2, 0.1, 0.08, 0.07), mesh.vertex_groups, strict=True):
        group.add([0], weight, "REPLACE")
    (finding,) = found("weights", "warn")
    assert "up to 6" in finding.text
    fix(finding)
    assert not found("weights")
    kept = {mesh.vertex_groups[g.group].name: g.weight for g in mesh.data.vertices[0].groups}
    assert set(kept) == {"Hips", "Head", "Leg.L", "Foot.L"} and sum(kept.values()) == pytest.approx(1.0)
    assert kept["Hips"] / kept["Head"] == pytest.approx(0.3 / 0.25, rel=1e-4)


def test_a_loose_part_follows_the_nearest_bone_and_another_stays_loose() -> None:
    rig, _ = walker()
    eye, floor = add_box("Eye", (0.05, -0.75, 1.3), 0.02), add_box("Floor", (0, 0, -1), 0.5)
    told = {f.names: f for f in found("loose_parts")}
    assert set(told) == {("Eye",), ("Floor",)}
    before = points_of(eye)
    fix(told["Eye",])
    assert [f.names for f in found("loose_parts")] == [("Floor",)]
    assert points_of(eye) == pytest.approx(before, abs=1e-6) and not floor.modifiers
    rig.pose.bones["Head"].matrix_basis = Matrix.Rotation(0.5, 4, "X")
    assert np.linalg.norm(points_of(eye) - before, axis=1).min() > 0.01


def test_vertices_at_no_place_are_deleted() -> None:
    _, mesh = walker()
    mesh.data.vertices[5].co.x = float("nan")
    (finding,) = found("bad_points", "fail")
    fix(finding)
    assert not found("bad_points") and len(mesh.data.vertices) == 47
    assert mesh.vertex_groups["Foot.R"].weight(46) == 1.0


def test_rest_position_and_scaled_bones() -> None:
    rig, _ = walker()
    rig.data.pose_position = "REST"
    rig.pose.bones["Head"].scale = (1, 1.5, 1)
    fix(found("shown_position")[0])
    fix(found("lengths")[0])
    assert not found("shown_position") and not found("lengths")


def ik(rig: bpy.types.Object) -> None:
    constraint = rig.pose.bones["Leg.L"].constraints.new("IK")
    constraint.target, constraint.subtarget, constraint.pole_target = rig, "Foot.L", rig
    constraint.pole_subtarget = "Head"


def keyed(rig: bpy.types.Object, path: str, values) -> None:
    rig.animation_data_create().action = bpy.data.actions.new("Move")
    bone = rig.pose.bones["Leg.L"]
    for frame, value in enumerate(values):
        setattr(bone, path, value)
        bone.keyframe_insert(path, frame=frame)
    setattr(bone, path, (0, 0, 0) if path == "location" else (1, 1, 1))


def second_armature(rig: bpy.types.Object) -> None:
    other = bpy.data.objects.new("Other", rig.data.copy())
    bpy.context.scene.collection.objects.link(other)
    hat = add_box("Hat", (0, -0.6, 1.5), 0.1)
    hat.vertex_groups.new(name="Head").add(list(range(8)), 1.0, "REPLACE")
    hat.modifiers.new("Armature", "ARMATURE").object = other


def unparent(rig: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["Foot.L"].parent = None
    bpy.ops.object.mode_set(mode="OBJECT")


def rolled(rig: bpy.types.Object) -> None:
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["Leg.R"].roll += 0.8
    bpy.ops.object.mode_set(mode="OBJECT")


def named(rig: bpy.types.Object, old: str, new: str) -> None:
    rig.data.bones[old].name = new


DEFECTS = {
    "ik": (ik, "controls", ("Foot.L", "Head")),
    "moved": (lambda rig: keyed(rig, "location", [(0, 0, 0), (0, 0.5, 0)]), "locations", ("Leg.L",)),
    "scaled": (lambda rig: keyed(rig, "scale", [(1, 1, 1), (1, 1.4, 1)]), "lengths", ("Leg.L",)),
    "stretch": (lambda rig: rig.pose.bones["Head"].constraints.new("STRETCH_TO"), "lengths", ("Head",)),
    "locked": (lambda rig: setattr(rig.pose.bones["Head"], "lock_rotation", (True,) * 3), "channels", ("Head",)),
    "two armatures": (second_armature, "armature_count", ("Other", "Rig")),
    "two roots": (unparent, "roots", ("Foot.L", "Hips")),
    "axes": (rolled, "mirrored_axes", ("Leg.L", "Leg.R")),
    "letters": (lambda rig: named(rig, "Head", "Kopf_ä"), "letters", ("Kopf_ä",)),
    "alike": (lambda rig: named(rig, "Head", "hips"), "copies", ("Hips", "hips")),
    "wrong side": (lambda rig: named(rig, "Head", "Ear.L"), "sides", None),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_what_no_fix_may_touch_is_told_with_the_remedy(defect: str) -> None:
    rig, _ = walker()
    make, rule, names = DEFECTS[defect]
    if defect == "wrong side":
        for side, other in (("L", "X"), ("R", "L"), ("X", "R")):
            for bone in ("Leg", "Foot"):
                named(rig, f"{bone}.{side}", f"{bone}.{other}")
        names = ("Foot.L", "Foot.R", "Leg.L", "Leg.R")
    else:
        assert not found(rule)
        make(rig)
    (finding,) = found(rule)
    assert tuple(sorted(finding.names)) == tuple(sorted(names)) and finding.hint and not finding.fix


@pytest.mark.parametrize("turn", [0, 90, 180, -90])
@pytest.mark.parametrize("lying", [False, True])
def test_facing_and_up_are_suggested_never_taken(turn: int, lying: bool, tmp_path: Path) -> None:
    rig, _ = walker()
    lie = Matrix.Rotation(np.radians(-90), 4, "X") if lying else Matrix()
    rig.matrix_world = lie @ Matrix.Rotation(np.radians(turn), 4, "Z")
    bpy.context.view_layer.update()
    made = checkup.look_here(context(tmp_path, "w").paths, Creature(name="w"), "Body")
    assert made.suggestion.sure and made.suggestion.up == ("y" if lying else "z")
    assert made.suggestion.turn_deg == pytest.approx((180 - turn) % 360 - 180 if turn == 180 else -turn, abs=1e-6) or (
        turn == 180 and abs(made.suggestion.turn_deg) == 180
    )
    (asked,) = [f for f in made.findings if f.rule == "facing"]
    assert asked.level == "warn" and asked.fix == ("take_suggestion" if turn or lying else "confirm_facing")
    taken = Prep(rotz_deg=made.suggestion.turn_deg, up=made.suggestion.up)
    answered = Creature(name="w", prep=taken, facing_confirmed=Facing(taken.up, taken.rotz_deg))
    again = checkup.look_here(context(tmp_path, "w").paths, answered, "Body")
    assert next(f for f in again.findings if f.rule == "facing").level == "pass"
    assert not [f for f in again.findings if f.rule == "sides" and f.level != "pass"]
    assert load_checkup(tmp_path / "assets/w/checkup.json") == again


def test_prep_stands_a_lying_creature_up(tmp_path: Path) -> None:
    rig, _ = walker()
    rig.matrix_world = Matrix.Rotation(np.radians(-90), 4, "X")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "lies.blend"))
    run_prep(tmp_path, "w", tmp_path / "lies.blend", length_m=1.0, axis="z", up="y")
    head = next(o for o in bpy.context.scene.objects if o.type == "ARMATURE")
    world = {b.name: head.matrix_world @ b.head_local for b in head.data.bones}
    assert world["Head"].z > world["Foot.L"].z and world["Head"].y < world["Hips"].y and world["Leg.L"].x > 0


def test_prep_mends_its_copy_and_the_artists_file_stays(tmp_path: Path) -> None:
    rig, mesh = walker()
    rig.scale = (1, 2, 1)
    mesh.vertex_groups["Foot.L"].remove([24, 25])
    file = tmp_path / "w.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    before = file.read_bytes()
    ctx = context(tmp_path, "w", mesh=str(file), object="")
    assert checkup.run(ctx)["failures"] == 2
    with pytest.raises(BadInputError, match="not uniform"):
        run_prep(tmp_path, "w", file)
    fixes = tuple(PrepFix(f.fix, f.names) for f in load_checkup(ctx.paths.checkup_json).findings if f.level == "fail")
    save_creature(ctx.paths.creature_json, Creature(name="w", prep=Prep(fixes=fixes)))
    assert checkup.run(ctx)["failures"] == 0
    scale_rig, scale_body, weights = load_checkup(ctx.paths.checkup_json).fixed
    assert "Rig" in scale_rig and "Body" in scale_body and "2 vertices without weights" in weights
    run_prep(tmp_path, "w", file)
    assert file.read_bytes() == before


def test_an_unknown_fix_is_refused_by_name() -> None:
    walker()
    with pytest.raises(BadInputError, match=r"no fix 'paint_it'.*apply_scale"):
        apply_fixes(list(bpy.context.scene.objects), [PrepFix("paint_it")])


def test_looking_changes_nothing_of_the_scene(tmp_path: Path) -> None:
    rig, mesh = walker()
    rig.pose.bones["Leg.L"].matrix_basis = Matrix.Rotation(0.5, 4, "X")
    before = points_of(mesh)
    checkup.look_here(context(tmp_path, "w").paths, Creature(name="w"), "Body")
    assert points_of(mesh) == pytest.approx(before, abs=1e-7) and rig.data.pose_position == "POSE"
    assert (tmp_path / "assets/w/facing.png").stat().st_size > 1000


@pytest.mark.needs_assets
def test_every_creature_is_checked_without_a_traceback(tmp_path: Path, assets_dir: Path) -> None:
    files = sorted((assets_dir / "creatures").glob("*.*"))
    assert files
    for file in files:
        ctx = context(tmp_path, file.stem, mesh=str(file), object="")
        checkup.run(ctx)
        assert load_checkup(ctx.paths.checkup_json).findings
