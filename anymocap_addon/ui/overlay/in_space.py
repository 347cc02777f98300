"""The capture in the 3D view: joints as read, skeleton as fitted, contacts and trails where the armature stands, and
the clip behind the creature where the view looks through a camera of the layout.

Drawn by a POST_VIEW handler, after the scene and with its depth. Lines and dots lie over the creature: they are inside
it. Batches are in prep space and kept for the frame; the armature's place comes in as a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gpu
import numpy as np
from mathutils import Matrix
from numpy.typing import NDArray

from ...blender.compat import selected_bones
from ...blender.layout_camera import prep_place
from ...core.capture_view import CaptureView
from ...core.confidence_colour import DOUBT, confidence_colours
from ...core.errors import BadInputError
from ...core.space_marks import bones, contact_rings, read_joints, trails
from ...ops.current_capture import current_view, shown_frame
from ...ops.layout_cameras import looked_through
from .clip_behind import draw_clip_behind
from .lines_in_space import LinesInSpace
from .marks import Canvas, Colour, Dots
from .shown import may_draw

if TYPE_CHECKING:
    from bpy.types import Context, Object

Array = NDArray[np.float64]

BONE: Colour = (0.97, 0.97, 0.98, 1.0)
BONE_EDGE: Colour = (0.05, 0.06, 0.08, 0.75)
CONTACT: Colour = (0.35, 0.95, 0.65, 1.0)
BEFORE, AFTER = (0.95, 0.72, 0.25), (0.45, 0.75, 1.0)
RADIUS_PX, DOUBTFUL_RADIUS_PX = 5.0, 4.0
BONE_PX, EDGE_PX, CONTACT_PX, TRAIL_PX = 2.0, 4.0, 2.5, 2.0


@dataclass(frozen=True)
class SpaceLook:
    """Which of it is shown, as plain values."""

    joints: bool
    skeleton: bool
    contacts: bool
    trail: tuple[int, ...]
    trail_frames: int

    @staticmethod
    def of(settings: Any, view: CaptureView, armature: Object | None) -> SpaceLook:
        """What the scene's settings ask for."""
        trail = trail_joints(settings.trail_of, view, armature) if settings.trails else ()
        return SpaceLook(settings.joints3d, settings.skeleton3d, settings.contacts3d, trail, settings.trail_frames)

    @property
    def any(self) -> bool:
        """Whether there is anything to show."""
        return self.joints or self.skeleton or self.contacts or bool(self.trail)


def trail_joints(which: str, view: CaptureView, armature: Object | None) -> tuple[int, ...]:
    """Keypoint indices of the joints that draw a trail; see ops/overlay_settings.py."""
    if which == "ALL":
        return tuple(range(view.rig.J))
    if which == "CONTACTS":
        return tuple(view.rig.contacts)
    names = set(selected_bones(armature)) if armature is not None else set()
    return tuple(j for j, bone in enumerate(view.rig.keypoint_bone) if view.rig.bones[bone] in names)


@dataclass(frozen=True)
class SpaceMarks:
    """Batches of one frame, in prep space, and its joints for the dots."""

    skeleton: LinesInSpace
    contacts: LinesInSpace
    trail: LinesInSpace
    joints: Array
    confidence: Array

    @staticmethod
    def make(view: CaptureView, frame: int, look: SpaceLook) -> SpaceMarks:
        """Everything of frame `frame`."""
        trail = trails(view, frame, look.trail, look.trail_frames)
        colours = np.where(trail.later[:, None], np.array(AFTER), np.array(BEFORE))
        shades = np.concatenate([np.repeat(colours[:, None], 2, 1), trail.share[..., None]], 2)
        joints, confidence = read_joints(view, frame)
        return SpaceMarks(
            LinesInSpace.make(bones(view, frame) if look.skeleton else np.zeros((0, 2, 3))),
            LinesInSpace.make(contact_rings(view, frame) if look.contacts else np.zeros((0, 2, 3))),
            LinesInSpace.make(trail.ends, shades),
            joints,
            confidence,
        )


