"""The capture in the 3D view, drawn into an offscreen that is one view of the layout, pixel for pixel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import bpy
import gpu
import numpy as np
import pytest
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from anymocap_addon.blender.gpu_start import start_gpu
from anymocap_addon.blender.layout_camera import fit_camera, prep_place
from anymocap_addon.core.capture_view import CaptureView
from anymocap_addon.core.confidence_colour import confidence_colour
from anymocap_addon.core.detections import Detections
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.motion import Contact, Motion
from anymocap_addon.core.preview_frames import FILLER, PreviewFrames
from anymocap_addon.core.project import Project
from anymocap_addon.core.rig import RigInfo
from anymocap_addon.core.space_marks import FAINTEST, contact_rings, read_joints, trails
from anymocap_addon.ui.overlay import in_space
from anymocap_addon.ui.overlay.clip_behind import WALL, draw_clip_behind
from anymocap_addon.ui.overlay.frame_texture import TEXTURES
from anymocap_addon.ui.overlay.in_space import AFTER, BEFORE, CONTACT, SpaceLook, SpaceOverlay, trail_joints
from anymocap_addon.ui.overlay.marks import Canvas

from .capture_rig import chain_armature, rig_of, select_bones

LAYOUT = Layout()
T = 40
BACKDROP = (10, 200, 10)
CALIB = np.array([[0.8, 0.04, 40.0], [0.0, 0.7, 30.0]])
CLIP = (1400, 800)
LEFT, RIGHT = (200, 30, 40), (60, 80, 220)
NOTHING = SpaceLook(False, False, False, (), 12)
PLACES = {
    "prep space": np.eye(4),
    "scaled, turned and moved": np.array(
        Matrix.Translation((4, -7, 2)) @ Matrix.Rotation(1.2, 4, (0.3, 0.5, 0.8)) @ Matrix.Scale(30.0, 4)
    ),
}


@pytest.fixture(scope="module", autouse=True)
def gpu_is_awake() -> Iterator[None]:
    start_gpu()
    yield
    TEXTURES.free()
    WALL.free()


@pytest.fixture
def view(small_rig: RigInfo, tmp_path: Path) -> CaptureView:
    """A creature that slides forwards by 1 cm a frame; one leg is planted in frames 5 to 14, one joint is doubtful."""
    joints = np.repeat(small_rig.rest_joints()[None], T, 0)
    joints[..., 1] -= 0.01 * np.arange(T)[:, None]
    front, side = LAYOUT.project(joints)
    sure = np.full(front.shape[:2], 0.95)
    sure[:, small_rig.keypoints.index("head_tip")] = 0.1
    det = Detections(small_rig.keypoints, front, side, sure, sure, 24.0, np.arange(T) / 24, CALIB, "clip.mp4")
    motion = Motion(
        "box", "walk", 24.0, small_rig.bones, np.zeros((T, 3)), np.tile([1.0, 0, 0, 0], (T, 1)),
        np.zeros((T, small_rig.B, 3)), small_rig.keypoints, joints, np.zeros(sure.shape), np.zeros(sure.shape),
        contacts=[Contact("leg_L_tip", 5, 15)],
    )  # fmt: skip
    pixels = np.full((T, 200, 350, 4), FILLER, np.uint8)
    pixels[:, :, :175, :3], pixels[:, :, 175:, :3] = LEFT, RIGHT
    np.save(tmp_path / "preview.npy", pixels)
    preview = PreviewFrames(tmp_path / "preview.npy", 128, T, 200, 350, *CLIP)
    return CaptureView(Project(tmp_path).creature("box"), "walk", LAYOUT, small_rig, det, motion, preview)


def seen_by(side: str, place: np.ndarray) -> tuple[Matrix, int, int]:
    """World to clip space of the layout's camera at `place`, and the size of its picture."""
    part = LAYOUT.camera(side)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    fit_camera(camera, part, place)
    bpy.context.scene.collection.objects.link(camera)
    depsgraph = bpy.context.evaluated_depsgraph_get()
    matrix = camera.calc_matrix_camera(depsgraph, x=part.width, y=part.height) @ camera.matrix_world.inverted()
    bpy.data.objects.remove(camera)
    return matrix, part.width, part.height


def picture(width: int, height: int, draw: Callable[[Canvas], None]) -> np.ndarray:
    """(H, W, 3), the upper row first."""
    target = gpu.types.GPUOffScreen(width, height)
    with target.bind():
        frame = gpu.state.active_framebuffer_get()
        frame.clear(color=(*(value / 255 for value in BACKDROP), 1.0), depth=1.0)
        gpu.state.viewport_set(0, 0, width, height)
        draw(Canvas(width, height, False))
        buffer = frame.read_color(0, 0, width, height, 4, 0, "UBYTE")
    buffer.dimensions = width * height * 4
    pixels = np.frombuffer(buffer, np.uint8).reshape(height, width, 4)[::-1, :, :3].astype(int)
    target.free()
    return pixels


