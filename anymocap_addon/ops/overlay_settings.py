"""What the overlay shows and where: one PropertyGroup of the Scene."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

SMALLEST_WIDTH = 0.15
LEFT, BOTTOM, WIDTH = 0.012, 0.06, 0.5  # above the panel of the last operator
LAYERS = ("frame", "keypoints", "skeleton", "residuals", "guides", "caption", "strip")
LAYERS_3D = ("joints3d", "skeleton3d", "contacts3d", "trails")


def _layer(name: str, description: str, default: bool = True) -> Any:
    return BoolProperty(name=name, description=description, default=default)


class ANYMOCAP_PG_overlay(bpy.types.PropertyGroup):
    """What the overlay shows and where it stands in the 3D view."""

    show: _layer("Overlay", "Show the clip with reading and fit over the 3D view")  # type: ignore[valid-type]

    frame: _layer("Clip", "The frame of the clip")  # type: ignore[valid-type]
    keypoints: _layer("Reading", "The keypoints that were read, coloured from doubtful to confident")  # type: ignore[valid-type]
    skeleton: _layer("Fit", "The fitted skeleton, laid back onto both views")  # type: ignore[valid-type]
    residuals: _layer("Error lines", "A line from each reading to where the fit puts that joint")  # type: ignore[valid-type]
    guides: _layer("Guides", "The line between the views and the row of the ground")  # type: ignore[valid-type]
    caption: _layer("Caption", "Clip, frame, time, error and confidence in words")  # type: ignore[valid-type]
    strip: _layer("Strip", "Error, confidence and contacts over the whole clip; click or drag to go to a frame")  # type: ignore[valid-type]

    joints3d: _layer("Joints", "What both views read, as joints in space; their colour is the confidence", False)  # type: ignore[valid-type]
    skeleton3d: _layer("Skeleton", "The fitted skeleton in the 3D view", False)  # type: ignore[valid-type]
    contacts3d: _layer("Contacts", "Marks in the 3D view where a foot is planted", False)  # type: ignore[valid-type]
    trails: _layer("Trails", "The way of the joints through the 3D view", False)  # type: ignore[valid-type]
    trail_of: EnumProperty(  # type: ignore[valid-type]
        name="Trails of",
        items=(
            ("CONTACTS", "Feet", "Joints that may touch the ground"),
            ("SELECTED", "Selected", "Joints of the selected bones"),
            ("ALL", "All", "All joints"),
        ),
        description="Which joints draw their way",
        default="CONTACTS",
    )
    trail_frames: IntProperty(  # type: ignore[valid-type]
        name="Trail Length", description="Frames of the clip before and after this one", default=12, min=1, max=1000
    )
    clip_behind: _layer("Clip behind", "Through the layout's cameras: the clip behind the creature")  # type: ignore[valid-type]

    left: FloatProperty(  # type: ignore[valid-type]
        name="Left", description="Left edge, as a share of the 3D view's width", default=LEFT, min=0.0, max=0.95
    )
    bottom: FloatProperty(  # type: ignore[valid-type]
        name="Bottom", description="Lower edge, as a share of the 3D view's height", default=BOTTOM, min=0.0, max=0.95
    )
    width: FloatProperty(  # type: ignore[valid-type]
        name="Width", description="Width, as a share of the 3D view's", default=WIDTH, min=SMALLEST_WIDTH, max=1.0
    )
    opacity: FloatProperty(  # type: ignore[valid-type]
        name="Opacity", description="How much the clip hides what is behind it", default=1.0, min=0.1, max=1.0
    )


CLASSES: tuple[type, ...] = (ANYMOCAP_PG_overlay,)
