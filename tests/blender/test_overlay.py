"""The overlay, drawn into an offscreen and compared pixel by pixel."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import gpu
import numpy as np
import pytest

import anymocap_addon
from anymocap_addon.blender.gpu_start import start_gpu
from anymocap_addon.core.capture_view import CaptureView
from anymocap_addon.core.confidence_colour import confidence_colour
from anymocap_addon.core.detections import Detections, save_detections
from anymocap_addon.core.errors import AnyMoCapError
from anymocap_addon.core.layout import FLOOR, WALL, Layout
from anymocap_addon.core.motion import Contact, Motion
from anymocap_addon.core.palette import srgb_to_linear
from anymocap_addon.core.preview_frames import FILLER, PreviewFrames
from anymocap_addon.core.project import Project
from anymocap_addon.core.rig import RigInfo, save_rig_info
from anymocap_addon.ops.overlay_place import Box, Place, place_overlay
from anymocap_addon.ui.overlay import frame_texture, marks, two_view
from anymocap_addon.ui.overlay.drawing import Overlay
from anymocap_addon.ui.overlay.frame_texture import KEPT, TEXTURES, FrameTextures, upload
from anymocap_addon.ui.overlay.look import Look, Moment
from anymocap_addon.ui.overlay.strip import BAD, Bands, error_range, hovered_words, scale_words
from anymocap_addon.ui.overlay.two_view import BONE, MISS

SIZE = (1000, 700)
BACKDROP = (10, 200, 10)
T = 40
LAYOUT = Layout()
# The clip is shown smaller, moved and sheared: its picture does not reach the canvas' right and lower edge.
CALIB = np.array([[0.8, 0.04, 40.0], [0.0, 0.7, 30.0]])
CLIP = (1400, 800)
QUARTERS = ((200, 30, 40), (40, 180, 60), (60, 80, 220), (220, 210, 60))
NOTHING = Look(False, False, False, False, False, False, False)


@pytest.fixture(scope="module", autouse=True)
def gpu_is_awake() -> Iterator[None]:
    start_gpu()
    yield
    TEXTURES.free()


@pytest.fixture
def view(small_rig: RigInfo, tmp_path: Path) -> CaptureView:
    """A creature that stands still; one keypoint is read 60 px off, and readings go astray in frames 20 to 23."""
    paths = Project(tmp_path).creature("box")
    joints = np.repeat(small_rig.rest_joints()[None], T, 0)
    front, side = LAYOUT.project(joints)
    head = small_rig.keypoints.index("head_tip")
    read = side.copy()
    read[:, head, 1] += 60.0
    read[20:24] += 50.0
    sure = np.full(front.shape[:2], 0.95)
    sure[:, head] = 0.1
    det = Detections(small_rig.keypoints, front, read, sure, sure, 24.0, np.arange(T) / 24, CALIB, "clip.mp4")
    motion = Motion(
        "box", "walk", 24.0, small_rig.bones, np.zeros((T, 3)), np.tile([1.0, 0, 0, 0], (T, 1)),
        np.zeros((T, small_rig.B, 3)), small_rig.keypoints, joints, np.zeros(sure.shape),
        np.linalg.norm(read - side, axis=-1), contacts=[Contact("leg_L_tip", 5, 15)],
    )  # fmt: skip
    return CaptureView(paths, "walk", LAYOUT, small_rig, det, motion, _preview(tmp_path / "preview.npy"))


def _preview(path: Path) -> PreviewFrames:
    """Frames of four coloured quarters; each frame is one level brighter in red than the one before."""
    rows, columns = 200, 350
    pixels = np.empty((T, rows, columns, 4), np.uint8)
    pixels[..., 3] = FILLER
    for number, colour in enumerate(QUARTERS):
        row, column = divmod(number, 2)
        area = (
            slice(row * rows // 2, (row + 1) * rows // 2),
            slice(column * columns // 2, (column + 1) * columns // 2),
        )
        pixels[(slice(None), *area, slice(0, 3))] = colour
    pixels[..., 0] = np.minimum(pixels[..., 0].astype(int) + np.arange(T)[:, None, None], 255)
    np.save(path, pixels)
    return PreviewFrames(path, 128, T, rows, columns, *CLIP)


def put(look: Look, width: float = 0.9, ui_scale: float = 1.0) -> Place:
    settings = SimpleNamespace(left=0.02, bottom=0.02, width=width, caption=look.caption, strip=look.strip)
    return place_overlay(settings, Box(0, 0, *SIZE), LAYOUT, ui_scale)


def picture(
    view: CaptureView, look: Look, moment: Moment | None = None, linear: bool = False, overlay: Overlay | None = None
) -> np.ndarray:
    """(H, W, 3) of an offscreen, row 0 at the bottom as in a region."""
    width, height = SIZE
    target = gpu.types.GPUOffScreen(width, height)
    with target.bind():
        frame = gpu.state.active_framebuffer_get()
        frame.clear(color=(*(value / 255 for value in BACKDROP), 1.0))
        gpu.state.viewport_set(0, 0, width, height)
        (overlay or Overlay()).draw(width, height, moment or Moment(0), view, put(look), look, linear)
        buffer = frame.read_color(0, 0, width, height, 4, 0, "UBYTE")
    buffer.dimensions = width * height * 4
    pixels = np.frombuffer(buffer, np.uint8).reshape(height, width, 4)[..., :3].astype(int)
    target.free()
    return pixels


def at(pixels: np.ndarray, place: Place, uv: Any) -> np.ndarray:
    """The pixel of a layout point."""
    x, y = place.of_layout(np.asarray(uv, float))
    return pixels[int(y), int(x)]


@pytest.mark.parametrize("backend", ["OPENGL", "VULKAN", "METAL"])
def test_the_clip_lies_where_its_calibration_says(
    view: CaptureView, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ways of bringing bytes to the card; they are chosen by the backend's name."""
    monkeypatch.setattr(frame_texture, "packs_bytes", lambda: backend in frame_texture.PACKED_BACKENDS)
    monkeypatch.setattr(two_view, "packs_bytes", frame_texture.packs_bytes)
    look = replace(NOTHING, frame=True)
    pixels, place = picture(view, look, Moment(7)), put(look)
    for number, colour in enumerate(QUARTERS):
        row, column = divmod(number, 2)
        for along in (0.03, 0.5, 0.97):
            for down in (0.03, 0.5, 0.97):
                clip = np.array([(column + along) / 2 * CLIP[0], (row + down) / 2 * CLIP[1], 1.0])
                seen = at(pixels, place, CALIB @ clip)
                np.testing.assert_allclose(seen, np.add(colour, (7, 0, 0)), atol=1)
    right = CALIB @ [CLIP[0], 100, 1]
    np.testing.assert_allclose(at(pixels, place, np.subtract(right, [4, 0]))[1:], QUARTERS[1][1:], atol=1)
    np.testing.assert_allclose(at(pixels, place, np.add(right, [4, 0])), WALL, atol=1)
    np.testing.assert_allclose(at(pixels, place, [900, 715]), FLOOR, atol=1)
    assert (pixels[-30:] == BACKDROP).all() and (pixels[:, -50:] == BACKDROP).all()


