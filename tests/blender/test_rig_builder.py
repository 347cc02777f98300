"""A skeleton in the window: joints are placed, moved and written; the built rig's limits and poses are tried."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest
from blender.recorded_layout import RecordedLayout, sidebar_context
from mathutils import Matrix, Vector
from pretended import pretend_run

import anymocap_addon
from anymocap_addon.core.checkup.prep_fixes import confirm_facing
from anymocap_addon.core.creature import Creature, load_creature, save_creature
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.rig import RigBone, RigSpec, load_rig_info, load_rig_spec, save_rig_spec

SPEC = RigSpec(
    joints={
        "tail": (0.0, 0.8, 0.5),
        "hip": (0.0, 0.4, 0.5),
        "chest": (0.0, -0.4, 0.5),
        "nose": (0.0, -0.8, 0.5),
        "top_L": (0.2, -0.3, 0.5),
        "foot_L": (0.2, -0.3, 0.03),
        "top_R": (-0.2, -0.3, 0.5),
        "foot_R": (-0.2, -0.3, 0.03),
    },
    bones=(
        RigBone("body", "hip", "chest", None),
        RigBone("tail", "hip", "tail", "body"),
        RigBone("head", "chest", "nose", "body"),
        RigBone("leg_L", "top_L", "foot_L", "body"),
        RigBone("leg_R", "top_R", "foot_R", "body"),
    ),
    limits_deg={"leg": ((-50.0, 40.0), (-10.0, 10.0), (-20.0, 5.0))},
)


@pytest.fixture(scope="module", autouse=True)
def enabled():
    bpy.ops.wm.read_homefile(use_empty=True)
    anymocap_addon.register()
    yield
    anymocap_addon.unregister()


@pytest.fixture(scope="module")
def prepped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a block on four legs, prepped, without a skeleton."""
    root = tmp_path_factory.mktemp("skeleton") / "project"
    paths = Project(root).creature("block")
    paths.static_blend.parent.mkdir(parents=True)
    work = bmesh.new()
    box(work, (0.3, 1.6, 0.3), (0.0, 0.0, 0.5))
    for x in (-0.2, 0.2):
        for y in (-0.3, 0.4):
            box(work, (0.12, 0.12, 0.5), (x, y, 0.25))
    data = bpy.data.meshes.new("block")
    work.to_mesh(data)
    work.free()
    mesh = bpy.data.objects.new("block", data)
    bpy.context.scene.collection.objects.link(mesh)
    bpy.ops.wm.save_as_mainfile(filepath=str(paths.static_blend), copy=True, check_existing=False)
    bpy.data.batch_remove([mesh, data])
    save_creature(paths.creature_json, Creature(name="block"))
    return root


def box(work: Any, size: tuple[float, float, float], middle: tuple[float, float, float]) -> None:
    matrix = Matrix.Translation(middle) @ Matrix.Diagonal((*size, 1.0))
    made = bmesh.ops.create_cube(work, size=1.0, matrix=matrix)
    edges = list({edge for vertex in made["verts"] for edge in vertex.link_edges})
    bmesh.ops.subdivide_edges(work, edges=edges, cuts=4, use_grid_fill=True)


@pytest.fixture
def paths(prepped: Path) -> CreaturePaths:
    paths = Project(prepped).creature("block")
    for file in (paths.rig_json, paths.rig_sheet):
        file.unlink(missing_ok=True)
    return paths


@pytest.fixture
def scene(paths: CreaturePaths) -> Any:
    settings = bpy.context.scene.anymocap
    settings.project, settings.creature = str(paths.root), "block"
    yield settings
    bpy.ops.anymocap.leave_joints()
    bpy.ops.anymocap.leave_trial()
    settings.creature = settings.project = ""


@pytest.fixture
def placed(scene: Any, paths: CreaturePaths) -> CreaturePaths:
    save_rig_spec(paths.rig_json, SPEC)
    return paths


def draw() -> RecordedLayout:
    sys.modules["anymocap_addon.ops.states"].STATES.refresh(bpy.context)
    layout = RecordedLayout()
    sys.modules["anymocap_addon.ui.panels.main_panel"].draw_panel(layout, sidebar_context(900))
    return layout


