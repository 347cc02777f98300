"""Prep: every kind of file or an object of the scene comes out at real size, facing -Y, on the ground."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from anymocap_addon.blender import prep
from anymocap_addon.blender.action_playback import playing
from anymocap_addon.blender.import_mesh import import_file, snapshot_object
from anymocap_addon.blender.scene import fresh_scene
from anymocap_addon.core.creature import Creature, Prep, load_creature, save_creature
from anymocap_addon.core.errors import BadInputError

from .stage_runs import armature, context, meshes, run_prep, world_points

# A wedge: 4 long in x with its nose at +x, 1 wide in y, 2 high in z, standing on z = 3.
WEDGE = [(-2, -0.5, 3), (-2, 0.5, 3), (2, 0, 3), (-2, -0.5, 5), (-2, 0.5, 5), (2, 0, 3.4)]
FACES = [(0, 1, 2), (3, 5, 4), (0, 2, 5, 3), (1, 4, 5, 2), (0, 3, 4, 1)]


def add_mesh(name: str, vertices=WEDGE, faces=FACES) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices, [], faces)
    obj = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def add_armature(mesh: bpy.types.Object, name: str = "Rig") -> bpy.types.Object:
    """Two bones along x that each move half of the wedge, with an Action."""
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    back = rig.data.edit_bones.new("back")
    back.head, back.tail = (-2, 0, 4), (0, 0, 4)
    front = rig.data.edit_bones.new("front")
    front.head, front.tail, front.parent = (0, 0, 4), (2, 0, 3.2), back
    bpy.ops.object.mode_set(mode="OBJECT")
    for bone, members in (("back", [0, 1, 3, 4]), ("front", [2, 5])):
        mesh.vertex_groups.new(name=bone).add(members, 1.0, "REPLACE")
    mesh.modifiers.new("Armature", "ARMATURE").object = rig
    mesh.parent = rig
    rig.animation_data_create().action = bpy.data.actions.new("Nod")
    for frame, turn in ((1, 0.0), (10, 0.5)):
        rig.pose.bones["front"].rotation_mode = "XYZ"
        rig.pose.bones["front"].rotation_euler = (turn, 0, 0)
        rig.pose.bones["front"].keyframe_insert("rotation_euler", frame=frame)
    return rig


EXPORTS = {
    "glb": lambda p: bpy.ops.export_scene.gltf(filepath=p, export_format="GLB"),
    "gltf": lambda p: bpy.ops.export_scene.gltf(filepath=p, export_format="GLTF_SEPARATE"),
    "fbx": lambda p: bpy.ops.export_scene.fbx(filepath=p),
    "obj": lambda p: bpy.ops.wm.obj_export(filepath=p),
    "usdc": lambda p: bpy.ops.wm.usd_export(filepath=p),
    "usda": lambda p: bpy.ops.wm.usd_export(filepath=p),
    "usdz": lambda p: bpy.ops.wm.usd_export(filepath=p),
}


@pytest.mark.parametrize("kind", EXPORTS)
def test_every_kind_of_file(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "Füchse und Wölfe"
    folder.mkdir()
    fresh_scene()
    add_mesh("Wedge")
    path = folder / f"mein Keil.{kind}"
    EXPORTS[kind](str(path))
    result = run_prep(folder / "projekt", "Keil", path, length_m=2.0, rotz_deg=-90.0)
    points = world_points()
    assert result["size_m"] == pytest.approx([0.5, 2.0, 1.0], abs=1e-4)
    assert points.min(0) == pytest.approx([-0.25, -1.0, 0.0], abs=1e-4)
    assert points.max(0) == pytest.approx([0.25, 1.0, 1.0], abs=1e-4)
    nose = points[points[:, 1].argmin()]
    assert nose[0] == pytest.approx(0.0, abs=1e-4) and points[points[:, 1] < -0.99, 2].max() < 0.25
    saved = load_creature(folder / "projekt" / "assets" / "Keil" / "creature.json")
    assert saved.prep == Prep(2.0, -90.0, "y") and saved.name == "Keil"


def test_the_file_on_disk_is_what_the_scene_shows_and_a_second_run_needs_no_settings(tmp_path: Path) -> None:
    fresh_scene()
    add_mesh("Wedge")
    EXPORTS["glb"](str(tmp_path / "wedge.glb"))
    run_prep(tmp_path, "w", tmp_path / "wedge.glb", length_m=2.0, rotz_deg=-90.0)
    before = world_points()
    run_prep(tmp_path, "w")  # model.glb and creature.json were kept
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "assets" / "w" / "prep" / "static.blend"))
    assert world_points() == pytest.approx(before, abs=1e-6)


def artist_state() -> dict[str, object]:
    """Everything of the open scene that an artist would notice."""
    return {
        "objects": {
            o.name: (
                o.type,
                o.parent.name if o.parent else None,
                [round(x, 6) for row in o.matrix_world for x in row],
                o.hide_viewport,
                o.select_get(),
                [c.name for c in o.users_collection],
            )
            for o in bpy.context.scene.objects
        },
        "points": {m.name: [tuple(v.co) for v in m.vertices] for m in bpy.data.meshes},
        "groups": {o.name: [g.name for g in o.vertex_groups] for o in bpy.data.objects},
        "actions": {a.name: (tuple(a.frame_range), a.use_fake_user, a.users) for a in bpy.data.actions},
        "frame": bpy.context.scene.frame_current,
    }


def test_the_artists_objects_and_file_stay_as_they_are(tmp_path: Path) -> None:
    fresh_scene()
    rig = add_armature(add_mesh("Wedge"))
    rig.matrix_world = Matrix.Translation((5, 6, 7)) @ Matrix.Rotation(0.3, 4, "Z") @ Matrix.Scale(40.0, 4)
    other = add_mesh("Somebody else")
    other.location = (9, 9, 9)
    bpy.context.scene.frame_set(7)
    bpy.context.view_layer.update()
    artist = tmp_path / "artist.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(artist))
    before, digest = artist_state(), hashlib.sha256(artist.read_bytes()).hexdigest()
    snapshot_object("Wedge", tmp_path / "snapshot.blend")
    assert artist_state() == before
    given = prep.gather(context(tmp_path, "wedge").paths, {"object": "Wedge"})
    result = run_prep(tmp_path, "wedge", **given, length_m=2.0, rotz_deg=-90.0 - np.degrees(0.3))
    assert hashlib.sha256(artist.read_bytes()).hexdigest() == digest
    assert result["size_m"] == pytest.approx([0.5, 2.0, 1.0], abs=1e-4)
    assert [m.name for m in meshes()] == ["Wedge"] and "Nod" in bpy.data.actions
    again = run_prep(tmp_path, "wedge2", tmp_path / "snapshot.blend", object="Rig", length_m=2.0)
    assert again["meshes"] == 1 and again["size_m"][1] == pytest.approx(2.0, abs=1e-4)


def test_helpers_lights_and_bone_shapes_are_not_the_creature(tmp_path: Path) -> None:
    fresh_scene()
    wedge = add_mesh("Wedge")
    rig = add_armature(wedge)
    shape = add_mesh("Bone shape")
    rig.pose.bones["back"].custom_shape = shape
    hidden = add_mesh("Huge helper", [(100 * x, 100 * y, 100 * z) for x, y, z in WEDGE])
    hidden.hide_render = True
    add_mesh("Floor", [(-50, -50, 0), (50, -50, 0), (50, 50, 0)], [(0, 1, 2)])
    for name, data in (("Sun", bpy.data.lights.new("Sun", "SUN")), ("Eye", bpy.data.cameras.new("Eye"))):
        bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, data))
    second = add_mesh("Hat", [(x / 4 + 1, y / 4, z / 4 + 3) for x, y, z in WEDGE])
    second.parent, second.parent_type, second.parent_bone = rig, "BONE", "front"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "all.blend"))
    result = run_prep(tmp_path, "w", tmp_path / "all.blend", object="Wedge")
    assert [m.name for m in meshes()] == ["Hat", "Wedge"] and result["meshes"] == 2
    assert {o.type for o in bpy.context.scene.objects} == {"MESH", "ARMATURE", "EMPTY"}
    run_prep(tmp_path, "all", tmp_path / "all.blend")  # no object named: all that an armature moves
    assert [m.name for m in meshes()] == ["Hat", "Wedge"]


@pytest.mark.needs_assets
def test_actions_play_as_they_did_in_the_file(tmp_path: Path, assets_dir: Path) -> None:
    """World vertices under an Action in static.blend are the prep similarity of those in the file."""
    fox = assets_dir / "creatures" / "Fox.glb"

    def pose(frame: int) -> np.ndarray:
        with playing(armature(), bpy.data.actions["Walk"]):
            bpy.context.scene.frame_set(frame)
            return world_points()

    fresh_scene()
    import_file(fox)
    for extra in [o for o in bpy.data.objects if o.name.startswith("Icosphere")]:
        bpy.data.objects.remove(extra)
    plain = [pose(frame) for frame in (0, 5, 11)]
    run_prep(tmp_path, "fox", fox)
    assert [m.name for m in meshes()] == ["fox"]
    matrix = np.array(bpy.data.objects["anymocap_prep"].matrix_world)
    for frame, points in zip((0, 5, 11), plain, strict=True):
        want = points @ matrix[:3, :3].T + matrix[:3, 3]
        assert np.abs(pose(frame) - want).max() < 1e-5
    assert np.abs(plain[1] - plain[0]).max() > 1  # the Walk moves


@pytest.mark.needs_assets
def test_bones_that_an_action_does_not_key_keep_the_pose_of_the_file(tmp_path: Path, assets_dir: Path) -> None:
    """The robot's Walking leaves Shoulder.L where the file's nodes put it, 64 degrees below the bind pose."""
    run_prep(tmp_path, "robot", assets_dir / "creatures" / "RobotExpressive.glb")
    shoulder = armature().pose.bones["Shoulder.L"]
    assert shoulder.matrix_basis == Matrix(), "static.blend stands at rest"
    with playing(armature(), bpy.data.actions["Walking"]):
        bpy.context.scene.frame_set(3)
        assert np.degrees(shoulder.matrix_basis.to_quaternion().angle) == pytest.approx(64, abs=2)
    assert shoulder.matrix_basis == Matrix()


@pytest.mark.needs_assets
def test_meshes_parented_to_bones_stay_where_the_file_puts_them(tmp_path: Path, assets_dir: Path) -> None:
    """The importer's default guess of bone rolls moved the robot's legs away from its feet."""
    run_prep(tmp_path, "robot", assets_dir / "creatures" / "RobotExpressive.glb")
    points = {o.name: np.array([o.matrix_world @ v.co for v in o.data.vertices]) for o in meshes()}
    for side in "LR":
        lower_leg, foot = points[f"LowerLeg.{side}"], points[f"Foot.{side}"]
        assert lower_leg[:, 2].min() < foot[:, 2].max(), side


def test_a_mirror_modifier_is_part_of_the_creature(tmp_path: Path) -> None:
    fresh_scene()
    half = add_mesh("Half", [(x, y + 0.5, z) for x, y, z in WEDGE])
    half.modifiers.new("Mirror", "MIRROR").use_axis = (False, True, False)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "half.blend"))
    result = run_prep(tmp_path, "w", tmp_path / "half.blend", object="Half", length_m=4.0, axis="x")
    assert result["size_m"] == pytest.approx([4.0, 2.0, 2.0], abs=1e-4) and not meshes()[0].modifiers


def stretched(path: Path) -> None:
    fresh_scene()
    add_armature(add_mesh("Wedge")).scale = (1, 2, 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def pointless(path: Path) -> None:
    fresh_scene()
    add_mesh("Empty", [], [])
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def not_finite(path: Path) -> None:
    fresh_scene()
    add_mesh("Wedge").data.vertices[2].co.x = float("nan")
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def flat(path: Path) -> None:
    fresh_scene()
    add_mesh("Wedge", [(x, 0, z) for x, _, z in WEDGE])
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


@pytest.mark.parametrize(
    ("make", "name", "message"),
    [
        (stretched, "Wedge", r"not uniform.*Apply > Scale"),
        (pointless, "Empty", r"no visible mesh.*Empty \(0 vertices\)"),
        (not_finite, "Wedge", r"'Wedge' has 1 vertices whose coordinates are not finite"),
        (flat, "Wedge", r"no extent along y"),
        (pointless, "Nobody", r"no object 'Nobody'.*Empty"),
    ],
)
def test_creatures_that_cannot_be_prepared(make, name: str, message: str, tmp_path: Path) -> None:
    make(tmp_path / "bad.blend")
    with pytest.raises(BadInputError, match=message):
        run_prep(tmp_path, "w", tmp_path / "bad.blend", object=name)
    assert not (tmp_path / "assets" / "w").exists(), "nothing half made is left"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.glb", None, "no such mesh file"),
        ("empty.glb", b"", "0 bytes"),
        ("text.glb", b"hello, this is not a mesh", "not a .glb file"),
        ("bad.gltf", b"{", "not valid JSON"),
        ("lone.gltf", json.dumps({"asset": {"version": "2.0"}, "buffers": [{"uri": "a.bin"}]}).encode(), "'a.bin'"),
        ("ascii.fbx", b"; FBX 7.3.0 project file", "not a binary .fbx"),
        ("cut.fbx", b"Kaydara FBX Binary  \x00\x1a\x00\xe8\x1c\x00\x00" + b"\x07" * 40, "importer cannot read it"),
        ("nothing.obj", b"# no vertices\n", "no visible mesh"),
        ("bad.usda", b"#usda 1.0\ndef {", "importer cannot read it|no visible mesh"),
        ("model.stl", b"solid", "'.stl' are not read"),
    ],
)
def test_files_that_cannot_be_read(name: str, content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInputError, match=message) as caught:
        run_prep(tmp_path, "w", path)
    assert name in str(caught.value) and not (tmp_path / "assets" / "w").exists()


def test_a_truncated_glb_says_how_much_is_there(tmp_path: Path) -> None:
    fresh_scene()
    add_mesh("Wedge")
    EXPORTS["glb"](str(tmp_path / "whole.glb"))
    whole = (tmp_path / "whole.glb").read_bytes()
    (tmp_path / "cut.glb").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInputError, match=f"cut short: {len(whole) // 2} of {len(whole)} bytes"):
        run_prep(tmp_path, "w", tmp_path / "cut.glb")
    (tmp_path / "torn.glb").write_bytes(whole[:60] + b"\xff" * (len(whole) - 60))
    with pytest.raises(BadInputError, match="importer cannot read it"):
        run_prep(tmp_path, "w", tmp_path / "torn.glb")


@pytest.mark.parametrize(("value", "message"), [(0.0, "add up to zero at 6 of 6"), (np.nan, "not finite at 6 of 6")])
def test_skin_weights_that_the_importer_would_make_up_are_refused(value: float, message: str, tmp_path: Path) -> None:
    fresh_scene()
    add_armature(add_mesh("Wedge"))
    EXPORTS["glb"](str(tmp_path / "whole.glb"))
    data = bytearray((tmp_path / "whole.glb").read_bytes())
    size = int.from_bytes(data[12:16], "little")
    gltf = json.loads(data[20 : 20 + size])
    accessor = gltf["accessors"][gltf["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"]]
    view = gltf["bufferViews"][accessor["bufferView"]]
    assert accessor["componentType"] == 5126, "floats"
    start = 20 + size + 8 + view.get("byteOffset", 0)
    weights = np.full(4 * accessor["count"], value, np.float32).tobytes()
    data[start : start + len(weights)] = weights
    (tmp_path / "bad.glb").write_bytes(data)
    run_prep(tmp_path, "good", tmp_path / "whole.glb")
    with pytest.raises(BadInputError, match=message.replace("6 of 6", f"{accessor['count']} of {accessor['count']}")):
        run_prep(tmp_path, "bad", tmp_path / "bad.glb")


def test_a_broken_creature_json_stops_before_anything_is_touched(tmp_path: Path) -> None:
    fresh_scene()
    add_mesh("Wedge")
    EXPORTS["glb"](str(tmp_path / "wedge.glb"))
    file = tmp_path / "assets" / "w" / "creature.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"name": "w", "prep": {"length_m": "long"}}', "utf-8")
    with pytest.raises(BadInputError, match=r"creature\.json: prep\.length_m"):
        run_prep(tmp_path, "w", tmp_path / "wedge.glb")
    assert file.read_text("utf-8") == '{"name": "w", "prep": {"length_m": "long"}}'


def test_what_the_artist_wrote_in_creature_json_stays(tmp_path: Path) -> None:
    fresh_scene()
    add_mesh("Wedge")
    EXPORTS["glb"](str(tmp_path / "wedge.glb"))
    paths = context(tmp_path, "w").paths
    save_creature(paths.creature_json, Creature("Wedgy", prep=Prep(3.0, -90.0, "y"), feet=("back",)))
    written = paths.creature_json.read_bytes()
    result = run_prep(tmp_path, "w", tmp_path / "wedge.glb")
    assert result["size_m"][1] == pytest.approx(3.0, abs=1e-4) and paths.creature_json.read_bytes() == written
    run_prep(tmp_path, "w", tmp_path / "wedge.glb", length_m=1.0)
    again = load_creature(paths.creature_json)
    assert again.prep == Prep(1.0, -90.0, "y") and again.feet == ("back",) and again.name == "Wedgy"