def test_a_3d_view_gets_linear_light(view: CaptureView) -> None:
    """Ours convert when they are told; an offscreen shows what would be handed over."""
    look = replace(NOTHING, frame=True, keypoints=True)
    place, given = put(look), picture(view, look, linear=True)
    clip_point = CALIB @ [300, 150, 1]
    wanted = srgb_to_linear(np.array(QUARTERS[0]) / 255) * 255
    np.testing.assert_allclose(at(given, place, clip_point), wanted, atol=2)
    dot = srgb_to_linear(np.array(confidence_colour(0.95)) / 255) * 255
    np.testing.assert_allclose(at(given, place, view.det.side_uv[0, 0]), dot, atol=4)


def test_readings_are_coloured_by_confidence(view: CaptureView) -> None:
    look = replace(NOTHING, keypoints=True)
    place, pixels = put(look), picture(view, look)
    head = view.rig.keypoints.index("head_tip")
    np.testing.assert_allclose(at(pixels, place, view.det.side_uv[0, head]), confidence_colour(0.1), atol=3)
    for joint in (0, 5, 9):
        for uv in (view.det.side_uv[0, joint], view.det.front_uv[0, 5]):
            np.testing.assert_allclose(at(pixels, place, uv), confidence_colour(0.95), atol=3)
    np.testing.assert_allclose(at(picture(view, NOTHING), place, view.det.side_uv[0, head]), WALL, atol=1)