def drag(*moves: tuple[str, tuple[float, float, float]]) -> None:
    """Move joints as Blender's grab does, with what the mesh's X mirror does left out."""
    points = bpy.context.view_layer.objects.active
    work = bmesh.from_edit_mesh(points.data)
    layer = work.verts.layers.int["anymocap_joint"]
    names = list(SPEC.joints)
    for joint, by in moves:
        next(v for v in work.verts if v[layer] == names.index(joint)).co += Vector(by)
    bmesh.update_edit_mesh(points.data)


def select(joint: str) -> None:
    points = bpy.context.view_layer.objects.active
    work = bmesh.from_edit_mesh(points.data)
    layer = work.verts.layers.int["anymocap_joint"]
    for vertex in work.verts:
        vertex.select_set(vertex[layer] == list(SPEC.joints).index(joint))
    bmesh.update_edit_mesh(points.data)


def test_a_bare_mesh_is_offered_a_template_and_rig_says_what_it_lacks(scene, paths):
    confirm_facing(paths)
    pretend_run_prep(paths, armatures=0)
    seen = draw()
    assert "Next: place a skeleton" in seen.words and "Skeleton: none yet" in seen.words
    assert "anymocap.place_joints" in seen.operators() and "anymocap.show_joints" not in seen.operators()
    assert "The mesh has no skeleton" in STATES().of(bpy.context).survey.blocked["rig"]
    pretend_run_prep(paths, armatures=1)
    assert "anymocap.place_joints" not in draw().operators(), "it has an armature of its own"


def pretend_run_prep(paths: CreaturePaths, armatures: int) -> None:
    kept = paths.static_blend.read_bytes()
    paths.model().write_bytes(b"mesh")
    pretend_run(paths, "prep", result={"size_m": [0.5, 1.6, 0.65], "armatures": armatures})
    paths.static_blend.write_bytes(kept)


def STATES() -> Any:
    return sys.modules["anymocap_addon.ops.states"].STATES


def test_the_joints_stand_in_the_prepped_mesh_to_be_dragged_with_their_mirror(placed):
    bpy.ops.anymocap.show_joints()
    points = bpy.context.view_layer.objects.active
    assert points.mode == "EDIT" and points.data.use_mirror_x and points.show_in_front
    meshes = [o for o in bpy.context.scene.objects if o.type == "MESH" and o != points]
    assert [round(d, 3) for d in meshes[0].dimensions] == [0.52, 1.6, 0.65] and meshes[0].hide_select
    seen = draw()
    assert "anymocap.write_joints" in seen.operators() and "Move the other side along" in seen.words
    select("foot_L")
    bpy.ops.transform.translate(value=(0.03, 0.05, 0.0), mirror=True)
    places = sys.modules["anymocap_addon.blender.joint_points"].joint_places(points)
    assert places["foot_L"] == pytest.approx((0.23, -0.25, 0.03), abs=1e-4)
    assert places["foot_R"] == pytest.approx((-0.23, -0.25, 0.03), abs=1e-4)


def test_what_was_dragged_is_written_and_drawn_and_nothing_is_left_in_the_scene(placed):
    before = set(bpy.data.objects), set(bpy.data.meshes)
    bpy.ops.anymocap.show_joints()
    drag(("foot_L", (0.02, 0.0, 0.0)), ("nose", (0.0, 0.05, 0.01)))
    bpy.ops.anymocap.write_joints()
    spec = load_rig_spec(placed.rig_json)
    assert spec.joints["foot_L"] == (0.22, -0.3, 0.03) and spec.joints["nose"] == (0.0, -0.75, 0.51)
    assert spec.joints["tail"] == SPEC.joints["tail"]
    assert (spec.bones, spec.limits_deg) == (SPEC.bones, SPEC.limits_deg)
    assert placed.rig_sheet.read_bytes().startswith(b"\x89PNG")
    assert (set(bpy.data.objects), set(bpy.data.meshes)) == before and bpy.context.mode == "OBJECT"
    assert "Open Grid Picture" in draw().words


