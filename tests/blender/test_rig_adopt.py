"""The rig stage adopts the armature that came with a creature."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from anymocap_addon.blender.armature_space import prep_similarity, read_joints
from anymocap_addon.blender.pose import local_basis, sample_action, set_basis
from anymocap_addon.blender.scene import append_rigged, fresh_scene, open_rigged, world_vertices
from anymocap_addon.core.creature import Creature, PaintGroup, load_creature, save_creature
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.kinematics import Skeleton, rotvec_to_matrix
from anymocap_addon.core.rig import load_rig_info

from .stage_runs import context, run_prep, run_rig

pytestmark = pytest.mark.needs_assets

LEGS = {f"{end}_{side}_leg" for end in ("front", "back") for side in ("left", "right")}
ARMS_AND_LEGS = {f"{side}_{limb}" for side in ("left", "right") for limb in ("arm", "leg")}
EIGHT = {f"{end}_{s}_leg" for end in ("front", "mid_front", "mid_back", "back") for s in ("left", "right")}
WINGS = {"left_wing", "right_wing"}

# File, prep settings, capture root, number of bones, limbs.
CREATURES = {
    "Fox": ("Fox.glb", {}, "b_Hip_01", 22, LEGS | {"tail"}),
    "Wolf": ("Wolf.glb", {}, "Back", 46, LEGS | {"tail"}),
    "Robot": ("RobotExpressive.glb", {"axis": "z"}, "Body", 40, ARMS_AND_LEGS),
    "Spider": ("Spider.glb", {}, "Body", 36, EIGHT | {"abdomen"}),
    "Trex": ("Trex.glb", {}, "Body", 28, ARMS_AND_LEGS | {"tail"}),
    "Bird": ("bird.fbx", {}, "Bone", 10, WINGS | {"tail"}),
}
# Captured parents that are not the armature's own.
MOVED = {
    "Wolf": {"IKBackLeg.L": "BackLowerLeg.L", "IKFrontLeg.R": "FrontLowerLeg.R"},
    "Robot": {"Foot.L": "LowerLeg.L"},
    "Spider": {"FrontFoot2.R": "FrontLeg3.R", "BackFoot.L": "BackLeg3.L"},
    "Trex": {"BackFoot.R": "BackLowLeg.R"},
    "Bird": {"Bone.001": "Bone", "Bone.003": "Bone"},
}


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory, assets_dir: Path):
    """Rigs creatures on demand, each once: name -> (project folder, result of the rig stage)."""
    root = tmp_path_factory.mktemp("Tiere ü")
    done: dict[str, dict] = {}

    def rigged(name: str) -> tuple[Path, dict]:
        if name not in done:
            file, settings, *_ = CREATURES[name]
            run_prep(root, name, assets_dir / "creatures" / file, **settings)
            done[name] = run_rig(root, name)
        return root, done[name]

    return rigged


@pytest.mark.parametrize("name", CREATURES)
def test_capture_skeleton_and_body_parts(projects, name: str) -> None:
    root, result = projects(name)
    _, _, capture_root, count, limbs = CREATURES[name]
    rig = load_rig_info(context(root, name).paths.rig_info)
    assert rig.bones[0] == capture_root and count == rig.B and set(rig.bone_groups) == limbs
    for bone, parent in MOVED.get(name, {}).items():
        captured, own = rig.bones[rig.parents[rig.index(bone)]], rig.armature_parents[rig.index(bone)]
        assert captured == parent and own != parent
    assert all(count > 0 for count in result["painted_faces"].values())
    paint = load_creature(context(root, name).paths.creature_json).paint
    assert {group.name for group in paint} == limbs and len({group.word for group in paint}) == len(limbs)
    assert {i for group in rig.joint_groups.values() for i in group} == set(range(rig.J))


@pytest.mark.parametrize("name", ["Fox", "Wolf", "Robot"])
def test_keypoints_sit_on_the_creature_and_contacts_on_the_ground(projects, name: str) -> None:
    root, _ = projects(name)
    scene = open_rigged(context(root, name).paths)
    points = np.concatenate([world_vertices(mesh) for mesh in scene.meshes])
    joints = scene.rig.rest_joints()
    gap = np.linalg.norm(points[None] - joints[:, None], axis=-1).min(1)
    tips = scene.rig.keypoint_end == 1
    size = np.ptp(points, axis=0).max()
    assert gap.max() < 0.12 * size and gap[tips].max() < 0.06 * size
    legs = [part for part in scene.rig.bone_groups if part.endswith("leg")]
    touching = {p for p in legs for c in scene.rig.contacts if c in scene.rig.joint_groups[p]}
    assert touching == set(legs) and joints[list(scene.rig.contacts), 2].max() < 0.03 * size
    apart = np.linalg.norm(joints[:, None] - joints[None], axis=-1) + np.eye(len(joints))
    assert apart.min() > 0.01 * size, "no doubled keypoints"
    left, right = scene.rig.pairs.T
    assert len(left) >= 8 and (joints[left, 0] > 0).all() and (joints[right, 0] < 0).all()
    assert scene.rig.body_length == pytest.approx(1.5, abs=1e-4)


@pytest.mark.parametrize("name", CREATURES)
def test_any_pose_within_the_limits_is_the_same_in_blender(projects, name: str) -> None:
    """Forward kinematics of rig_info.json against Blender's own, re-parented feet included: 0.1 mm."""
    root, _ = projects(name)
    scene = open_rigged(context(root, name).paths)
    rig, rng = scene.rig, np.random.default_rng(3)
    euler = rng.uniform(rig.limits_rad[..., 0], rig.limits_rad[..., 1], (3, rig.B, 3))
    turn = rotvec_to_matrix(rng.normal(0, 0.5, (3, 3))) @ rig.rest[0, :3, :3]
    trans = rig.rest[0, :3, 3] + rng.normal(0, 0.3, (3, 3))
    basis = local_basis(rig, scene.armature, trans, turn, euler)
    want = Skeleton.of(rig).forward(trans, turn, euler).joints
    similarity = prep_similarity(rig, scene.armature)
    world = np.array(scene.armature.matrix_world)
    assert np.abs(world - rig.to_prep).max() < 1e-6, "the armature is saved where it was adopted"
    for frame in range(3):
        set_basis(scene.armature, basis, frame)
        bpy.context.view_layer.update()
        assert np.abs(read_joints(scene.armature, rig, similarity) - want[frame]).max() < 1e-4


