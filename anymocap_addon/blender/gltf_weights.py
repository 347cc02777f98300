"""Skin weights as a .glb stores them: Blender's importer turns a vertex whose weights are all zero into a rigid one."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.errors import BadInputError

# Stock files hold a few bad vertices; the rig stage completes those from their neighbours and says so.
MOST_BAD_SHARE = 0.02
_JSON, _BIN = 0x4E4F534A, 0x004E4942
_TYPES = {5121: (np.uint8, 255.0), 5123: (np.uint16, 65535.0), 5126: (np.float32, 1.0)}


def check_glb_weights(path: Path) -> None:
    """Hold the skin weights of every mesh of a .glb to being finite and not all zero, but for a few vertices.

    Raises:
        BadInputError: names the mesh, how many vertices are wrong, and the remedy.
    """
    chunks = _chunks(path)
    gltf, binary = json.loads(chunks.get(_JSON, b"{}")), chunks.get(_BIN, b"")
    for number, mesh in enumerate(gltf.get("meshes", [])):
        for primitive in mesh.get("primitives", []):
            sets = [primitive["attributes"].get(f"WEIGHTS_{i}") for i in range(4)]
            parts = [_accessor(gltf, binary, index) for index in sets if index is not None]
            known = [part for part in parts if part is not None]
            if known and len(known) == len(parts):
                _check(np.concatenate(known, 1), mesh.get("name", f"number {number}"), path)


def _check(weights: NDArray[np.float64], mesh: str, path: Path) -> None:
    hint = "Weight the mesh to its armature and export it again."
    broken = ~np.isfinite(weights).all(1)
    if broken.mean() > MOST_BAD_SHARE:
        raise BadInputError(
            f"The skin weights of mesh {mesh!r} are not finite at {broken.sum()} of {len(weights)} vertices.",
            file=path,
            hint=hint,
        )
    empty = weights.sum(1) <= 0
    if empty.mean() > MOST_BAD_SHARE:
        raise BadInputError(
            f"The skin weights of mesh {mesh!r} add up to zero at {empty.sum()} of {len(weights)} vertices.",
            file=path,
            hint=hint,
        )


def _chunks(path: Path) -> dict[int, bytes]:
    data, chunks, place = path.read_bytes(), {}, 12
    while place + 8 <= len(data):
        size, kind = struct.unpack_from("<II", data, place)
        chunks.setdefault(kind, data[place + 8 : place + 8 + size])
        place += 8 + size
    return chunks


def _accessor(gltf: dict[str, Any], binary: bytes, index: int) -> NDArray[np.float64] | None:
    """(N, 4) values of a VEC4 accessor in the file's own buffer; None for what only the importer can read."""
    accessor = gltf["accessors"][index]
    if "bufferView" not in accessor or "sparse" in accessor or accessor["componentType"] not in _TYPES:
        return None
    view = gltf["bufferViews"][accessor["bufferView"]]
    kind, top = _TYPES[accessor["componentType"]]
    item = np.dtype(kind).itemsize
    stride, count = view.get("byteStride", 4 * item), accessor["count"]
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    if view["buffer"] != 0 or "extensions" in view or start + (count - 1) * stride + 4 * item > len(binary):
        return None
    values = np.ndarray((count, 4), kind, binary, start, (stride, item))
    return values.astype(float) / top