def at(pixels: np.ndarray, uv: np.ndarray, side: str = "side") -> np.ndarray:
    """The pixel of a layout point in the picture of one view."""
    return pixels[int(uv[1]), int(uv[0] - (0 if side == "front" else LAYOUT.w_front))]


@pytest.mark.parametrize("where", list(PLACES))
@pytest.mark.parametrize("side", ["front", "side"])
def test_the_clip_lies_behind_exactly_where_the_camera_has_it(view, side, where):
    seen, width, height = seen_by(side, PLACES[where])
    pixels = picture(
        width, height, lambda canvas: draw_clip_behind(view, side, 3, seen, PLACES[where], 1.0, linear=False)
    )
    middle = CALIB[:, :2] @ [CLIP[0] / 2, 0] + CALIB[:, 2]  # upper end of the seam between the two colours
    along = CALIB[:, :2] @ [0, 1]
    checked = 0
    for row in (100, 300, 500, 580):
        seam = middle + along * (row + 0.5 - middle[1]) / along[1]
        for offset, colour in ((-6, LEFT), (6, RIGHT)):
            u = seam[0] + offset
            left = 0 if side == "front" else LAYOUT.w_front
            if left < u < left + width:
                np.testing.assert_allclose(at(pixels, np.array([u, row + 0.5]), side), colour, atol=2)
                checked += 1
    assert checked == (8 if side == "side" else 0)
    lower = CALIB @ [0.25 * CLIP[0], CLIP[1], 1]  # the clip's lower edge, within the front view
    if side == "front":
        np.testing.assert_allclose(at(pixels, np.subtract(lower, (0, 3)), side), LEFT, atol=2)
        np.testing.assert_allclose(at(pixels, np.add(lower, (0, 3)), side), BACKDROP, atol=2)


def test_the_creature_covers_the_clip(view):
    """What was drawn with depth before stays in front, as the scene does when the handler is called."""
    seen, width, height = seen_by("side", np.eye(4))
    box = LAYOUT.project(np.array([[0.0, -0.2, 0.2], [0.0, 0.2, 0.8]]))[1]

    def draw(canvas: Canvas) -> None:
        shader = gpu.shader.from_builtin("UNIFORM_COLOR")
        corners = [(0, -0.2, 0.2), (0, 0.2, 0.2), (0, -0.2, 0.8), (0, 0.2, 0.8)]
        gpu.state.depth_test_set("LESS_EQUAL")
        gpu.state.depth_mask_set(True)
        with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            gpu.matrix.load_matrix(Matrix.Identity(4))
            gpu.matrix.load_projection_matrix(seen)
            shader.uniform_float("color", (1.0, 1.0, 1.0, 1.0))
            batch_for_shader(shader, "TRI_STRIP", {"pos": corners}).draw(shader)
        draw_clip_behind(view, "side", 3, seen, np.eye(4), 1.0, linear=False)

    pixels = picture(width, height, draw)
    np.testing.assert_allclose(at(pixels, box.mean(0)), (255, 255, 255), atol=2)
    beside = np.add(box.mean(0), (1.2 * np.ptp(box[:, 0]), 0))
    assert tuple(at(pixels, beside)) in (LEFT, RIGHT)
    half = picture(width, height, lambda canvas: draw_clip_behind(view, "side", 3, seen, np.eye(4), 0.5, linear=False))
    mixed = (np.array(at(pixels, beside)) + BACKDROP) / 2
    np.testing.assert_allclose(at(half, beside), mixed, atol=2)


@pytest.mark.parametrize("where", list(PLACES))
def test_joints_as_read_stand_on_the_armature_in_the_colour_of_their_confidence(view, where):
    place = PLACES[where]
    seen, width, height = seen_by("side", place)
    look = SpaceLook(True, False, False, (), 12)
    pixels = picture(width, height, lambda canvas: SpaceOverlay().draw(canvas, seen, place, view, 8, look, 1.0))
    for name, confidence in (("head_tip", 0.1), ("leg_L_tip", 0.95)):
        uv = view.det.side_uv[8, view.rig.keypoints.index(name)]
        np.testing.assert_allclose(at(pixels, uv), confidence_colour(confidence), atol=3)


