"""The check-up's fix of vertices that lie nowhere."""

from __future__ import annotations

import bmesh
import numpy as np

from .fixed_objects import Objects, local_points, shown_meshes


def drop_bad_points(objects: Objects) -> list[str]:
    """Delete vertices whose coordinates are not finite, with their faces."""
    notes = []
    for mesh in shown_meshes(objects):
        bad = ~np.isfinite(local_points(mesh)).all(1)
        if not bad.any():
            continue
        work = bmesh.new()
        work.from_mesh(mesh.data)
        work.verts.ensure_lookup_table()
        bmesh.ops.delete(work, geom=[work.verts[int(v)] for v in np.flatnonzero(bad)], context="VERTS")
        work.to_mesh(mesh.data)
        work.free()
        mesh.data.update()
        notes.append(f"{mesh.name}: {int(bad.sum())} vertices deleted.")
    return notes
