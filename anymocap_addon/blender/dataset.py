"""Dataset stage, drawing step: this shard's poses from both sides, with their true joints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ..core.dataset.files import PoseFiles, drawn_from
from ..core.dataset.pose_sampler import PoseSample, PoseSampler
from ..core.formats import write_json_file
from ..core.layout import Layout
from ..core.rig import RigInfo
from ..core.stage_context import StageContext
from .draw import Drawer, PosedMeshes, layout_views
from .png import is_whole_png, write_png
from .posed import PosedCreature, open_for_drawing, start_euler

CHUNK = 16  # poses whose bone channels are worked out at once


def run(ctx: StageContext) -> dict[str, Any]:
    """Draw the poses of this shard that are missing, damaged, or drawn from something else.

    Raises:
        BadInputError: no rigged creature, or it does not fit into its layout.
    """
    layout, rows, seed = ctx.layout(), ctx.settings["rows"], ctx.settings["seed"]
    origin = drawn_from(ctx.paths, ctx.load_creature(), layout, seed, rows)
    shard, shards = ctx.shard
    files = [PoseFiles(ctx.paths.dataset, index) for index in range(shard, ctx.settings["poses"], shards)]
    missing = [pose for pose in files if not is_drawn(pose, layout, rows, origin)]
    result = {"drawn": len(missing), "kept": len(files) - len(missing), "folder": str(ctx.paths.dataset)}
    if not missing:
        return result
    creature = PosedCreature(open_for_drawing(ctx, rows))
    creature.rest()
    meshes = PosedMeshes(creature.meshes, bpy.context.evaluated_depsgraph_get())
    start = start_euler(ctx.load_creature(), creature.rig)
    sampler = PoseSampler(creature.rig, layout, seed, start, outermost(meshes.capture().position))
    drawer = Drawer(meshes, layout_views(layout, rows))
    by_index = {pose.index: pose for pose in missing}
    for done, (sample, picture, joints) in enumerate(
        draw_samples(creature, meshes, drawer, sampler, list(by_index)), 1
    ):
        split = drawer.views[0].width
        pose = by_index[sample.index]
        write_png(pose.front, picture[:, :split])
        write_png(pose.side, picture[:, split:])
        _write_meta(pose, sample, joints, layout, creature.rig, seed, origin)
        ctx.progress(done, len(missing), "poses")
    drawer.free()
    return result


def draw_samples(
    creature: PosedCreature, meshes: PosedMeshes, drawer: Drawer, sampler: PoseSampler, indices: list[int]
) -> Iterator[tuple[PoseSample, NDArray[np.uint8], NDArray[np.float64]]]:
    """Each sample with its picture (rows, columns, 4) and its true joints (J, 3) metres, as Blender has them."""
    for first in range(0, len(indices), CHUNK):
        samples = [sampler.sample(index) for index in indices[first : first + CHUNK]]
        frames = creature.play(
            np.concatenate([s.trans for s in samples]),
            np.concatenate([s.root_R for s in samples]),
            np.concatenate([s.euler for s in samples]),
        )
        for sample in samples:
            shapes = []
            for number in range(len(sample.trans)):
                next(frames)
                if number in sample.drawn:
                    shapes.append(meshes.capture())
                if number == sample.middle:
                    joints = creature.joints()
            yield sample, drawer.draw(shapes, sample.lights), joints


def is_drawn(pose: PoseFiles, layout: Layout, rows: int, origin: str) -> bool:
    """True when the pose's three files are whole and were drawn from the same things."""
    try:
        meta = json.loads(pose.meta.read_bytes())
    except (FileNotFoundError, ValueError):
        return False
    scale = rows / layout.height
    return (
        isinstance(meta, dict)
        and meta.get("drawn_from") == origin
        and is_whole_png(pose.front, round(layout.w_front * scale), rows)
        and is_whole_png(pose.side, round(layout.w_side * scale), rows)
    )


def outermost(points: NDArray[np.float32]) -> NDArray[np.float64]:
    """The points of (N, 3) that lie farthest out in the 26 directions of a cube's faces, edges and corners."""
    axes = np.array([-1.0, 0.0, 1.0])
    directions = np.stack(np.meshgrid(axes, axes, axes), -1).reshape(-1, 3)
    directions = directions[np.abs(directions).sum(1) > 0]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    return points[np.unique((points @ directions.T).argmax(0))].astype(np.float64)


def _write_meta(
    pose: PoseFiles,
    sample: PoseSample,
    joints: NDArray[np.float64],
    layout: Layout,
    rig: RigInfo,
    seed: int,
    origin: str,
) -> None:
    front, side = layout.project(joints)
    meta = {
        "index": sample.index,
        "seed": seed,
        "kind": sample.kind,
        "blur": sample.blur,
        "drawn_from": origin,
        "names": list(rig.keypoints),
        "joints": np.round(joints, 6).tolist(),
        "front_uv": np.round(front, 3).tolist(),
        "side_uv": np.round(side, 3).tolist(),
    }
    write_json_file(pose.meta, "meta", meta)
