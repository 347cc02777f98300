"""Armatures that show their rest position for a while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy


@contextmanager
def rest_shown(armatures: Iterable[bpy.types.Object]) -> Iterator[bpy.types.Depsgraph]:
    """Show the rest position; afterwards what was shown before."""
    before = [(armature.data, armature.data.pose_position) for armature in armatures]
    for data, position in before:
        if position != "REST":  # linked data may show its rest already, and cannot be set
            data.pose_position = "REST"
    bpy.context.view_layer.update()
    try:
        yield bpy.context.evaluated_depsgraph_get()
    finally:
        for data, position in before:
            if data.pose_position != position:
                data.pose_position = position
        bpy.context.view_layer.update()
