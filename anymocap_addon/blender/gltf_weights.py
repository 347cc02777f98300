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
BAD_WEIGHT = "anymocap_bad_weight"  # an attribute of a mesh: vertices whose weights the file holds as NaN or all zero
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


def bad_glb_vertices(path: Path) -> dict[str, NDArray[np.bool_]]:
    """Mesh -> (V,) which vertices, as an importer numbers them, have weights that are not finite or all zero; meshes
    without such vertices are left out.

    Raises:
        ValueError, KeyError, IndexError, TypeError: it is no whole .glb file.
    """
    chunks = _chunks(path)
    gltf, binary = json.loads(chunks.get(_JSON, b"{}")), chunks.get(_BIN, b"")
    found: dict[str, NDArray[np.bool_]] = {}
    for mesh in gltf.get("meshes", []):
        parts = [_bad_of_primitive(gltf, binary, primitive) for primitive in mesh["primitives"]]
        mask = np.concatenate([np.zeros(0, np.bool_), *parts])
        if mask.any():
            found[mesh.get("name", "")] = mask
    return found


def _bad_of_primitive(gltf: dict[str, Any], binary: bytes, primitive: dict[str, Any]) -> NDArray[np.bool_]:
    """(n,) for the vertices that its faces use."""
    count = gltf["accessors"][primitive["attributes"]["POSITION"]]["count"]
    sets = [primitive["attributes"].get(f"WEIGHTS_{i}") for i in range(4)]
    parts = [_accessor(gltf, binary, index) for index in sets if index is not None]
    known = [part for part in parts if part is not None]
    bad = np.zeros(count, np.bool_)
    if known and len(known) == len(parts):
        weights = np.concatenate(known, 1)
        bad = ~np.isfinite(weights).all(1) | ~(weights.sum(1) > 0)
    indices = _indices(gltf, binary, primitive.get("indices"))
    return bad if indices is None else bad[np.unique(indices)]


def _indices(gltf: dict[str, Any], binary: bytes, index: int | None) -> NDArray[np.int64] | None:
    """(n,) values of an index accessor; None where there is none, or only the importer can read it."""
    if index is None:
        return None
    accessor = gltf["accessors"][index]
    if "bufferView" not in accessor or "sparse" in accessor:
        return None
    view = gltf["bufferViews"][accessor["bufferView"]]
    if view["buffer"] != 0 or "extensions" in view:
        return None
    kind = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32}[accessor["componentType"]]
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    return np.frombuffer(binary, kind, accessor["count"], start).astype(np.int64)


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
    chunks: dict[int, bytes] = {}
    data, place = path.read_bytes(), 12
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
    values: NDArray[Any] = np.ndarray((count, 4), kind, binary, start, (stride, item))
    return values.astype(float) / top
