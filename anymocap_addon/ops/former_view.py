"""Where a 3D view looked from before it looked through one of our cameras."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import bpy
from mathutils import Quaternion, Vector

if TYPE_CHECKING:
    from bpy.types import Object, SpaceView3D


@dataclass(frozen=True)
class FormerView:
    """A 3D view's own settings. `camera` is a name: an undo makes other objects."""

    perspective: str
    location: Vector
    rotation: Quaternion
    distance: float
    camera_zoom: float
    camera_offset: tuple[float, float]
    local_camera: bool
    lock_camera: bool
    camera: str

    @staticmethod
    def of(space: SpaceView3D) -> FormerView:
        """As the view is now."""
        region = space.region_3d
        return FormerView(
            perspective=region.view_perspective,
            location=region.view_location.copy(),
            rotation=region.view_rotation.copy(),
            distance=region.view_distance,
            camera_zoom=region.view_camera_zoom,
            camera_offset=tuple(region.view_camera_offset),
            local_camera=space.use_local_camera,
            lock_camera=space.lock_camera,
            camera=space.camera.name if space.camera is not None else "",
        )

    def bring_back(self, space: SpaceView3D, camera: Object | None) -> None:
        """Let the view be as it was; `camera` is what it had as its own."""
        region = space.region_3d
        space.camera = camera
        space.use_local_camera = self.local_camera and camera is not None
        space.lock_camera = self.lock_camera
        region.view_perspective = self.perspective
        region.view_location, region.view_rotation = self.location, self.rotation
        region.view_distance = self.distance
        region.view_camera_zoom, region.view_camera_offset = self.camera_zoom, self.camera_offset


class FormerViews:
    """The former views of the 3D views of this session, by their address: a view that is split has one of its own."""

    def __init__(self) -> None:
        self._kept: dict[int, FormerView] = {}

    def __contains__(self, space: SpaceView3D) -> bool:
        return space.as_pointer() in self._kept

    def keep(self, space: SpaceView3D) -> None:
        """Remember how this view looks now."""
        self._kept[space.as_pointer()] = FormerView.of(space)

    def restore(self, space: SpaceView3D) -> None:
        """Bring it back; a view that looked through our camera when the file was opened just leaves the camera."""
        former = self._kept.pop(space.as_pointer(), None)
        if former is None:
            space.use_local_camera = False
            space.region_3d.view_perspective = "PERSP"
            return
        former.bring_back(space, bpy.data.objects.get(former.camera))

    def clear(self) -> None:
        """Forget all, as when another file was loaded."""
        self._kept.clear()


FORMER = FormerViews()