@pytest.mark.parametrize(("name", "action"), [("Fox", "Run"), ("Wolf", "AnimalArmature|Walk"), ("Robot", "Walking")])
def test_limits_hold_the_creatures_own_actions(projects, name: str, action: str) -> None:
    root, result = projects(name)
    assert action in result["limits_from"]
    scene = open_rigged(context(root, name).paths)
    _, _, euler = sample_action(scene.armature, scene.rig, action, 24, bpy.context.scene.render.fps)
    low, high = scene.rig.limits_rad[1:, :, 0], scene.rig.limits_rad[1:, :, 1]
    inside = (euler[:, 1:] > low - 1e-6) & (euler[:, 1:] < high + 1e-6)
    assert inside.mean() > 0.995
    assert np.degrees((high - low).max()) <= 340.001 and np.degrees((high - low).min()) > 3


def test_left_and_right_can_do_the_same(projects) -> None:
    from anymocap_addon.core.limits import mirror_limits

    root, _ = projects("Wolf")
    rig = load_rig_info(context(root, "Wolf").paths.rig_info)
    for stem in ("BackShoulder", "FrontUpperLeg", "Ear2"):
        left, right = rig.index(f"{stem}.L"), rig.index(f"{stem}.R")
        mirrored = mirror_limits(rig.limits_rad[left], rig.rest[left, :3, :3], rig.rest[right, :3, :3])
        assert mirrored == pytest.approx(rig.limits_rad[right], abs=1e-6)
        assert not np.allclose(rig.limits_rad[left], rig.limits_rad[right]), "a sideways range has its sign turned"


def test_rigged_creatures_can_be_appended_to_an_open_file(projects) -> None:
    root, _ = projects("Fox")
    fresh_scene()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("root", None))  # takes the armature's name
    scene = append_rigged(context(root, "Fox").paths, bpy.context.scene.collection)
    assert scene.armature.type == "ARMATURE" and [m.name for m in scene.meshes] == ["fox"]
    assert "Walk" in bpy.data.actions


def test_creature_json_wins_and_is_held_to_the_rig(tmp_path: Path, assets_dir: Path) -> None:
    run_prep(tmp_path, "fox", assets_dir / "creatures" / "Fox.glb")
    file = context(tmp_path, "fox").paths.creature_json
    creature = load_creature(file)
    group = PaintGroup("brush", "red", (1.0, 0.0, 0.0), ("b_Tail02_013", "b_Tail03_014"))
    mine = replace(creature, paint=(group,), feet=("b_LeftHand_011", "b_RightHand_08"))
    save_creature(file, mine)
    written = file.read_bytes()
    result = run_rig(tmp_path, "fox")
    assert list(result["painted_faces"]) == ["brush"] and file.read_bytes() == written
    assert result["contacts"] == ["b_RightHand_08_tip", "b_LeftHand_011_tip"]
    save_creature(file, replace(mine, contacts=("b_LeftFoot02_018",)))
    assert run_rig(tmp_path, "fox")["contacts"] == ["b_LeftFoot02_018"]
    wrong: list[tuple[Creature, str]] = [
        (replace(mine, feet=("Paw",)), "feet: The rig has no bone 'Paw'"),
        (replace(mine, contacts=("Paw",)), "contacts: The rig has no keypoint 'Paw'"),
        (replace(mine, paint=(replace(group, bones=("Brush",)),)), "paint: The group 'brush' names the bone 'Brush'"),
        (replace(mine, paint=(replace(group, bones=()),)), "names no bones"),
    ]
    before = context(tmp_path, "fox").paths.rig_info.read_bytes()
    for bad, message in wrong:
        save_creature(file, bad)
        with pytest.raises(BadInputError, match=message):
            run_rig(tmp_path, "fox")
    assert context(tmp_path, "fox").paths.rig_info.read_bytes() == before


