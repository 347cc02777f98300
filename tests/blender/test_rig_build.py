"""The rig stage builds armature and skin from rig.json."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import bpy  # isort: skip
import bmesh  # isort: skip  # comes with bpy, so after it
import numpy as np
import pytest
from mathutils.bvhtree import BVHTree

from anymocap_addon.blender.rig_build import ENCLOSED, enclosure
from anymocap_addon.blender.scene import fresh_scene, open_rigged
from anymocap_addon.blender.skin import read_skin
from anymocap_addon.core.creature import load_creature, save_creature
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.rig import load_rig_info

from .stage_runs import armature, context, meshes, run_prep, run_rig, world_points

SPOT_RIG = json.loads((Path(__file__).resolve().parents[1] / "data" / "spot_rig.json").read_text("utf-8"))


def write_rig(root: Path, creature: str, data: dict) -> Path:
    path = context(root, creature).paths.rig_json
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data), "utf-8")
    return path


@pytest.fixture(scope="module")
def spot(tmp_path_factory: pytest.TempPathFactory, assets_dir: Path) -> Path:
    root = tmp_path_factory.mktemp("spot")
    run_prep(root, "spot", assets_dir / "creatures" / "spot.glb", rotz_deg=180.0)
    write_rig(root, "spot", SPOT_RIG)
    return root


@pytest.mark.needs_assets
def test_spot_gets_a_skin_that_moves_it_in_one_piece(spot: Path) -> None:
    result = run_rig(spot, "spot")
    assert result["mode"] == "build" and result["notes"][0] == "Automatic weights."
    scene = open_rigged(context(spot, "spot").paths)
    rig = scene.rig
    assert set(rig.bone_groups) == {f"{e}_{s}_leg" for e in ("front", "back") for s in ("left", "right")} | {"tail"}
    places = dict(zip(rig.keypoints, rig.rest_joints()))
    assert set(places) == set(SPOT_RIG["joints"])
    for name, place in SPOT_RIG["joints"].items():
        assert places[name] == pytest.approx(place, abs=1e-5)
    assert {rig.keypoints[c] for c in rig.contacts} == {f"{e}_hoof_{s}" for e in ("front", "back") for s in "LR"}
    rest = world_points()
    scene.armature.pose.bones["head"].rotation_quaternion = (0.924, 0.383, 0, 0)
    posed = world_points()
    skin = read_skin(scene.meshes[0], scene.armature)
    assert skin.weights.sum(1) == pytest.approx(1.0, abs=1e-4)
    moved = np.linalg.norm(posed - rest, axis=1)
    nose, hooves = rest[:, 1].argmin(), rest[:, 2] < 0.05
    assert moved[nose] > 0.2 and moved[hooves].max() < 1e-3
    # glTF splits vertices at seams: those at one place must stay together, or the skin tears.
    _, same = np.unique(rest.round(4), axis=0, return_inverse=True)
    for group in range(same.max() + 1):
        assert np.ptp(posed[same == group], axis=0).max() < 1e-3


@pytest.mark.needs_assets
def test_limits_by_stem_are_the_left_sides_and_mirrored_to_the_right(spot: Path) -> None:
    own = {**SPOT_RIG["limits_deg"], "ear_R": [[-1, 2], [-3, 4], [-5, 6]]}
    write_rig(spot, "spot", {**SPOT_RIG, "limits_deg": own})
    run_rig(spot, "spot", weights="rigid")
    write_rig(spot, "spot", SPOT_RIG)
    rig = load_rig_info(context(spot, "spot").paths.rig_info)
    limits = {bone: np.degrees(rig.limits_rad[rig.index(bone)]) for bone in rig.bones}
    assert limits["front_upper_L"] == pytest.approx(np.array([[-45, 45], [-5, 5], [-20, 8]]))
    assert limits["front_upper_R"] == pytest.approx(np.array([[-45, 45], [-5, 5], [-8, 20]]))
    assert limits["back_lower_R"] == pytest.approx(np.array([[-60, 10], [-3, 3], [-3, 3]]))
    assert limits["ear_R"] == pytest.approx(np.array([[-1, 2], [-3, 4], [-5, 6]])), "a bone's own limits stand"
    scene = open_rigged(context(spot, "spot").paths)
    outward = {}
    for side in "LR":  # 20 degrees outward is what the left limits allow and the right ones must too
        bone = scene.armature.pose.bones[f"front_upper_{side}"]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = (0, 0, np.radians(limits[bone.name][2, 0 if side == "L" else 1]))
        bpy.context.view_layer.update()
        outward[side] = bone.tail.x
    assert outward["L"] == pytest.approx(-outward["R"], abs=1e-4) and outward["L"] > 0.21 + 0.05


@pytest.mark.needs_assets
def test_rigid_vertices_follow_one_bone(spot: Path) -> None:
    run_rig(spot, "spot", weights="rigid")
    assert (read_skin(meshes()[0], armature()).weights > 0).sum(1).max() == 1
    file = context(spot, "spot").paths.creature_json
    soft = load_creature(file)
    save_creature(file, replace(soft, rigid=("head",)))
    run_rig(spot, "spot")
    skin = read_skin(meshes()[0], armature())
    shared = (skin.weights > 1e-4).sum(1) > 1
    heaviest = np.array(skin.bones)[skin.weights.argmax(1)]
    assert not shared[heaviest == "head"].any() and shared[heaviest != "head"].any()
    save_creature(file, replace(soft, rigid=("hed",)))
    with pytest.raises(BadInputError, match="rigid: The rig has no bone 'hed'"):
        run_rig(spot, "spot")
    save_creature(file, soft)


@pytest.mark.needs_assets
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joints": {"nose": [0.0, -0.70, 1.9]}}, r"rig\.json: joints\.nose: The joint 'nose' is 0\.[45]\d+ m off"),
        ({"joints": {"nose": [0.0, "front", 1.0]}}, r"rig\.json: joints\.nose"),
        ({"bones": {"head": {"parent": "neckk"}}}, "parent 'neckk' of bone 'head'"),
        ({"bones": {"pelvis": {"parent": "head"}}}, "cycle.*pelvis"),
        ({"bones": {"head": {"tail": "snout"}}}, "joint 'snout'"),
    ],
)
def test_a_wrong_rig_json_is_refused(spot: Path, change: dict, message: str) -> None:
    data = json.loads(json.dumps(SPOT_RIG))
    data["joints"].update(change.get("joints", {}))
    for bone in data["bones"]:
        bone.update(change.get("bones", {}).get(bone["name"], {}))
    write_rig(spot, "spot", data)
    before = context(spot, "spot").paths.rig_info.stat().st_mtime_ns
    with pytest.raises(BadInputError, match=message):
        run_rig(spot, "spot")
    assert context(spot, "spot").paths.rig_info.stat().st_mtime_ns == before
    write_rig(spot, "spot", SPOT_RIG)


def test_where_heat_fails_the_proxy_gives_the_weights(tmp_path: Path) -> None:
    """A body in clothes: heat reaches the inner shell alone, so half the vertices would get nothing."""
    fresh_scene()
    work = bmesh.new()
    for radius in (0.45, 0.5):
        bmesh.ops.create_uvsphere(work, u_segments=16, v_segments=12, radius=radius)
    bmesh.ops.scale(work, vec=(0.4, 2.0, 0.4), verts=work.verts)
    mesh = bpy.data.meshes.new("Clothed")
    work.to_mesh(mesh)
    work.free()
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Clothed", mesh))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "clothed.blend"))
    run_prep(tmp_path, "clothed", tmp_path / "clothed.blend", object="Clothed", length_m=1.5)
    joints = {"a": [0, 0.6, 0.15], "b": [0, 0, 0.15], "c": [0, -0.6, 0.15]}
    bones = [["back", "a", "b", None], ["front", "b", "c", "back"]]
    write_rig(tmp_path, "clothed", {"joints": joints, "bones": bones})
    result = run_rig(tmp_path, "clothed")
    assert result["notes"][0] == "Weights from a voxel-remeshed proxy."
    skin, points = read_skin(meshes()[0], armature()), world_points()
    front = skin.weights[:, skin.bones.index("front")]
    assert front[points[:, 1] < -0.3].min() > 0.8 and front[points[:, 1] > 0.3].max() < 0.2
    assert skin.weights.sum(1) == pytest.approx(1.0, abs=1e-4)


def test_inside_is_told_from_outside_even_with_holes_and_flipped_faces() -> None:
    work = bmesh.new()
    bmesh.ops.create_icosphere(work, subdivisions=2, radius=1.0)
    bmesh.ops.delete(work, geom=work.faces[:8], context="FACES")
    bmesh.ops.reverse_faces(work, faces=work.faces[:][::2])
    tree = BVHTree.FromBMesh(work)
    work.free()
    assert enclosure(tree, np.zeros(3)) >= ENCLOSED and enclosure(tree, np.array([0.0, 0.5, 0.0])) >= ENCLOSED
    assert enclosure(tree, np.array([0.0, 1.05, 0.0])) < 0.6