def test_skeleton_and_error_lines_run_from_joint_to_joint(view: CaptureView) -> None:
    head, neck = (view.rig.keypoints.index(name) for name in ("head_tip", "head"))
    assert view.reprojected is not None
    fitted = view.reprojected[1][0]
    look = replace(NOTHING, skeleton=True, residuals=True)
    place, pixels = put(look), picture(view, look)
    middle = (fitted[head] + fitted[neck]) / 2
    np.testing.assert_allclose(at(pixels, place, middle), np.array(BONE[:3]) * 255, atol=40)
    miss = (fitted[head] + view.det.side_uv[0, head]) / 2
    np.testing.assert_allclose(at(pixels, place, miss), np.array(MISS[:3]) * 255, atol=40)
    without = picture(view, NOTHING)
    for uv in (middle, miss):
        np.testing.assert_allclose(at(without, place, uv), WALL, atol=1)


def test_without_a_fit_the_readings_are_joined(view: CaptureView) -> None:
    look = replace(NOTHING, skeleton=True)
    read = replace(view, motion=None)
    uv = (read.det.side_uv[0, 1] + read.det.side_uv[0, 2]) / 2
    assert at(picture(read, look), put(look), uv).min() > WALL[0] + 25


def test_a_missing_preview_shows_the_layout_and_says_so(view: CaptureView) -> None:
    look = replace(NOTHING, frame=True)
    bare = replace(view, preview=None)
    place, pixels = put(look), picture(bare, look)
    np.testing.assert_allclose(at(pixels, place, [100, 300]), WALL, atol=1)
    np.testing.assert_allclose(at(pixels, place, [100, 700]), FLOOR, atol=1)
    assert at(pixels, place, [LAYOUT.w_front, 300]).max() < 90, "no divider"
    words = np.abs(pixels - picture(bare, NOTHING)).max(2) > 60
    rows, columns = np.nonzero(words)
    assert len(rows) > 200 and rows.min() > place.picture.y and columns.min() > place.picture.x


@pytest.mark.parametrize("moved", [(400.0, 0.0), (300.0, 2000.0)])
def test_marks_that_leave_the_picture_are_cut_off(view: CaptureView, moved: tuple[float, float]) -> None:
    """A little beyond the right edge, where the offscreen goes on, and far away."""
    astray = replace(view.det, side_uv=np.add(view.det.side_uv, moved), front_uv=view.det.front_uv * 1e7)
    look = Look(caption=False, strip=False)
    pixels, box = picture(replace(view, det=astray), look), put(look).picture
    outside = np.ones(pixels.shape[:2], bool)
    outside[int(box.y) - 1 : int(box.top) + 2, int(box.x) - 1 : int(box.right) + 2] = False
    assert (pixels[outside] == BACKDROP).all()


def test_the_strip_marks_the_frame_and_shades_bad_spots(view: CaptureView) -> None:
    look = replace(NOTHING, strip=True)
    assert [(run.start, run.stop) for run in view.bad_runs] == [(20, 24)]
    place, pixels = put(look), picture(view, look, Moment(8))
    assert place.graph is not None and place.strip is not None
    row = pixels[int(place.strip.y + 2)]
    shade = [int(row[int(place.graph_x(frame, T))][0]) for frame in range(T)]
    assert min(shade[20:24]) > 40 + max(shade[:8] + shade[9:20] + shade[25:]), "bad frames do not stand out"
    assert BAD[0] > BAD[2]
    x = int(place.graph_x(8, T))
    column = pixels[int(place.graph.y) + 3 : int(place.graph.top) - 3, x - 1 : x + 2].max(1)
    assert (column.min(1) > 200).all(), "no mark at the current frame"
    moved = picture(view, look, Moment(30))
    np.testing.assert_array_equal(moved[int(place.graph.y) + 20, x], moved[int(place.graph.y) + 20, x + 40])


def test_the_strip_draws_error_confidence_and_contacts_to_scale(view: CaptureView) -> None:
    look = replace(NOTHING, strip=True)
    place, pixels = put(look), picture(view, look, Moment(39))
    assert place.graph is not None and view.scores.error_px is not None
    bands = Bands.of(place.graph)
    planted = [int(pixels[int(bands.contacts.y + bands.contacts.h / 2), int(place.graph_x(t, T))][1]) for t in range(T)]
    assert min(planted[5:15]) > 100 > max(planted[:5] + planted[15:20])
    blue = pixels[int(bands.confidence.y) : int(bands.confidence.top), int(place.graph_x(3, T)), 2]
    height = np.argmax(blue) / bands.confidence.h
    assert height == pytest.approx(view.scores.confidence[3], abs=0.12)
    low, high = (
        np.argmax(pixels[int(bands.error.y) : int(bands.error.top), int(place.graph_x(t, T)), 0]) for t in (10, 22)
    )
    assert high > low + 10