def spoiled_fox(root: Path, assets_dir: Path, spoil) -> None:
    """Prep the fox, then change its mesh in static.blend."""
    run_prep(root, "fox", assets_dir / "creatures" / "Fox.glb")
    path = context(root, "fox").paths.static_blend
    bpy.ops.wm.open_mainfile(filepath=str(path))
    spoil(bpy.data.objects["fox"])
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def test_weights_that_are_not_numbers_are_named(tmp_path: Path, assets_dir: Path) -> None:
    def spoil(fox: bpy.types.Object) -> None:
        group = fox.vertex_groups["b_Head_05"].index
        vertex = next(v for v in fox.data.vertices if any(g.group == group for g in v.groups))
        next(g for g in vertex.groups if g.group == group).weight = float("nan")

    spoiled_fox(tmp_path, assets_dir, spoil)
    with pytest.raises(BadInputError, match=r"Mesh 'fox' has 1 vertices whose weights.*NaN.*'b_Head_05'"):
        run_rig(tmp_path, "fox")


def test_few_vertices_without_weights_are_completed_and_many_refused(tmp_path: Path, assets_dir: Path) -> None:
    def spoil(count: int):
        def take(fox: bpy.types.Object) -> None:
            for group in fox.vertex_groups:
                group.remove(list(range(count)))

        return take

    spoiled_fox(tmp_path, assets_dir, spoil(5))
    assert any("5 vertices without weights" in note for note in run_rig(tmp_path, "fox")["notes"])
    spoiled_fox(tmp_path, assets_dir, spoil(400))
    with pytest.raises(BadInputError, match=r"'fox': 23\.1 % of its vertices \(400 of 1728\).*Assign Automatic"):
        run_rig(tmp_path, "fox")


def test_meshes_of_a_second_armature_are_named(tmp_path: Path, assets_dir: Path) -> None:
    def add_rider(fox: bpy.types.Object) -> None:
        rider, second = fox.copy(), fox.parent.copy()
        rider.data, second.name = fox.data.copy(), "Second"
        for obj in (rider, second):
            bpy.context.scene.collection.objects.link(obj)
        rider.name, rider.parent, rider.modifiers[0].object = "rider", second, second

    spoiled_fox(tmp_path, assets_dir, add_rider)
    with pytest.raises(BadInputError, match=r"follow another armature.*Join"):
        run_rig(tmp_path, "fox")


def test_a_creature_without_armature_or_rig_json_is_told_what_to_do(tmp_path: Path, assets_dir: Path) -> None:
    run_prep(tmp_path, "spot", assets_dir / "creatures" / "spot.glb")
    with pytest.raises(BadInputError, match=r"no armature.*rig\.json"):
        run_rig(tmp_path, "spot")
    with pytest.raises(BadInputError, match=r"static\.blend.*no such file"):
        run_rig(tmp_path, "never prepped")


def test_an_edited_role_changes_limb_paint_and_limits_but_not_the_artists_paint(
    tmp_path: Path, assets_dir: Path
) -> None:
    run_prep(tmp_path, "Fox", assets_dir / "creatures" / "Fox.glb")
    run_rig(tmp_path, "Fox")
    paths = context(tmp_path, "Fox").paths
    before, rig_before = load_creature(paths.creature_json), load_rig_info(paths.rig_info)
    bone = "b_LeftUpperArm_09"
    save_creature(paths.creature_json, replace(before, roles={bone: "left_wing", "b_RightUpperArm_06": "right_wing"}))
    run_rig(tmp_path, "Fox")
    edited, rig = load_creature(paths.creature_json), load_rig_info(paths.rig_info)
    b = rig.index(bone)
    assert rig.bone_parts[b] == "left_wing" and rig.bone_roles[b] == "wing"
    assert {g.name for g in edited.paint} == set(rig.bone_groups) == {
        "left_wing", "right_wing", "back_left_leg", "back_right_leg", "tail"
    }  # fmt: skip
    assert not np.allclose(rig.limits_rad[b], rig_before.limits_rad[b])
    own = replace(edited, roles={}, paint=(PaintGroup("brush", "red", (1.0, 0.0, 0.0), ("b_Tail03_014",)),))
    save_creature(paths.creature_json, own)
    run_rig(tmp_path, "Fox")
    assert load_creature(paths.creature_json).paint == own.paint
    assert load_rig_info(paths.rig_info).bone_parts == rig_before.bone_parts
