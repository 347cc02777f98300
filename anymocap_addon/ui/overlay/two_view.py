"""The picture: the clip's frame laid into the layout, what was read in it, and where the fit puts the same joints."""

from __future__ import annotations

from dataclasses import dataclass

import gpu
import numpy as np
from numpy.typing import NDArray

from ...blender.draw import vertex_buffer
from ...core.capture_view import CaptureView
from ...core.confidence_colour import DOUBT, confidence_colours
from ...core.layout import DIVIDER, DIVIDER_WIDTH_PX, FLOOR, WALL
from ...ops.overlay_place import Box, Place
from .clip_behind import clip_uv
from .frame_texture import TEXTURES, packs_bytes
from .look import Look, Moment
from .marks import Areas, Canvas, Colour, Dots, Lines, inside, rgba
from .shaders import frame_shader
from .text import WHITE, draw_text

Array = NDArray[np.float64]

BONE: Colour = (0.97, 0.97, 0.98, 1.0)
BONE_EDGE: Colour = (0.05, 0.06, 0.08, 0.75)
READ_BONE: Colour = (0.97, 0.97, 0.98, 0.45)
MISS: Colour = (0.93, 0.33, 0.78, 1.0)
GUIDE: Colour = (0.08, 0.09, 0.1, 0.45)
RADIUS_PX, DOUBTFUL_RADIUS_PX, FIT_RADIUS_PX = 5.0, 4.0, 2.2
BONE_PX, EDGE_PX, MISS_PX = 1.6, 3.6, 1.8
OUTSIDE_OPACITY = 0.35
NO_PREVIEW = "No preview of the clip yet: Read and Fit makes it"
_USUAL_WIDTH_PX = 800.0  # marks have their size in a picture this wide


@dataclass(frozen=True)
class GroundMarks:
    """Batches that are the same for all frames: the studio, the quad that the clip's frames fill, and the guides."""

    studio: Areas
    frame: gpu.types.GPUBatch | None
    guides: Lines

    @staticmethod
    def make(view: CaptureView, place: Place, opacity: float) -> GroundMarks:
        """Lay them out."""
        return GroundMarks(
            _studio(view, place, opacity),
            _frame_quad(view, place) if view.preview is not None else None,
            Lines.make(_guides(view, place), np.array(GUIDE)),
        )


@dataclass(frozen=True)
class PictureMarks:
    """Batches of one frame at one place."""

    edges: Lines
    bones: Lines
    read_bones: Lines
    misses: Lines
    fitted: Dots
    readings: Dots
    size: float

    @staticmethod
    def make(view: CaptureView, place: Place, frame: int) -> PictureMarks:
        """Lay everything of the clip's frame `frame` at its place; what lies outside the canvas is left out."""
        size = place.ui_scale * float(np.clip(place.picture.w / (_USUAL_WIDTH_PX * place.ui_scale), 0.6, 1.5))
        bones, misses, joints = _fit(view, place, frame)
        centres, radii, colours = _readings(view, place, frame, size)
        dots = joints[_in_box(joints, place.picture)]
        fitted_colours = np.tile(np.array(BONE), (len(dots), 1))
        return PictureMarks(
            edges=Lines.make(bones, np.array(BONE_EDGE)),
            bones=Lines.make(bones, np.array(BONE)),
            read_bones=Lines.make(_read_bones(view, place, frame), np.array(READ_BONE)),
            misses=Lines.make(misses, np.array(MISS)),
            fitted=Dots.make(dots, np.full(len(dots), FIT_RADIUS_PX * size), fitted_colours),
            readings=Dots.make(centres, radii, colours),
            size=size,
        )


def draw_picture(
    canvas: Canvas,
    view: CaptureView,
    place: Place,
    look: Look,
    moment: Moment,
    ground: GroundMarks,
    marks: PictureMarks,
) -> None:
    """Draw the picture, from the studio's wall up to the dots."""
    ground.studio.draw()
    if look.frame:
        _draw_frame(canvas, view, place, look, moment, ground.frame)
    if look.guides:
        ground.guides.draw(canvas, 1.5 * place.ui_scale)
    if look.skeleton:
        marks.read_bones.draw(canvas, BONE_PX * marks.size)
        marks.edges.draw(canvas, EDGE_PX * marks.size)
        marks.bones.draw(canvas, BONE_PX * marks.size)
    if look.residuals:
        marks.misses.draw(canvas, MISS_PX * marks.size)
    if look.skeleton:
        marks.fitted.draw(canvas)
    if look.keypoints:
        marks.readings.draw(canvas)