def test_the_error_graph_says_what_its_height_stands_for(view: CaptureView) -> None:
    assert view.scores.error_px is not None
    high = error_range(view)
    assert scale_words(view) == f"0–{high:.0f} px" and high > view.scores.error_px.max()
    look = replace(NOTHING, strip=True)
    place, pixels = put(look), picture(view, look, Moment(8))
    assert place.graph is not None
    band = Bands.of(place.graph).error
    corner = pixels[int(band.top) - 10 : int(band.top), int(band.right) - 30 : int(band.right)].astype(int)
    assert (corner.min(2) > 120).sum() > 20, "no words at the right end"
    unfitted = picture(replace(view, motion=None), look, Moment(8))
    bare = unfitted[int(band.top) - 10 : int(band.top), int(band.right) - 30 : int(band.right)].astype(int)
    assert (bare.min(2) > 120).sum() == 0, "a scale without a graph"


def test_the_hovered_frame_is_told_in_words(view: CaptureView) -> None:
    words = hovered_words(view, 10)
    assert (
        words.startswith("frame 11   worst joints ") and "confidence 8" in words and "on the ground: leg_L_tip" in words
    )
    look = replace(NOTHING, strip=True)
    plain, told = picture(view, look, Moment(8)), picture(view, look, Moment(8, hovered=30))
    place = put(look)
    assert place.strip is not None
    above = slice(int(place.strip.top) + 3, int(place.strip.top) + 22)
    assert (np.abs(plain[above] - told[above]).max(2) > 60).sum() > 500


def test_opacity_lets_the_scene_through(view: CaptureView) -> None:
    look = replace(NOTHING, frame=True, opacity=0.5)
    seen = at(picture(view, look), put(look), CALIB @ [300, 150, 1])
    wall = (np.array(BACKDROP) + np.array(WALL)) / 2
    np.testing.assert_allclose(seen, (wall + QUARTERS[0]) / 2, atol=3)


def test_batches_are_kept_while_nothing_changes(view: CaptureView, monkeypatch: pytest.MonkeyPatch) -> None:
    overlay, made = Overlay(), []
    make = two_view.PictureMarks.make
    monkeypatch.setattr(two_view.PictureMarks, "make", lambda *given: made.append(given[2]) or make(*given))
    first = picture(view, Look(), Moment(0, hovered=3), overlay=overlay)
    filled, fill = [], marks.vertex_buffer
    for module in (marks, two_view):
        monkeypatch.setattr(module, "vertex_buffer", lambda attributes: filled.append(attributes) or fill(attributes))
    np.testing.assert_array_equal(picture(view, Look(), Moment(0, hovered=3), overlay=overlay), first)
    assert filled == [], "a redraw that shows nothing new built batches"
    picture(view, Look(), Moment(1), overlay=overlay)
    picture(replace(view), Look(), Moment(1), overlay=overlay)
    assert made == [0, 1, 1], "a redraw of the same built its batches again, or another view kept those of the first"


def test_an_array_of_another_kind_never_reaches_the_card() -> None:
    good = np.full((4, 6, 4), FILLER, np.uint8)
    assert upload(good, True).format == "R32F" and upload(good, False).format == "RGBA8"
    for bad in (good.astype(np.float32), good[..., :3], good[:, ::2], good[0], good.astype(np.int8)):
        for packed in (True, False):
            with pytest.raises(AnyMoCapError, match="not contiguous RGBX"):
                upload(bad, packed)


def test_textures_are_kept_within_bounds_and_the_nearest_stands_in(view: CaptureView) -> None:
    textures = FrameTextures()
    assert view.preview is not None
    first = textures.texture(view.preview, 0, True)
    assert textures.texture(view.preview, 0, True) is first
    for frame in range(T):
        textures.texture(view.preview, frame, True)
    assert len(textures) == KEPT and textures.texture(view.preview, 0, True) is not first
    last = textures.texture(view.preview, T - 1, True)
    view.preview.path.unlink()
    assert textures.texture(view.preview, T - 1, True) is last and textures.problem == ""
    stand_in = textures.texture(view.preview, 10, True)
    assert stand_in is not None and "preview.npy" in textures.problem
    textures.texture(replace(view.preview, video="another"), 0, True)
    assert len(textures) == 0, "another clip's textures stayed"


