"""Dataset stage, last step: nothing is missing, and a sheet of samples to look at."""

from __future__ import annotations

import colorsys
import json
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ..atomic import remove_leftovers, replacing
from ..errors import AnyMoCapError
from ..formats import read_json
from ..layout import Layout
from ..stage_context import StageContext
from .files import PoseFiles, drawn_from

COLUMNS, ROWS = 4, 6
TILE_WIDTH = 640
DOT_PX = 3


def run(ctx: StageContext) -> dict[str, Any]:
    """Check that all poses are there, remove what belongs to another dataset, and write dataset_samples.jpg.

    Raises:
        AnyMoCapError: a pose is missing or damaged.
    """
    layout, count = ctx.layout(), ctx.settings["poses"]
    origin = drawn_from(ctx.paths, ctx.load_creature(), layout, ctx.settings["seed"], ctx.settings["rows"])
    remove_leftovers(ctx.paths.dataset)
    removed = _remove_strangers(ctx, origin)
    poses = [PoseFiles(ctx.paths.dataset, index) for index in range(count)]
    metas = [read_json(pose.meta, "meta") for pose in poses]
    chosen = np.unique(np.linspace(0, count - 1, min(count, COLUMNS * ROWS)).round().astype(int))
    tiles = [_tile(poses[i], metas[i], layout) for i in chosen]
    with replacing(ctx.paths.dataset_sheet) as temporary:
        if not cv2.imwrite(str(temporary), _grid(tiles)[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 88]):
            raise AnyMoCapError("The sheet could not be written.", file=ctx.paths.dataset_sheet)
    blurred = sum(bool(meta["blur"]) for meta in metas)
    return {"poses": count, "blurred": blurred, "removed": removed, "sheet": str(ctx.paths.dataset_sheet)}


def _remove_strangers(ctx: StageContext, origin: str) -> int:
    """Remove poses beyond the asked number and poses of an older rig, layout or seed."""
    removed = 0
    for meta in ctx.paths.dataset.glob("*_meta.json"):
        stem = meta.name.removesuffix("_meta.json")
        if not stem.isdigit():
            continue
        pose = PoseFiles(ctx.paths.dataset, int(stem))
        if pose.index < ctx.settings["poses"] and _origin(pose) == origin:
            continue
        for file in (pose.meta, pose.front, pose.side):
            file.unlink(missing_ok=True)
        removed += 1
    return removed


def _origin(pose: PoseFiles) -> str:
    try:
        return str(json.loads(pose.meta.read_bytes()).get("drawn_from"))
    except (ValueError, AttributeError):
        return ""


def _tile(pose: PoseFiles, meta: dict[str, Any], layout: Layout) -> NDArray[np.uint8]:
    """A pose over the studio with a dot on every joint, (H, TILE_WIDTH, 3) RGB."""
    views = []
    for file in (pose.front, pose.side):
        picture = cv2.imdecode(np.frombuffer(file.read_bytes(), np.uint8), cv2.IMREAD_UNCHANGED)
        if picture is None or picture.ndim != 3 or picture.shape[2] != 4:
            raise AnyMoCapError("is damaged.", file=file, hint="Run the dataset stage again: it redraws it.")
        views.append(picture)
    rgba = np.concatenate(views, axis=1).astype(np.float32)[..., [2, 1, 0, 3]]
    scale = rgba.shape[0] / layout.height
    studio = layout.studio(scale)[:, : rgba.shape[1]].astype(np.float32)
    alpha = rgba[..., 3:] / 255
    tile = np.rint(rgba[..., :3] * alpha + studio * (1 - alpha)).astype(np.uint8)
    zoom = TILE_WIDTH / tile.shape[1]
    tile = np.ascontiguousarray(
        cv2.resize(tile, (TILE_WIDTH, round(tile.shape[0] * zoom)), interpolation=cv2.INTER_AREA)
    )
    count = len(meta["names"])
    for view in ("front_uv", "side_uv"):
        for joint, uv in enumerate(meta[view]):
            _dot(tile, np.asarray(uv, float) * scale * zoom, joint / count)
    blur = ", blurred" if meta["blur"] else ""
    text = f"{pose.index}  {meta['kind']}{blur}"
    cv2.putText(tile, text, (8, 18), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (240, 240, 240), 1, cv2.LINE_AA)
    return tile


def _dot(picture: NDArray[np.uint8], uv: NDArray[np.float64], hue: float) -> None:
    """A ringed dot at continuous pixel coordinates (2,), where the first pixel's centre is 0.5."""
    shift = 4
    at = tuple(round(value) for value in (uv - 0.5) * 2**shift)
    colour = tuple(int(255 * value) for value in colorsys.hsv_to_rgb(hue, 0.85, 1.0))
    cv2.circle(picture, at, (DOT_PX + 1) << shift, (20, 20, 20), -1, cv2.LINE_AA, shift)
    cv2.circle(picture, at, DOT_PX << shift, colour, -1, cv2.LINE_AA, shift)


def _grid(tiles: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    height, width = tiles[0].shape[:2]
    columns = min(COLUMNS, len(tiles))
    lines = -(-len(tiles) // columns)
    sheet = np.full((lines * height, columns * width, 3), 40, np.uint8)
    for number, tile in enumerate(tiles):
        line, column = divmod(number, columns)
        sheet[line * height : (line + 1) * height, column * width : (column + 1) * width] = tile
    return sheet
