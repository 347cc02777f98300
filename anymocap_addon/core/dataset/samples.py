"""The drawn poses of a dataset folder as one memory-mapped array, kept up to date by content.

Folder: `<i>_front.png`, `<i>_side.png` (RGBA, straight alpha) and `<i>_meta.json` for each pose. Cache: `frames.u8`
(premultiplied RGBA, both views side by side over the whole layout, one slot a pose) and `index.json`, written last.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..atomic import write_error, write_json
from ..errors import BadInputError
from ..formats import read_json
from ..layout import Layout

INDEX_SCHEMA = "anymocap.samples/1"
HELD_OUT_SHARE = 0.04
HELD_OUT_LEAST = 24
LEAST_SAMPLES = 8
MOST_OFF_PX = 0.5
PNG_END = b"IEND\xaeB`\x82"
REDRAW = "Run the dataset stage again: it draws what is missing."
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Pose:
    """One drawn pose on disk: its stem, its three files' bytes and what meta.json says."""

    stem: str
    key: str
    uv: NDArray[np.float64]
    front: bytes
    side: bytes


@dataclass(frozen=True)
class Samples:
    """Drawn poses ready for training.

    Attributes:
        names: (J) keypoint names.
        frames: (N, rows, columns, 4) uint8 premultiplied RGBA, memory-mapped and read-only.
        uv: (N, 2J, 2) layout px; the first J are the front view's.
        key: a hash of all contents; equal keys mean equal samples.
    """

    names: tuple[str, ...]
    frames: NDArray[np.uint8]
    uv: NDArray[np.float64]
    key: str

    def __len__(self) -> int:
        return len(self.uv)

    def split(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Indices for training and held out: every n-th pose, 4 % but at least 24 (never more than a quarter)."""
        count = len(self)
        wanted = min(max(round(HELD_OUT_SHARE * count), HELD_OUT_LEAST), count // 4)
        held = np.unique(np.linspace(0, count - 1, wanted).round().astype(np.int64))
        return np.setdiff1d(np.arange(count), held), held


def load_samples(folder: Path, layout: Layout, cache: Path, progress: Progress | None = None) -> Samples:
    """Read a dataset folder through its cache; only poses whose files changed are decoded.

    Raises:
        BadInputError: no dataset, a missing or truncated picture, joints that differ between poses.
    """
    stems = sorted(path.name.removesuffix("_meta.json") for path in folder.glob("*_meta.json"))
    if len(stems) < LEAST_SAMPLES:
        raise BadInputError(
            f"has {len(stems)} drawn poses; training needs at least {LEAST_SAMPLES}.", file=folder, hint=REDRAW
        )
    names, rows = _names_and_rows(folder, stems[0])
    store = _Store(cache, rows, _columns(layout, rows), len(stems))
    keys, uv = [], []
    with ThreadPoolExecutor(2) as pool:
        # Slots are written by this thread alone; the pool reads, hashes and decodes.
        jobs = pool.map(lambda item: _fetch(folder, item[1], item[0], names, layout, store), enumerate(stems))
        for done, (pose, picture) in enumerate(jobs, 1):
            if picture is not None:
                store.put(done - 1, pose.key, picture)
            keys.append(pose.key)
            uv.append(pose.uv)
            if progress is not None:
                progress(done, len(stems))
    store.close(keys)
    digest = hashlib.blake2b("".join(keys).encode(), digest_size=16).hexdigest()
    return Samples(names, store.frames(), np.stack(uv), digest)


def _fetch(
    folder: Path, stem: str, slot: int, names: tuple[str, ...], layout: Layout, store: _Store
) -> tuple[Pose, NDArray[np.uint8] | None]:
    """One pose, and its picture unless the cache holds it already."""
    pose = _read_pose(folder, stem, names, layout)
    if store.holds(slot, pose.key):
        return pose, None
    return pose, compose(folder, pose, layout, store.rows)


def _read_pose(folder: Path, stem: str, names: tuple[str, ...], layout: Layout) -> Pose:
    meta = _read_meta(folder / f"{stem}_meta.json")
    if tuple(meta["names"]) != names:
        raise BadInputError(
            "lists other joints than the first pose of the dataset.",
            file=folder / f"{stem}_meta.json",
            key="names",
            hint="The rig changed while the dataset was drawn: delete the dataset folder and draw it again.",
        )
    front, side = (_read_picture(folder / f"{stem}_{view}.png") for view in ("front", "side"))
    uv = np.concatenate([np.asarray(meta[view], np.float64) for view in ("front_uv", "side_uv")])
    _check_layout(folder / f"{stem}_meta.json", meta, uv, layout)
    digest = hashlib.blake2b(digest_size=16)
    for part in (front, side, uv.tobytes(), "\n".join(names).encode()):
        digest.update(part)
    return Pose(stem, digest.hexdigest(), uv, front, side)


def _check_layout(file: Path, meta: dict[str, Any], uv: NDArray[np.float64], layout: Layout) -> None:
    """The joints in metres must project onto the pixels that the picture was drawn with."""
    projected = np.concatenate(layout.project(np.asarray(meta["joints"], np.float64)))
    off = float(np.abs(projected - uv).max()) if projected.shape == uv.shape else np.inf
    if off > MOST_OFF_PX:
        raise BadInputError(
            f"was drawn for another layout: its joints lie up to {off:.1f} px off.",
            file=file,
            key="front_uv, side_uv",
            hint="creature.json's layout changed: run ref and dataset again.",
        )


def _read_meta(file: Path) -> dict[str, Any]:
    meta = read_json(file, "meta")
    for key in ("front_uv", "side_uv"):
        if len(meta[key]) != len(meta["names"]):
            raise BadInputError(
                f"has {len(meta[key])} entries for {len(meta['names'])} joints.", file=file, key=key, hint=REDRAW
            )
    return meta


def _read_picture(file: Path) -> bytes:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise BadInputError("is missing or cannot be read.", file=file, hint=REDRAW) from error
    if not data.endswith(PNG_END):
        raise BadInputError("is truncated.", file=file, hint=f"Delete it. {REDRAW}")
    return data


def _decode(data: bytes, file: Path) -> NDArray[np.uint8]:
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if picture is None or picture.ndim != 3 or picture.shape[2] != 4 or picture.dtype != np.uint8:
        raise BadInputError("is not an 8-bit RGBA picture.", file=file, hint=f"Delete it. {REDRAW}")
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGRA2RGBA), np.uint8)


def compose(folder: Path, pose: Pose, layout: Layout, rows: int) -> NDArray[np.uint8]:
    """Both views of a pose on one (rows, columns, 4) premultiplied RGBA picture of the whole layout."""
    scale = rows / layout.height
    canvas = np.zeros((rows, _columns(layout, rows), 4), np.uint8)
    split = round(layout.w_front * scale)
    views = (("front", pose.front, 0.0, layout.w_front), ("side", pose.side, layout.w_front, layout.w_side))
    for view, data, left, width in views:
        file = folder / f"{pose.stem}_{view}.png"
        picture = _premultiply(_decode(data, file))
        if picture.shape[0] != rows or abs(picture.shape[1] - width * scale) >= 1:
            raise BadInputError(
                f"is {picture.shape[1]} x {picture.shape[0]} px, not {round(width * scale)} x {rows}.",
                file=file,
                hint="The layout changed: delete the dataset folder and draw it again.",
            )
        part = canvas[:, :split] if view == "front" else canvas[:, split:]
        # A camera's picture is centred on its view; where the widths were rounded that is a fraction of a pixel.
        shift = (left + width / 2) * scale - picture.shape[1] / 2 - (0 if view == "front" else split)
        if abs(shift) < 1e-6 and picture.shape == part.shape:
            part[:] = picture
        else:
            move = np.array([[1, 0, shift], [0, 1, 0]], np.float64)
            part[:] = cv2.warpAffine(picture, move, (part.shape[1], rows))
    return canvas


def _premultiply(rgba: NDArray[np.uint8]) -> NDArray[np.uint8]:
    alpha = rgba[..., 3:]
    covered = np.asarray(cv2.merge([alpha[..., 0]] * 3), np.uint8)
    colour = cv2.multiply(rgba[..., :3], covered, scale=1 / 255)
    return np.concatenate([np.asarray(colour, np.uint8), alpha], -1)


def _columns(layout: Layout, rows: int) -> int:
    return round(layout.width * rows / layout.height)


def _names_and_rows(folder: Path, stem: str) -> tuple[tuple[str, ...], int]:
    names = tuple(_read_meta(folder / f"{stem}_meta.json")["names"])
    file = folder / f"{stem}_front.png"
    return names, _decode(_read_picture(file), file).shape[0]


class _Store:
    """The cache's two files; anything in them that does not fit is simply written again."""

    def __init__(self, folder: Path, rows: int, columns: int, count: int) -> None:
        self.rows = rows
        self.shape = (count, rows, columns, 4)
        self.path = folder / "frames.u8"
        self.index = folder / "index.json"
        self.keys = self._known_keys()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._allocate(int(np.prod(self.shape, dtype=np.int64)))
            # While slots change the index must not vouch for them; it is written again at the end.
            self.index.unlink(missing_ok=True)
        except OSError as error:
            raise write_error(self.path, error) from error
        self._writable: NDArray[np.uint8] = np.memmap(self.path, np.uint8, "r+", shape=self.shape)

    def _allocate(self, size: int) -> None:
        """Give the file its blocks now: a disk that fills up under a memory map kills the process without a word."""
        with self.path.open("r+b" if self.path.exists() else "w+b") as handle:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(handle.fileno(), 0, size)
            handle.truncate(size)

    def _known_keys(self) -> list[str]:
        if not (self.path.exists() and self.index.exists()):
            return []
        try:
            index = json.loads(self.index.read_text(encoding="utf-8"))
            fits = index["schema"] == INDEX_SCHEMA and tuple(index["picture"]) == self.shape[1:]
            keys = [str(key) for key in index["keys"]]
        except (OSError, ValueError, KeyError, TypeError):
            return []  # a damaged index costs one decoding of the dataset, nothing else
        whole = self.path.stat().st_size == len(keys) * int(np.prod(self.shape[1:]))
        return keys if fits and whole else []

    def holds(self, slot: int, key: str) -> bool:
        return slot < len(self.keys) and self.keys[slot] == key

    def put(self, slot: int, key: str, picture: NDArray[np.uint8]) -> None:
        self._writable[slot] = picture

    def close(self, keys: list[str]) -> None:
        write_json(self.index, {"schema": INDEX_SCHEMA, "picture": list(self.shape[1:]), "keys": keys})

    def frames(self) -> NDArray[np.uint8]:
        frames: NDArray[np.uint8] = np.memmap(self.path, np.uint8, "r", shape=self.shape)
        return frames
