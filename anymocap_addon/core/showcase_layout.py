"""Where the panels of the showcase film lie. Light: Blender's process draws one of them at its size."""

from __future__ import annotations

from dataclasses import dataclass

FILM_SIZE = (1600, 900)
PORTRAIT_SIZE = (640, 540)


@dataclass(frozen=True)
class Panel:
    """A rectangle of the film, px from its upper left corner, and what it shows."""

    left: int
    top: int
    width: int
    height: int
    label: str


CLIP = Panel(0, 0, 960, 540, "clip, joints as read")
PORTRAIT = Panel(960, 0, *PORTRAIT_SIZE, "fitted creature")
CLIP_SIDE = Panel(0, 540, 534, 360, "clip, side camera")
FITTED_SIDE = Panel(534, 540, 533, 360, "fitted creature, same camera")
BLEND = Panel(1067, 540, 533, 360, "both, half and half")