@pytest.mark.parametrize(
    ("move", "says"),
    [
        (("foot_L", (1.0, 0.0, 0.0)), "'foot_L' is .* off the mesh"),
        (("nose", (0.0, 0.4, 0.0)), "'chest' and 'nose' lie at one place"),
    ],
)
def test_joints_that_make_no_skeleton_are_refused_and_stay_in_the_view(placed, move, says):
    bpy.ops.anymocap.show_joints()
    drag(move)
    with pytest.raises(RuntimeError, match=says):
        bpy.ops.anymocap.write_joints()
    assert load_rig_spec(placed.rig_json) == SPEC and bpy.context.mode == "EDIT_MESH"


def test_a_joint_that_was_deleted_or_copied_is_told(placed):
    bpy.ops.anymocap.show_joints()
    select("nose")
    bpy.ops.mesh.duplicate()
    with pytest.raises(RuntimeError, match="'nose' is there twice"):
        bpy.ops.anymocap.write_joints()
    bpy.ops.mesh.delete(type="VERT")
    select("tail")
    bpy.ops.mesh.delete(type="VERT")
    with pytest.raises(RuntimeError, match="'tail' is gone"):
        bpy.ops.anymocap.write_joints()
    assert load_rig_spec(placed.rig_json) == SPEC


def test_a_skeleton_that_was_edited_meanwhile_is_replaced_on_purpose_only(placed):
    bpy.ops.anymocap.show_joints()
    drag(("nose", (0.0, 0.05, 0.0)))
    other = RigSpec({**SPEC.joints, "tail": (0.0, 0.7, 0.5)}, SPEC.bones, {})
    save_rig_spec(placed.rig_json, other)
    with pytest.raises(RuntimeError, match="changed since these joints were shown"):
        bpy.ops.anymocap.write_joints()
    assert load_rig_spec(placed.rig_json) == other
    bpy.ops.anymocap.write_joints(overwrite=True)
    assert load_rig_spec(placed.rig_json).joints["nose"] == (0.0, -0.75, 0.5)


def test_a_template_never_replaces_a_skeleton_unasked(placed):
    with pytest.raises(RuntimeError, match="would replace it"):
        bpy.ops.anymocap.place_joints()
    assert load_rig_spec(placed.rig_json) == SPEC
    bpy.ops.anymocap.place_joints(overwrite=True)
    spec = load_rig_spec(placed.rig_json)
    assert len(spec.bones) > len(SPEC.bones)
    points = bpy.context.view_layer.objects.active
    assert points.mode == "EDIT" and len(points.data.vertices) == len(spec.joints)


@pytest.fixture(scope="module")
def built(prepped: Path) -> Path:
    """The skeleton, and the rig that is built from it."""
    settings = bpy.context.scene.anymocap
    settings.project, settings.creature = str(prepped), "block"
    save_rig_spec(Project(prepped).creature("block").rig_json, SPEC)
    bpy.ops.anymocap.rig()
    settings.creature = settings.project = ""
    return prepped


@pytest.fixture
def tried(built: Path, placed: CreaturePaths) -> Any:
    bpy.ops.anymocap.try_rig()
    return bpy.context.view_layer.objects.active


def test_a_slider_swings_the_bone_between_its_limits_and_the_other_side_along(tried, placed):
    assert bpy.context.mode == "POSE"
    left, right = tried.pose.bones["leg_L"], tried.pose.bones["leg_R"]
    ranges = left.anymocap_ranges
    assert np.degrees((ranges.low_x, ranges.high_x, ranges.low_z)) == pytest.approx((-50.0, 40.0, -20.0), abs=0.01)
    rest = foot(left)
    ranges.swing_x = -1.0
    forward = foot(left)
    assert forward.y < rest.y - 0.3, "a turn below zero swings the foot forward"
    assert np.degrees(left.rotation_euler.x) == pytest.approx(-50.0, abs=0.01)
    assert tuple(foot(right)) == mirrored(forward)
    ranges.high_z = np.radians(15.0)
    assert np.degrees(left.rotation_euler.z) == pytest.approx(15.0, abs=0.01), "the number that is edited is shown"
    assert tuple(foot(right)) == mirrored(foot(left))
    ranges.both_sides = False
    still = foot(right)
    ranges.swing_x = 1.0
    assert foot(left).y > rest.y + 0.2 and foot(right) == still


