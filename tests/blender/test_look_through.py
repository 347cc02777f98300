"""The layout's cameras in the artist's scene: exact wherever the armature stands, and back to the former view."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view
from mathutils import Vector

import anymocap_addon
from anymocap_addon.blender.layout_camera import fit_camera, is_even, prep_place
from anymocap_addon.blender.scene import append_rigged
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.project import Project
from anymocap_addon.core.rig import RigInfo
from anymocap_addon.ops.former_view import FORMER
from anymocap_addon.ops.layout_cameras import COLLECTION, look_through, looked_through, may_leave

from .small_creature import framed, write_small_creature

PLACES = ["where it was", "scaled and turned", "parented", "tiny", "moved"]


@pytest.fixture
def scene(tmp_path: Path, small_rig: RigInfo) -> Iterator[bpy.types.Scene]:
    write_small_creature(tmp_path, small_rig, framed(small_rig))
    bpy.ops.wm.read_factory_settings()
    anymocap_addon.register()
    scene = bpy.context.scene
    scene.anymocap.project, scene.anymocap.creature = str(tmp_path), "small"
    yield scene
    anymocap_addon.unregister()


def brought(tmp_path: Path, case: str) -> bpy.types.Object:
    scene = bpy.context.scene
    armature = append_rigged(Project(tmp_path).creature("small"), scene.collection).armature
    if case == "scaled and turned":
        armature.scale, armature.rotation_euler, armature.location = (100.0,) * 3, (0.3, -0.7, 2.0), (5, -3, 2)
    elif case == "parented":
        parent = bpy.data.objects.new("parent", None)
        scene.collection.objects.link(parent)
        parent.scale, parent.rotation_euler, parent.location = (0.4,) * 3, (0.0, 0.0, 1.0), (1, 2, 3)
        armature.parent = parent
        armature.location = (0.5, 0.0, 0.0)
    elif case == "tiny":
        armature.scale = (0.01,) * 3
    elif case == "moved":
        armature.location = (40.0, -30.0, 1.0)
    scene.anymocap.armature = armature
    bpy.context.view_layer.update()
    return armature


@pytest.mark.parametrize("case", PLACES)
@pytest.mark.parametrize("view", ["front", "side"])
def test_the_camera_sees_joints_where_the_layout_puts_them(scene, tmp_path, small_rig, case, view):
    """To 0.05 px, for the armature's own bones as Blender has them."""
    armature = brought(tmp_path, case)
    assert bpy.ops.anymocap.look_through(view=view.upper(), render=True) == {"FINISHED"}
    bpy.context.view_layer.update()
    layout = framed(small_rig).layout
    assert layout is not None
    camera, part = bpy.data.objects[f"small {view}"], layout.camera(view)
    assert (scene.render.resolution_x, scene.render.resolution_y) == (part.width, part.height)
    assert scene.camera == camera
    heads = small_rig.rest[:, :3, 3]
    want = layout.project(heads)[0 if view == "front" else 1] - [0 if view == "front" else layout.w_front, 0]
    for bone, uv in zip(small_rig.bones, want, strict=True):
        seen = world_to_camera_view(scene, camera, armature.matrix_world @ armature.pose.bones[bone].head)
        pixel = np.array([seen.x * part.width, (1 - seen.y) * part.height])
        assert np.abs(pixel - uv).max() < 0.05, (bone, pixel, uv)
        assert camera.data.clip_start < seen.z < camera.data.clip_end


def test_cameras_are_made_once_and_the_scene_keeps_its_own(scene, tmp_path):
    armature = brought(tmp_path, "where it was")
    own = bpy.data.objects.new("own", bpy.data.cameras.new("own"))
    scene.collection.objects.link(own)
    scene.camera = own
    before = (scene.render.resolution_x, scene.render.resolution_y, scene.render.fps)
    for view in ("FRONT", "SIDE", "FRONT"):
        bpy.ops.anymocap.look_through(view=view)
    (collection,) = (c for c in bpy.data.collections if c.name.startswith(COLLECTION))
    assert sorted(o.name for o in collection.objects) == ["small front", "small side"]
    assert scene.camera == own and (scene.render.resolution_x, scene.render.resolution_y, scene.render.fps) == before
    place = collection.objects["small front"].matrix_world.copy()
    collection.objects["small front"].name = "mine"
    armature.location.x += 3.0
    bpy.context.view_layer.update()
    bpy.ops.anymocap.look_through(view="FRONT")
    assert len(collection.objects) == 2
    moved = collection.objects["mine"].matrix_world.translation - place.translation
    assert (moved - Vector((3, 0, 0))).length < 1e-5