class SpaceOverlay:
    """Draws it; keeps the batches of the last frame."""

    def __init__(self) -> None:
        self._key: Any = None
        self._view: CaptureView | None = None
        self._marks: SpaceMarks | None = None

    def draw(
        self,
        canvas: Canvas,
        seen: Matrix,
        place: Array,
        view: CaptureView,
        frame: int,
        look: SpaceLook,
        scale: float,
    ) -> None:
        """Draw a frame of `view`.

        Args:
            seen: world to clip space. place: (4, 4) prep space to the world.
        """
        marks = self._of(view, frame, look)
        gpu.state.depth_test_set("NONE")
        gpu.state.depth_mask_set(False)
        gpu.state.blend_set("ALPHA")
        try:
            with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
                gpu.matrix.load_matrix(Matrix(place.tolist()))
                gpu.matrix.load_projection_matrix(seen)
                marks.trail.draw(canvas, TRAIL_PX * scale)
                marks.skeleton.draw(canvas, EDGE_PX * scale, BONE_EDGE)
                marks.skeleton.draw(canvas, BONE_PX * scale, BONE)
                marks.contacts.draw(canvas, CONTACT_PX * scale, CONTACT)
            if look.joints:
                _dots(canvas, seen, place, marks, scale).draw(canvas)
        finally:
            gpu.state.blend_set("NONE")
            gpu.state.depth_mask_set(True)

    def free(self) -> None:
        """Let go of all batches."""
        self._key = self._view = self._marks = None

    def _of(self, view: CaptureView, frame: int, look: SpaceLook) -> SpaceMarks:
        if self._marks is None or self._view is not view or self._key != (frame, look):
            self._view, self._key = view, (frame, look)
            self._marks = SpaceMarks.make(view, frame, look)
        return self._marks


def _dots(canvas: Canvas, seen: Matrix, place: Array, marks: SpaceMarks, scale: float) -> Dots:
    """The joints as dots of a constant size on the screen; those behind the eye left out."""
    world = marks.joints @ place[:3, :3].T + place[:3, 3]
    matrix = np.array(seen, float)
    clip = world @ matrix[:, :3].T + matrix[:, 3]
    front = clip[:, 3] > 1e-9
    pixels = (clip[front, :2] / clip[front, 3:] + 1) / 2 * [canvas.width, canvas.height]
    confidence = marks.confidence[front]
    radii = np.where(confidence < DOUBT, DOUBTFUL_RADIUS_PX, RADIUS_PX) * scale
    colours = np.concatenate([confidence_colours(confidence) / 255, np.ones((len(confidence), 1))], 1)
    return Dots.make(pixels, radii, colours)


SPACE = SpaceOverlay()


def draw_in_space(context: Context) -> None:
    """Draw into the 3D view that is being drawn."""
    view = current_view(context)
    if view is None or not may_draw(context):
        return
    settings = context.scene.anymocap
    behind = looked_through(context.space_data) if settings.overlay.clip_behind else None
    if context.region_data.view_perspective != "CAMERA":
        behind = None
    look = SpaceLook.of(settings.overlay, view, settings.armature)
    if behind is None and not look.any:
        return
    try:
        place = prep_place(view.rig, settings.armature)
    except BadInputError:  # another armature: there is no place for the capture on it, and apply says so
        return
    region = context.region
    canvas = Canvas(region.width, region.height, linear=True)
    seen = context.region_data.perspective_matrix
    frame, _ = shown_frame(context.scene, view)
    if behind is not None:
        draw_clip_behind(view, behind, frame, seen, place, settings.overlay.opacity, linear=True)
    if look.any:
        SPACE.draw(canvas, seen, place, view, frame, look, context.preferences.system.ui_scale)