def foot(bone: Any) -> Any:
    bpy.context.view_layer.update()
    return bone.tail.copy()


def mirrored(place: Any) -> Any:
    return pytest.approx((-place.x, place.y, place.z), abs=1e-4)


def test_limits_that_were_changed_are_written_for_both_sides_and_rig_uses_them(tried, placed):
    bpy.ops.anymocap.write_limits()
    assert load_rig_spec(placed.rig_json) == SPEC, "nothing was changed"
    tried.pose.bones["leg_R"].anymocap_ranges.high_x = np.radians(60.0)
    tried.pose.bones["tail"].anymocap_ranges.low_z = np.radians(-33.0)
    bpy.ops.anymocap.write_limits()
    written = load_rig_spec(placed.rig_json).limits_deg
    assert written["leg"] == ((-50.0, 60.0), (-10.0, 10.0), (-20.0, 5.0)) and written["tail"][2][0] == -33.0
    assert set(written) == {"leg", "tail"}
    bpy.ops.anymocap.leave_trial()
    bpy.ops.anymocap.rig()
    rig = load_rig_info(placed.rig_info)
    for leg in ("leg_L", "leg_R"):
        assert np.degrees(rig.limits_rad[rig.index(leg), 0]) == pytest.approx((-50.0, 60.0), abs=0.01)
    save_rig_spec(placed.rig_json, SPEC)
    bpy.ops.anymocap.rig()


def test_a_side_that_may_turn_otherwise_is_written_by_itself(tried, placed):
    ranges = tried.pose.bones["leg_R"].anymocap_ranges
    ranges.both_sides = False
    ranges.high_x = np.radians(10.0)
    bpy.ops.anymocap.write_limits()
    written = load_rig_spec(placed.rig_json).limits_deg
    assert written["leg"] == SPEC.limits_deg["leg"] and written["leg_R"][0] == (-50.0, 10.0)


def test_a_lowest_turn_above_the_highest_is_refused(tried, placed):
    tried.pose.bones["head"].anymocap_ranges.low_x = np.radians(120.0)
    with pytest.raises(RuntimeError, match="lowest turn of 'head' lies above"):
        bpy.ops.anymocap.write_limits()
    assert load_rig_spec(placed.rig_json) == SPEC


def test_the_pose_in_the_view_becomes_the_test_pose_and_is_shown_again(tried, placed):
    with pytest.raises(RuntimeError, match="stands at rest"):
        bpy.ops.anymocap.keep_test_pose()
    tried.pose.bones["leg_L"].rotation_euler = np.radians((-30.0, 0.0, 5.0))
    bpy.context.view_layer.update()
    bpy.ops.anymocap.keep_test_pose()
    assert load_creature(placed.creature_json).testpose == {"leg_L": (-30.0, 0.0, 5.0)}
    bpy.ops.anymocap.show_pose(pose="REST")
    assert tuple(tried.pose.bones["leg_L"].rotation_euler) == (0.0, 0.0, 0.0)
    bpy.ops.anymocap.show_pose(pose="TEST")
    assert np.degrees(tried.pose.bones["leg_L"].rotation_euler) == pytest.approx((-30.0, 0.0, 5.0), abs=0.01)


def test_the_panel_shows_the_active_bones_ranges_and_what_the_skin_check_found(tried, placed):
    tried.data.bones.active = tried.data.bones["leg_L"]
    seen = draw()
    assert "leg_L" in seen.words and "Swing X" in seen.words and "anymocap.write_limits" in seen.operators()
    bpy.ops.anymocap.skin()
    found = STATES().refresh(bpy.context).of("skin").record.result["findings"]
    words = draw().words
    assert all(finding in words for finding in found) and ("The skin holds" in words) == (not found)
    assert "Red: stretched" in words


def test_nothing_of_the_trial_stays(tried, placed):
    bpy.ops.anymocap.leave_trial()
    assert not [o for o in bpy.context.scene.objects if o.type == "ARMATURE"]
    assert "anymocap.try_rig" in draw().operators()
