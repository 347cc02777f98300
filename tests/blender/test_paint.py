"""Limb paint: the creature's own colours with each limb's colour over its faces."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from anymocap_addon.blender.base_colour import corner_base_colours
from anymocap_addon.blender.paint import (
    OPACITY,
    detailed_copies,
    face_groups,
    limbs_with_faces,
    mean_base_colour,
    paint_mesh,
)
from anymocap_addon.blender.scene import PAINT, fresh_scene, open_rigged
from anymocap_addon.core.creature import PaintGroup, load_creature
from anymocap_addon.core.palette import linear_to_srgb

from .stage_runs import context, mesh_arrays, run_prep, run_rig

RED = PaintGroup("front", "red", (1.0, 0.0, 0.0), ("front",))


def strip(colour_nodes=None) -> tuple[bpy.types.Object, bpy.types.Object]:
    """Four quads along y; the two at -y follow the bone `front`, the others `back`."""
    vertices = [(x, y, 0.0) for y in range(5) for x in (0.0, 1.0)]
    faces = [(2 * i, 2 * i + 1, 2 * i + 3, 2 * i + 2) for i in range(4)]
    mesh = bpy.data.meshes.new("Strip")
    mesh.from_pydata(vertices, [], faces)
    obj = bpy.data.objects.new("Strip", mesh)
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    for o in (obj, rig):
        bpy.context.scene.collection.objects.link(o)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, y in (("front", 0.0), ("back", 2.0)):
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = (0.5, y, 0), (0.5, y + 2, 0)
    bpy.ops.object.mode_set(mode="OBJECT")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    obj.vertex_groups.new(name="front").add([0, 1, 2, 3], 1.0, "REPLACE")
    obj.vertex_groups["front"].add([4, 5], 0.6, "REPLACE")
    obj.vertex_groups.new(name="back").add([6, 7, 8, 9], 1.0, "REPLACE")
    obj.vertex_groups["back"].add([4, 5], 0.4, "REPLACE")
    material = bpy.data.materials.new("Skin")
    material.use_nodes = True
    mesh.materials.append(material)
    if colour_nodes:
        colour_nodes(material, mesh)
    return obj, rig


def base_input(material: bpy.types.Material) -> bpy.types.NodeSocket:
    return next(n for n in material.node_tree.nodes if n.type == "BSDF_PRINCIPLED").inputs["Base Color"]


def plain(material: bpy.types.Material, mesh: bpy.types.Mesh) -> None:
    base_input(material).default_value = (0.2, 0.4, 0.6, 1.0)


def stripes(material: bpy.types.Material, mesh: bpy.types.Mesh) -> None:
    """A 4 x 1 image along v: black, red, green, white, times a factor of 0.5 (linear) as the glTF importer sets up."""
    image = bpy.data.images.new("Stripes", 1, 4)
    image.pixels.foreach_set(np.array([[0, 0, 0, 1], [1, 0, 0, 1], [0, 1, 0, 1], [1, 1, 1, 1]], np.float32).ravel())
    layer = mesh.uv_layers.new(name="UVMap")
    for loop in mesh.loops:
        layer.data[loop.index].uv = (0.5, (mesh.vertices[loop.vertex_index].co.y + 0.5) / 4)
    nodes, links = material.node_tree.nodes, material.node_tree.links
    texture, mix = nodes.new("ShaderNodeTexImage"), nodes.new("ShaderNodeMix")
    texture.image = image
    mix.data_type, mix.blend_type = "RGBA", "MULTIPLY"
    a, b = (s for s in mix.inputs if s.type == "RGBA" and s.enabled)
    links.new(texture.outputs["Color"], a)
    b.default_value = (0.5, 0.5, 0.5, 1.0)
    links.new(next(o for o in mix.outputs if o.type == "RGBA" and o.enabled), base_input(material))


def corners_by_y(obj: bpy.types.Object, colours: np.ndarray) -> dict[float, np.ndarray]:
    rows: dict[float, list[np.ndarray]] = {}
    for loop in obj.data.loops:
        rows.setdefault(obj.data.vertices[loop.vertex_index].co.y, []).append(colours[loop.index])
    return {y: np.array(found) for y, found in rows.items()}


def stored(obj: bpy.types.Object) -> np.ndarray:
    attribute = obj.data.color_attributes[PAINT]
    assert attribute.data_type == "BYTE_COLOR" and attribute.domain == "CORNER"
    colours = np.empty(len(obj.data.loops) * 4, np.float32)
    attribute.data.foreach_get("color_srgb", colours)
    return colours.reshape(-1, 4)[:, :3]


def test_paint_covers_the_faces_of_its_limb_with_a_crisp_edge() -> None:
    fresh_scene()
    obj, rig = strip(plain)
    assert face_groups(obj, rig, (RED,)).tolist() == [0, 0, -1, -1]  # mean weights 1, 0.8, 0.3, 0
    assert paint_mesh(obj, rig, (RED,)).faces == {"front": 2}
    own = linear_to_srgb(np.array([0.2, 0.4, 0.6]))
    mixed = own * (1 - OPACITY) + np.array(RED.colour) * OPACITY
    assert stored(obj)[:8] == pytest.approx(np.tile(mixed, (8, 1)), abs=1 / 255)
    assert stored(obj)[8:] == pytest.approx(np.tile(own, (8, 1)), abs=1 / 255)
    paint_mesh(obj, rig, ())  # painting again replaces
    assert stored(obj) == pytest.approx(np.tile(own, (16, 1)), abs=1 / 255)
    assert [a.name for a in obj.data.color_attributes] == [PAINT]


def test_a_limb_that_no_face_follows_most_is_not_painted() -> None:
    fresh_scene()
    obj, rig = strip(plain)
    obj.vertex_groups["front"].remove([0, 1, 2, 3])
    obj.vertex_groups["back"].add([0, 1, 2, 3], 1.0, "REPLACE")
    obj.vertex_groups["front"].add([0], 0.2, "REPLACE")
    limbs = {"fin": ("front",), "tail": ("back",)}
    assert limbs_with_faces(limbs, rig, [obj]) == {"tail": ("back",)}


def test_texture_and_factor_are_sampled_at_the_corners() -> None:
    fresh_scene()
    obj, _ = strip(stripes)
    rows = corners_by_y(obj, corner_base_colours(obj))
    half = linear_to_srgb(np.array([0.5]))[0]
    for y, want in ((0.0, (0, 0, 0)), (1.0, (half, 0, 0)), (2.0, (0, half, 0)), (3.0, (half, half, half))):
        assert rows[y] == pytest.approx(np.tile(want, (len(rows[y]), 1)), abs=1e-3)
    assert mean_base_colour([obj])[1] > 0.2


def test_a_rigid_part_takes_the_colour_of_the_bone_that_carries_it() -> None:
    fresh_scene()
    obj, rig = strip(plain)
    part = bpy.data.objects.new("Hat", obj.data.copy())
    bpy.context.scene.collection.objects.link(part)
    part.parent, part.parent_type, part.parent_bone = rig, "BONE", "front"
    assert paint_mesh(part, rig, (RED,)).faces == {"front": 4}


@pytest.mark.needs_assets
def test_detailed_copies_keep_the_shape_and_show_the_texture(tmp_path: Path, assets_dir: Path) -> None:
    run_prep(tmp_path, "fox", assets_dir / "creatures" / "Fox.glb")
    run_rig(tmp_path, "fox")
    scene = open_rigged(context(tmp_path, "fox").paths)
    paint = load_creature(context(tmp_path, "fox").paths.creature_json).paint
    plain_mesh = mesh_arrays(scene.meshes[0])
    fine = detailed_copies(scene, paint)
    detailed = mesh_arrays(fine.meshes[0])
    assert scene.meshes[0].hide_render and not fine.meshes[0].hide_render
    assert len(detailed.triangles) > 10 * len(plain_mesh.triangles)

    def area(arrays) -> float:
        a, b, c = (arrays.vertices[arrays.triangles[:, i]] for i in range(3))
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)

    assert area(detailed) == pytest.approx(area(plain_mesh), rel=1e-4)
    # The fox's eyes and nose are dark in its texture and lost on its 576 triangles.
    head = detailed.vertices[detailed.triangles].mean(1)[:, 1] < -0.5
    assert detailed.colours[head].min(axis=(1, 2)).min() < 0.2
    bone = scene.armature.pose.bones["b_Head_05"]
    bone.rotation_quaternion = (0.9, 0.3, 0.2, 0.1)
    bpy.context.view_layer.update()
    moved = mesh_arrays(fine.meshes[0]).vertices
    assert np.abs(moved - detailed.vertices).max() > 0.05, "the copy follows the bones"