@pytest.fixture
def enabled(tmp_path: Path, small_rig: RigInfo, view: CaptureView) -> Iterator[Any]:
    """The add-on in an empty file whose scene shows a clip that was read."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    anymocap_addon.register()
    save_rig_info(view.paths.rig_info, small_rig)
    save_detections(view.paths.clip("walk").det, view.det)
    settings = bpy.context.scene.anymocap
    settings.project, settings.creature, settings.clip = str(tmp_path), "box", "walk"
    yield sys.modules["anymocap_addon.ui.overlay.handlers"]
    for name in ("project", "creature", "clip", "start_frame"):
        settings.property_unset(name)
    anymocap_addon.unregister()


def test_what_the_scene_shows_is_loaded_apart_from_drawing_and_again_when_files_change(
    enabled: Any, view: CaptureView
) -> None:
    from anymocap_addon.ops.current_capture import CAPTURES, clock, current_view, loaded_view

    assert current_view(bpy.context) is None and clock(bpy.context) is None, "a draw read files"
    first = loaded_view(bpy.context)
    assert first is not None and first.T == T and current_view(bpy.context) is first
    assert loaded_view(bpy.context) is first, "read again although no file changed"
    save_detections(view.paths.clip("walk").det, replace(view.det, notes={"read": "again"}))
    second = loaded_view(bpy.context)
    assert second is not None and second is not first and second.det.notes == {"read": "again"}
    view.paths.clip("walk").det.write_bytes(b"no archive")
    assert loaded_view(bpy.context) is None
    loaded = CAPTURES.of(bpy.context.scene)
    assert loaded is not None and "det.npz" in loaded.error
    bpy.context.scene.anymocap.clip = "none of it"
    assert loaded_view(bpy.context) is None and CAPTURES.of(bpy.context.scene).error == ""


def test_the_scene_decides_which_frame_is_shown(enabled: Any, view: CaptureView) -> None:
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base, scene.anymocap.start_frame = 48, 1.0, 11
    for now, shown in ((11, (0, False)), (14, (2, False)), (51, (20, False)), (2, (0, True)), (400, (T - 1, True))):
        scene.frame_current = now
        moment = enabled.moment_of(scene, view)
        assert (moment.frame, moment.outside) == shown


def test_a_fault_switches_the_overlay_off_and_is_said_once(enabled: Any, capsys: pytest.CaptureFixture[str]) -> None:
    state = sys.modules["anymocap_addon.ops.overlay_state"].STATE
    calls = []

    def broken(context: Any) -> None:
        calls.append(context)
        raise RuntimeError("the card is gone")

    handler = enabled._guarded(broken)
    for _ in range(3):
        handler()
    assert len(calls) == 1 and state.fault == "RuntimeError: the card is gone"
    assert capsys.readouterr().err.count("RuntimeError: the card is gone") == 1
    assert bpy.ops.anymocap.overlay_restart() == {"FINISHED"} and state.fault == ""


def test_handlers_timer_and_textures_go_with_the_add_on(enabled: Any, view: CaptureView) -> None:
    assert bpy.app.timers.is_registered(enabled.keep_up)
    assert view.preview is not None and TEXTURES.texture(view.preview, 0, True) is not None
    enabled._file_loaded("another.blend")
    assert len(TEXTURES) == 0, "another file kept the textures"
    TEXTURES.texture(view.preview, 0, True)
    enabled.unregister()
    assert not enabled._handles and len(TEXTURES) == 0 and not bpy.app.timers.is_registered(enabled.keep_up)
    assert enabled._file_loaded not in bpy.app.handlers.load_post
    enabled.register()


def test_placing_is_undone_by_reset(enabled: Any) -> None:
    overlay = bpy.context.scene.anymocap.overlay
    overlay.left, overlay.width = 0.5, 0.3
    assert bpy.ops.anymocap.overlay_reset() == {"FINISHED"}
    assert overlay.left == pytest.approx(0.012) and overlay.width == 0.5