def _draw_frame(
    canvas: Canvas, view: CaptureView, place: Place, look: Look, moment: Moment, quad: gpu.types.GPUBatch | None
) -> None:
    texture = None
    if view.preview is not None:
        texture = TEXTURES.texture(view.preview, moment.frame, packs_bytes())
    if texture is None or quad is None:
        why = TEXTURES.problem if view.preview is not None else NO_PREVIEW
        box, size = place.picture, 13 * place.ui_scale
        draw_text(why, box.x + box.w / 2, box.top - 4 * size, size, WHITE, "centre")
        return
    shader = frame_shader(packs_bytes())
    shader.bind()
    shader.uniform_float("mvp", canvas.matrix)
    shader.uniform_float("opacity", look.opacity * (OUTSIDE_OPACITY if moment.outside else 1.0))
    shader.uniform_float("linear", float(canvas.linear))
    shader.uniform_sampler("image", texture)
    quad.draw(shader)


def _frame_quad(view: CaptureView, place: Place) -> gpu.types.GPUBatch:
    """The canvas with the place of its corners in the clip's picture: `calib` moves, scales and shears the picture, the
    canvas cuts it off.
    """
    box, width, height = place.picture, view.layout.width, view.layout.height
    pos = np.array([[box.x, box.y], [box.right, box.y], [box.x, box.top], [box.right, box.top]], np.float32)
    uv = clip_uv(view, np.array([[0, height], [width, height], [0, 0], [width, 0]], float))
    return gpu.types.GPUBatch(type="TRI_STRIP", buf=vertex_buffer({"pos": pos, "uv": uv.astype(np.float32)}))


def _studio(view: CaptureView, place: Place, opacity: float) -> Areas:
    """The empty studio, as Layout.studio draws it."""
    box, layout = place.picture, view.layout
    floor = Box(box.x, box.y, box.w, float(np.clip((layout.height - layout.ground_v) * place.scale, 0, box.h)))
    divider = Box(
        box.x + (layout.w_front - DIVIDER_WIDTH_PX / 2) * place.scale, box.y, DIVIDER_WIDTH_PX * place.scale, box.h
    )
    return Areas.make(
        [(box, rgba(WALL, opacity)), (floor, rgba(FLOOR, opacity)), (divider, rgba(DIVIDER, opacity))]
    )  # fmt: skip


def _guides(view: CaptureView, place: Place) -> Array:
    """The line between the views and the row of the ground: (2, 2, 2)."""
    layout = view.layout
    ends = [
        [(layout.w_front, 0), (layout.w_front, layout.height)],
        [(0, layout.ground_v), (layout.width, layout.ground_v)],
    ]
    return inside(place.of_layout(np.array(ends, float)), place.picture)


def _fit(view: CaptureView, place: Place, frame: int) -> tuple[Array, Array, Array]:
    """Bones (n, 2, 2), misses (m, 2, 2) and joints (k, 2) of both views in region px; none without a motion."""
    if view.reprojected is None:
        return np.empty((0, 2, 2)), np.empty((0, 2, 2)), np.empty((0, 2))
    links = np.array(view.links, int).reshape(-1, 2)
    fitted = [place.of_layout(uv[frame]) for uv in view.reprojected]
    read = [place.of_layout(uv[frame]) for uv in (view.det.front_uv, view.det.side_uv)]
    bones = np.concatenate([joints[links] for joints in fitted])
    misses = np.concatenate([np.stack([a, b], 1) for a, b in zip(read, fitted, strict=True)])
    return inside(bones, place.picture), inside(misses, place.picture), np.concatenate(fitted)


def _read_bones(view: CaptureView, place: Place, frame: int) -> Array:
    """Lines between readings, (n, 2, 2): only while there is no fitted skeleton to show."""
    if view.reprojected is not None:
        return np.empty((0, 2, 2))
    links = np.array(view.links, int).reshape(-1, 2)
    ends = [place.of_layout(uv[frame])[links] for uv in (view.det.front_uv, view.det.side_uv)]
    return inside(np.concatenate(ends), place.picture)


def _readings(view: CaptureView, place: Place, frame: int, size: float) -> tuple[Array, Array, Array]:
    """Centres, radii and colours of the readings of both views, the confident ones last."""
    det = view.det
    centres = place.of_layout(np.concatenate([det.front_uv[frame], det.side_uv[frame]]))
    confidence = np.concatenate([det.front_conf[frame], det.side_conf[frame]])
    order = np.argsort(confidence)
    order = order[_in_box(centres, place.picture)[order]]
    colours = np.ones((len(order), 4))
    colours[:, :3] = confidence_colours(confidence[order]) / 255
    radii = np.where(confidence[order] >= DOUBT, RADIUS_PX, DOUBTFUL_RADIUS_PX) * size
    return centres[order], radii, colours


def _in_box(points: Array, box: Box) -> NDArray[np.bool_]:
    """Which of (n, 2) points lie in the box."""
    return np.asarray((points >= [box.x, box.y]).all(1) & (points <= [box.right, box.top]).all(1))
