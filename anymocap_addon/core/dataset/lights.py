"""Lights of a drawn picture, as data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LIGHTS = 4
# Rows: right, up and towards the camera, in world axes, for the front and the side view of the layout.
FRONT_AXES: Array = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
SIDE_AXES: Array = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])


@dataclass(frozen=True)
class ViewLights:
    """Lights of one view in linear RGB.

    Attributes:
        direction: (4, 3) unit vectors to the lights, world axes.
        colour: (4, 3); ambient: (3,).
        gloss: strength of the first light's highlight, 0..1.
    """

    direction: Array
    colour: Array
    ambient: Array
    gloss: float = 0.0


def random_lights(rng: np.random.Generator) -> tuple[ViewLights, ViewLights]:
    """Random lights for the front and the side view.

    Mostly they stand with each camera, as studio lights and generated clips have them; in a third of the pictures they
    stand in the world, so that the two views are lit from different sides.
    """
    towards = np.stack([rng.normal(0, 1, LIGHTS), rng.uniform(-0.2, 1.2, LIGHTS), rng.normal(0.6, 0.8, LIGHTS)], 1)
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    strength = rng.uniform(0.0, 0.5, (LIGHTS, 1))
    warmth = rng.uniform(-0.12, 0.12, (LIGHTS, 1))
    colour = np.hstack([strength * (1 + warmth), strength, strength * (1 - warmth)])
    ambient = np.full(3, rng.uniform(0.2, 0.5))
    gloss = float(max(0.0, rng.uniform(-0.15, 0.3)))
    if rng.random() < 1 / 3:
        corner = FRONT_AXES + SIDE_AXES  # towards the corner that both cameras see
        world = towards @ (corner / np.linalg.norm(corner, axis=1, keepdims=True))
        world /= np.linalg.norm(world, axis=1, keepdims=True)
        return (ViewLights(world, colour, ambient, gloss), ViewLights(world, colour, ambient, gloss))
    front = ViewLights(towards @ FRONT_AXES, colour, ambient, gloss)
    return front, ViewLights(towards @ SIDE_AXES, colour, ambient, gloss)
