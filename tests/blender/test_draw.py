"""The drawing of posed meshes: pixels where Layout.project says, colours that are not darkened, blur that averages."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view

from anymocap_addon.blender.draw import Drawer, PosedMeshes, layout_views
from anymocap_addon.blender.render import TwoViewRenderer, place_camera
from anymocap_addon.core.dataset.lights import FRONT_AXES, LIGHTS, ViewLights
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.layout import Layout

LAYOUT = Layout(w_front=400, w_side=880, ground_v=600.0, m_per_px=0.0025, cx=0.1, cy=-0.2)
POINTS = np.array([[0.1, -0.2, 0.3], [-0.2, 0.4, 1.1], [0.37, -0.75, 0.62]])
PAINT = (0.8, 0.4, 0.2)
EVEN = ViewLights(np.tile([0.0, 0.0, 1.0], (LIGHTS, 1)), np.zeros((LIGHTS, 3)), np.ones(3))


def _ball(points: np.ndarray, radius: float = 0.04, name: str = "balls") -> bpy.types.Object:
    """Balls at the points as one painted mesh."""
    import bmesh
    from mathutils import Matrix

    work = bmesh.new()
    for point in points:
        bmesh.ops.create_icosphere(work, subdivisions=3, radius=radius, matrix=Matrix.Translation(point.tolist()))
    data = bpy.data.meshes.new(name)
    work.to_mesh(data)
    work.free()
    paint = data.color_attributes.new("legpaint", "BYTE_COLOR", "CORNER")
    paint.data.foreach_set("color_srgb", np.tile(np.array([*PAINT, 1], np.float32), len(data.loops)))
    ball = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ball)
    bpy.context.view_layer.update()
    return ball


def _meshes(points: np.ndarray, radius: float = 0.04) -> PosedMeshes:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return PosedMeshes([_ball(points, radius)], bpy.context.evaluated_depsgraph_get())


def _centre(coverage: np.ndarray) -> np.ndarray:
    """Centre of mass in continuous pixel coordinates (u, v)."""
    rows, columns = np.indices(coverage.shape) + 0.5
    return np.array([(columns * coverage).sum(), (rows * coverage).sum()]) / coverage.sum()


@pytest.mark.parametrize("rows", [720, 360])
@pytest.mark.parametrize("point", POINTS)
def test_drawing_lies_where_the_layout_projects(point: np.ndarray, rows: int) -> None:
    meshes = _meshes(point[None])
    views = layout_views(LAYOUT, rows)
    drawer = Drawer(meshes, views)
    alpha = drawer.draw([meshes.capture()], (EVEN, EVEN))[..., 3] / 255.0
    scale = rows / LAYOUT.height
    for view, truth in zip(views, LAYOUT.project(point), strict=True):
        seen = np.add(_centre(alpha[:, view.left : view.left + view.width]), [view.left, 0])
        np.testing.assert_allclose(seen / scale, truth, atol=0.05)
    drawer.free()


def test_cameras_of_blender_agree_with_the_layout() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    from mathutils import Vector

    for name, truth in zip(("front", "side"), LAYOUT.project(POINTS), strict=True):
        view = LAYOUT.camera(name)
        camera = place_camera(name, view)
        scene.render.resolution_x, scene.render.resolution_y = view.width, view.height
        bpy.context.view_layer.update()
        seen = np.array([world_to_camera_view(scene, camera, Vector(p))[:] for p in POINTS])
        left = 0 if name == "front" else LAYOUT.w_front
        uv = np.stack([left + seen[:, 0] * view.width, (1 - seen[:, 1]) * view.height], 1)
        np.testing.assert_allclose(uv, truth, atol=0.01)
        assert (seen[:, 2] > camera.data.clip_start).all() and (seen[:, 2] < camera.data.clip_end).all()


def test_workbench_frame_lies_where_the_layout_projects() -> None:
    point = POINTS[2]
    with TwoViewRenderer(_meshes(point[None]), LAYOUT, samples="OFF") as renderer:
        frame = renderer.frame()
    assert frame.shape == (720, 1280, 3)
    away = np.abs(frame.astype(float) - LAYOUT.studio()).max(2)
    for left, right, truth in ((0, LAYOUT.w_front, 0), (LAYOUT.w_front, LAYOUT.width, 1)):
        covered = (away[:, left:right] > 12).astype(float)
        np.testing.assert_allclose(np.add(_centre(covered), [left, 0]), LAYOUT.project(point)[truth], atol=0.1)
        assert covered.sum() == pytest.approx(np.pi * (0.04 / LAYOUT.m_per_px) ** 2, rel=0.02)
    empty = np.ones(frame.shape[:2], bool)
    for uv in LAYOUT.project(point):
        u, v = np.round(uv).astype(int)
        empty[v - 20 : v + 20, u - 20 : u + 20] = False
    assert not away[empty].any(), "the backdrop is not the layout's studio"


def test_edges_keep_the_paint_colour() -> None:
    """Straight alpha: no rim darkens, sharp or blurred."""
    meshes = _meshes(POINTS)
    drawer = Drawer(meshes, layout_views(LAYOUT, 360))
    shape = meshes.capture()
    for shapes in ([shape], [shape] * 4):
        picture = drawer.draw(shapes, (EVEN, EVEN)).astype(float)
        alpha = picture[..., 3]
        assert ((alpha > 0) & (alpha < 255)).sum() > 50 and (alpha == 255).sum() > 300
        seen = picture[alpha >= 64][:, :3]
        np.testing.assert_allclose(seen, np.broadcast_to(np.array(PAINT) * 255, seen.shape), atol=4)
        assert not picture[alpha == 0].any()


def test_blur_is_the_mean_of_its_sub_poses() -> None:
    meshes = _meshes(POINTS[:1])
    drawer = Drawer(meshes, layout_views(LAYOUT, 360))
    ball = meshes.meshes[0]
    shapes, alone = [], []
    for step in range(4):
        ball.location = (0.1 * step, 0.05 * step, 0.02 * step)
        bpy.context.view_layer.update()
        shapes.append(meshes.capture())
        alone.append(drawer.draw([shapes[-1]], (EVEN, EVEN))[..., 3].astype(float))
    blurred = drawer.draw(shapes, (EVEN, EVEN))[..., 3].astype(float)
    mean = np.mean(alone, 0)
    assert abs(blurred.sum() / mean.sum() - 1) < 0.01
    np.testing.assert_allclose(_centre(blurred), _centre(mean), atol=0.05)
    assert (
        np.abs(blurred - mean).max() < 70
    )  # edges differ by less than one sub-pose, as each is moved by part of a pixel


def test_light_comes_from_where_it_is_said_to() -> None:
    meshes = _meshes(POINTS[:1], radius=0.1)
    drawer = Drawer(meshes, layout_views(LAYOUT, 360))
    from_right = ViewLights(np.tile(FRONT_AXES[0], (LIGHTS, 1)), np.full((LIGHTS, 3), 0.2), np.full(3, 0.1))
    picture = drawer.draw([meshes.capture()], (from_right, EVEN)).astype(float)
    row = round(LAYOUT.project(POINTS[0])[0][1] / 2)
    middle = round(LAYOUT.project(POINTS[0])[0][0] / 2)
    assert picture[row, middle + 15, 0] > 1.3 * picture[row, middle - 15, 0]


def test_a_mesh_without_paint_is_refused() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    ball = _ball(POINTS[:1])
    ball.data.color_attributes.remove(ball.data.color_attributes["legpaint"])
    with pytest.raises(BadInputError, match=r"balls.*legpaint.*rig stage"):
        PosedMeshes([ball], bpy.context.evaluated_depsgraph_get())