def test_skeleton_contacts_and_trails_are_each_drawn_alone(view):
    seen, width, height = seen_by("side", np.eye(4))
    toe = view.rig.keypoints.index("leg_L_tip")
    overlay = SpaceOverlay()

    def drawn(look: SpaceLook, frame: int = 10) -> np.ndarray:
        return picture(width, height, lambda canvas: overlay.draw(canvas, seen, np.eye(4), view, frame, look, 1.0))

    assert (drawn(NOTHING) == BACKDROP).all()
    bone = view.motion.joints[10][[view.rig.keypoints.index(n) for n in ("leg_R", "leg_R_tip")]].mean(0)
    skeleton = drawn(SpaceLook(False, True, False, (), 12))
    assert at(skeleton, LAYOUT.project(bone)[1]).min() > 230
    ring = LAYOUT.project(contact_rings(view, 10)[0, 0])[1]
    planted = drawn(SpaceLook(False, False, True, (), 12))
    np.testing.assert_allclose(at(planted, ring - [1, 0]), np.array(CONTACT[:3]) * 255, atol=90)
    assert (drawn(SpaceLook(False, False, True, (), 12), 20) == BACKDROP).all(), "the leg is not planted in frame 20"
    trail = drawn(SpaceLook(False, False, False, (toe,), 12), 20)
    for frame, colour in ((18, BEFORE), (23, AFTER)):
        pixel = at(trail, LAYOUT.project(view.motion.joints[frame, toe] * [1, 1, 1] - [0, 0.005, 0])[1])
        nearer = min((BEFORE, AFTER), key=lambda c: np.linalg.norm(np.array(c) * 255 - pixel))
        assert nearer == colour and tuple(pixel) != BACKDROP
    assert (drawn(SpaceLook(False, False, False, (toe,), 3), 20)[:, :] != trail).any(), "a shorter trail"


def test_triangulation_of_a_perfect_reading_is_the_motion(view):
    points, confidence = read_joints(view, 12)
    assert np.abs(points - view.motion.joints[12]).max() < 1e-9
    assert confidence[view.rig.keypoints.index("head_tip")] == pytest.approx(0.1)


def test_trails_end_at_the_clips_ends_and_fade(view):
    trail = trails(view, 2, (0, 1), 12)
    assert len(trail.ends) == 2 * 14 and trail.later.sum() == 2 * 12
    assert trail.share.max() == 1.0 and trail.share.min() == pytest.approx(FAINTEST)
    assert len(trails(view, 2, (), 12).ends) == 0


def test_trail_joints_are_the_feet_all_or_those_of_the_selected_bones(view):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    armature = chain_armature(3)
    select_bones(armature, "b1")
    chain = SimpleNamespace(rig=rig_of(armature, "b0"))
    assert trail_joints("SELECTED", chain, armature) == (1,)
    assert trail_joints("SELECTED", chain, None) == ()
    assert trail_joints("ALL", chain, armature) == tuple(range(chain.rig.J))
    assert trail_joints("CONTACTS", view, None) == view.rig.contacts
    assert np.allclose(prep_place(chain.rig, None), np.eye(4))


def test_another_armature_or_a_frame_outside_of_the_clip_is_no_fault(view, monkeypatch):
    """The handler's own way through a context: nothing is drawn on a foreign armature, the nearer end elsewhere."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene, drawn = SimpleNamespace(frame_current_final=500.0), []
    overlay = SimpleNamespace(joints3d=True, skeleton3d=True, contacts3d=True, trails=True, trail_of="CONTACTS")
    overlay.trail_frames, overlay.clip_behind, overlay.opacity = 5, True, 1.0
    scene.render = SimpleNamespace(fps=24, fps_base=1.0)
    scene.anymocap = SimpleNamespace(overlay=overlay, armature=chain_armature(3), start_frame=1)
    context = SimpleNamespace(
        scene=scene,
        space_data=SimpleNamespace(use_local_camera=False),
        region=SimpleNamespace(width=100, height=80),
        region_data=SimpleNamespace(view_perspective="PERSP", perspective_matrix=Matrix.Identity(4)),
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0)),
    )
    monkeypatch.setattr(in_space, "current_view", lambda _: view)
    monkeypatch.setattr(in_space, "may_draw", lambda _: True)
    monkeypatch.setattr(in_space.SPACE, "draw", lambda *given: drawn.append(given))
    in_space.draw_in_space(context)
    assert not drawn, "a chain of three bones is not this creature"
    scene.anymocap.armature = None
    in_space.draw_in_space(context)
    scene.frame_current_final = -3.0
    in_space.draw_in_space(context)
    assert [given[4] for given in drawn] == [T - 1, 0]
