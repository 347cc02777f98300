"""Grid pictures of a skeleton in its mesh: front, side and top to one metric scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .ortho_picture import VIEWS, Colour, OrthoPicture, Surface, beside
from .rig import RigSpec

Array = NDArray[np.float64]

LONGEST = 620  # px of the creature's longest side
LEFT: Colour = (52, 120, 246)
RIGHT: Colour = (238, 82, 60)
MIDDLE: Colour = (255, 196, 0)
DOUBT: Colour = (255, 60, 220)
BONE: Colour = (40, 44, 52)


def rig_sheet(
    surface: Surface, spec: RigSpec | None = None, doubtful: tuple[str, ...] = (), longest: int = LONGEST
) -> NDArray[np.uint8]:
    """Three views of the mesh on a grid in metres, with bones as lines and joints as dots.

    Left joints are blue, right ones red, those in the middle yellow, `doubtful` ones pink.

    Args:
        surface: the mesh in prep space; spec: joints and bones, None = the mesh alone; longest: px.

    Returns:
        (H, W, 3) RGB.
    """
    low, high = surface.points.min(0), surface.points.max(0)
    scale = float((high - low).max()) / longest
    pictures = []
    for view in VIEWS:
        picture = OrthoPicture(view, low, high, scale)
        picture.surface(surface)
        if spec is not None:
            _draw_bones(picture, spec, doubtful)
        pictures.append(picture.pixels)
    return beside(pictures)


def _draw_bones(picture: OrthoPicture, spec: RigSpec, doubtful: tuple[str, ...]) -> None:
    for bone in spec.bones:
        picture.line(np.array(spec.joints[bone.head]), np.array(spec.joints[bone.tail]), BONE)
    for name, place in spec.joints.items():
        side = MIDDLE if abs(place[0]) < 1e-4 else LEFT if place[0] > 0 else RIGHT
        picture.dot(np.array(place), DOUBT if name in doubtful else side)
