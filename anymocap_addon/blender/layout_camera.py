"""Blender cameras that show what the two views of the layout show, in prep space or where an armature stands."""

from __future__ import annotations

import bpy
import numpy as np
from mathutils import Euler, Matrix
from numpy.typing import NDArray

from ..core.layout import OrthoCamera
from ..core.rig import RigInfo
from .armature_space import prep_similarity

CREATURE_DEPTHS = 4.0  # camera distance in heights of the frame, so that no creature reaches the camera
EVEN = 1e-3  # an armature whose axes differ by more than this share in scale cannot be filmed as the layout does

Array = NDArray[np.float64]


def prep_place(rig: RigInfo, armature: bpy.types.Object | None) -> Array:
    """(4, 4) prep space to the world, where `armature` stands now; the identity without one.

    Raises:
        BadInputError: the armature's rest pose is not the rig's.
    """
    if armature is None:
        return np.eye(4)
    similarity = prep_similarity(rig, armature)
    to_prep = np.eye(4)
    to_prep[:3, :3] = similarity.scale * similarity.rotation
    to_prep[:3, 3] = similarity.offset
    return np.asarray(np.array(armature.matrix_world, np.float64) @ np.linalg.inv(to_prep))


def is_even(place: Array) -> bool:
    """Whether a (4, 4) place keeps shapes: no stretching, no shear."""
    axes = place[:3, :3]
    size = np.cbrt(abs(np.linalg.det(axes)))
    return bool(np.abs(axes.T @ axes / size**2 - np.eye(3)).max() < EVEN)


def camera_distance(view: OrthoCamera) -> float:
    """How far before the middle of the view the camera stands, metres: beyond the creature's own size.

    An orthographic picture does not change with it.
    """
    return max(float(np.abs(view.location[:2]).max()), CREATURE_DEPTHS * view.ortho_scale)


def fit_camera(holder: bpy.types.Object, view: OrthoCamera, place: Array | None = None) -> None:
    """Let the camera object `holder` show what the layout's camera shows, placed by (4, 4) `place`."""
    pose = np.array(Euler(np.radians(view.rotation_deg)).to_matrix().to_4x4(), np.float64)
    distance = camera_distance(view)
    middle = np.array(view.location)
    middle[1 if view.rotation_deg[2] == 0 else 0] = 0.0  # the camera looks along this axis
    pose[:3, 3] = middle + pose[:3, 2] * distance  # a camera looks along its -Z
    world = (np.eye(4) if place is None else place) @ pose
    sizes = np.linalg.norm(world[:3, :3], axis=0)
    size = float(np.cbrt(np.prod(sizes)))
    world[:3, :3] /= sizes
    holder.matrix_world = Matrix(world.tolist())
    data = holder.data
    data.type, data.sensor_fit = "ORTHO", "VERTICAL"
    data.ortho_scale = view.ortho_scale * size
    data.shift_x = data.shift_y = 0.0
    data.clip_start, data.clip_end = 1e-3 * distance * size, 2 * distance * size
