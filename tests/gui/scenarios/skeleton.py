"""A mesh without a skeleton: joints are placed, dragged, undone and written; the limits of its rig are tried."""

from __future__ import annotations

import json
from pathlib import Path

import bmesh
import bpy
from mathutils import Matrix


def play(user):
    root = Path(user.options["project"])
    bare_creature(root)
    yield from user.open_panel()
    user.settings.project, user.settings.creature = str(root), "block"
    user.settings.stages.prep.object = "block"
    yield from user.until(lambda: user.states() and user.states().survey, 20, "the panel knows the creature")
    with user.over():
        assert bpy.ops.anymocap.prep("INVOKE_DEFAULT") == {"FINISHED"}
    yield from user.until(lambda: user.states().next_step.action == "place_joints", 60, "a skeleton is asked for")
    yield 0.6
    user.shot("no_skeleton")
    yield from user.click("anymocap.place_joints")
    yield from user.until(lambda: active() is not None and active().mode == "EDIT", 60, "the joints stand in the mesh")
    yield 1.0
    user.shot("joints")
    yield from drag_with_mirror(user)
    yield from user.click("anymocap.write_joints")
    yield from user.until(lambda: bpy.context.mode == "OBJECT" and "block" in bpy.data.objects, 10, "written")
    yield from user.until(lambda: user.states().next_step.stage == "rig", 30, "the rig is next")
    yield 0.6
    yield from user.click("anymocap.rig")
    yield from user.until(lambda: user.word("rig") in ("ready", "failed"), 120, "rig has ended")
    assert user.word("rig") == "ready"
    yield from swing(user)


def active():
    return bpy.context.view_layer.objects.active


def bare_creature(root):
    """A block on four legs in the scene, and a creature.json that knows which way it faces."""
    folder = root / "assets" / "block"
    folder.mkdir(parents=True)
    facts = {
        "schema": "anymocap.creature/1",
        "name": "block",
        "prep": {"length_m": 1.6, "rotz_deg": 0.0, "axis": "y"},
        "facing_confirmed": {"up": "z", "rotz_deg": 0.0},
    }
    (folder / "creature.json").write_text(json.dumps(facts), encoding="utf-8")
    work = bmesh.new()
    middles = [(x, y, 0.25) for x in (-0.2, 0.2) for y in (-0.3, 0.4)]
    for size, middle in [((0.3, 1.6, 0.3), (0.0, 0.0, 0.5)), *(((0.12, 0.12, 0.5), place) for place in middles)]:
        bmesh.ops.create_cube(work, size=1.0, matrix=Matrix.Translation(middle) @ Matrix.Diagonal((*size, 1.0)))
    for obj in list(bpy.data.objects):
        bpy.data.objects.remove(obj)
    data = bpy.data.meshes.new("block")
    work.to_mesh(data)
    work.free()
    block = bpy.data.objects.new("block", data)
    bpy.context.scene.collection.objects.link(block)
    bpy.context.view_layer.objects.active = block
    data.remesh_voxel_size = 0.05
    bpy.ops.object.voxel_remesh()


def drag_with_mirror(user):
    """One paw is moved, the other follows; one undo takes back both."""
    places = user.module("blender.joint_points").joint_places
    before = places(active())
    paw = next(name for name in before if name.startswith("front_toe") and name.endswith("_L"))
    other = paw[:-1] + "R"
    names = json.loads(active()["anymocap_joint_names"])
    work = bmesh.from_edit_mesh(active().data)
    layer = work.verts.layers.int["anymocap_joint"]
    for vertex in work.verts:
        vertex.select_set(names[vertex[layer]] == paw)
    bmesh.update_edit_mesh(active().data)
    with user.over():
        bpy.ops.transform.translate("EXEC_DEFAULT", True, value=(0.01, 0.02, 0.0), mirror=True)
    yield 0.5
    user.shot("dragged")
    moved = places(active())
    assert abs(moved[paw][1] - before[paw][1] - 0.02) < 1e-3 and abs(moved[other][1] - before[other][1] - 0.02) < 1e-3
    with user.over():
        bpy.ops.ed.undo()
    yield 0.5
    assert places(active()) == before


def swing(user):
    """The copy of the rig goes into the view and out again."""
    with user.over():
        assert bpy.ops.anymocap.try_rig("EXEC_DEFAULT", True) == {"FINISHED"}
    yield from user.show_section(2)
    armature = active()
    leg = next(bone for bone in armature.pose.bones if bone.name.startswith("front_upper") and bone.name.endswith("_L"))
    armature.data.bones.active = leg.bone
    rest = leg.tail.copy()
    leg.anymocap_ranges.swing_x = -1.0
    yield 0.6
    user.shot("limits")
    assert (leg.tail - rest).length > 0.05
    with user.over():
        assert bpy.ops.anymocap.leave_trial("EXEC_DEFAULT", True) == {"FINISHED"}
    yield 0.5
    user.shot("left")
    assert [obj.name for obj in bpy.data.objects] == ["block"]