def test_leaving_brings_back_the_former_view(scene, tmp_path, small_rig):
    brought(tmp_path, "where it was")
    bpy.ops.anymocap.look_through(view="SIDE")
    bpy.ops.anymocap.look_through(view="FRONT")
    area = next(a for a in bpy.data.screens["Layout"].areas if a.type == "VIEW_3D")
    space, region = area.spaces.active, area.spaces.active.region_3d
    region.view_perspective = "PERSP"
    region.view_location, region.view_distance = (1.0, 2.0, 3.0), 4.5
    region.view_rotation = (0.5, 0.5, 0.5, 0.5)
    space.lock_camera = True
    own, local = scene.camera, space.use_local_camera
    look_through(space, bpy.data.objects["small side"])
    assert looked_through(space) == "side" and region.view_perspective == "CAMERA"
    look_through(space, bpy.data.objects["small front"])
    assert looked_through(space) == "front" and scene.camera == own and not space.lock_camera
    FORMER.restore(space)
    assert looked_through(space) is None and scene.camera == own
    assert region.view_perspective == "PERSP" and space.lock_camera and space.use_local_camera == local
    assert tuple(region.view_location) == (1.0, 2.0, 3.0) and region.view_distance == 4.5
    assert tuple(region.view_rotation) == pytest.approx((0.5, 0.5, 0.5, 0.5))
    assert {"small front", "small side"} <= set(bpy.data.objects.keys())
    look_through(space, bpy.data.objects["small side"])
    bpy.data.objects.remove(bpy.data.objects["small side"])  # as an undo does
    assert looked_through(space) is None and may_leave(space)
    FORMER.restore(space)
    assert not may_leave(space) and region.view_perspective == "PERSP" and region.view_distance == 4.5
    look_through(space, bpy.data.objects["small front"])
    space.camera = bpy.data.objects.new("the scene's", bpy.data.cameras.new("c"))  # as an undo does where there is one
    assert looked_through(space) is None and may_leave(space)
    look_through(space, bpy.data.objects["small front"])
    FORMER.restore(space)
    assert not may_leave(space) and region.view_perspective == "PERSP" and region.view_distance == 4.5


def test_an_object_that_is_no_armature_is_told(scene, tmp_path, small_rig):
    """A script may choose one; a draw asks where it stands, and must never raise anything else."""
    with pytest.raises(BadInputError, match="has no bone"):
        prep_place(small_rig, bpy.data.objects.new("mesh", bpy.data.meshes.new("mesh")))


def test_a_stretched_or_foreign_armature_is_told(scene, tmp_path, small_rig):
    armature = brought(tmp_path, "where it was")
    armature.scale = (1.0, 2.0, 1.0)
    bpy.context.view_layer.update()
    assert not is_even(prep_place(small_rig, armature)) and is_even(np.eye(4))
    other = bpy.data.objects.new("other", bpy.data.armatures.new("other"))
    scene.collection.objects.link(other)
    scene.anymocap.armature = other
    with pytest.raises(RuntimeError, match="no bone"):
        bpy.ops.anymocap.look_through(view="FRONT")


def test_a_large_creatures_camera_stands_clear_of_it():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    layout = Layout.framing(np.array([-20.0, -40.0, 0.0]), np.array([20.0, 40.0, 60.0]))
    camera = bpy.data.objects.new("c", bpy.data.cameras.new("c"))
    fit_camera(camera, layout.camera("side"))
    assert camera.matrix_world.translation.x < -200 and camera.data.clip_end > 400
