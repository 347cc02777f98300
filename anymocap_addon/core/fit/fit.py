"""The fit stage: det.npz and rig_info.json to motion.json."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..detections import Detections, load_detections
from ..errors import BadInputError
from ..kinematics import continuous_quaternion, matrix_to_quaternion
from ..layout import Layout
from ..motion import Contact, Motion, save_motion
from ..rig import RigInfo
from ..stage_context import StageContext
from ..triangulation import triangulated
from .first_order import fit_first_order, load_baseline
from .model import FitModel, State, build_model
from .observations import ErrorModel, observations
from .reading import Reading, prepare
from .second_order import Fitted, SecondOrderOptions, fit_second_order
from .start import start_pose

Progress = Callable[[float, str], None]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class FitOptions:
    """What the user may choose.

    Attributes:
        solver: "lm" (second order) or "adam" (first order).
        plants: hold planted feet still in a second fit.
        device: "cpu" or "cuda".
        fix_front_swaps: undo left/right swaps in the front view too.
        rest_pose_deg: bone -> XYZ degrees that angles are pulled to (creature.json's start_pose).
        second_order, error_model: constants of the second-order fit.
    """

    solver: str = "lm"
    plants: bool = True
    device: str = "cpu"
    fix_front_swaps: bool = False
    rest_pose_deg: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    second_order: SecondOrderOptions = field(default_factory=SecondOrderOptions)
    error_model: ErrorModel = field(default_factory=ErrorModel)


def _device(name: str) -> torch.device:
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise BadInputError(
            "This worker's torch has no CUDA device.", key="device", hint="Choose cpu, or a worker with CUDA torch."
        )
    return torch.device(name)


def _rest_pose(rig: RigInfo, degrees: dict[str, tuple[float, float, float]]) -> Array:
    """(B, 3) radians, inside the limits; zero for bones that are not named."""
    pose = np.zeros((rig.B, 3))
    for bone, angles in degrees.items():
        pose[rig.index(bone)] = np.radians(angles)
    pose[1:] = np.clip(pose[1:], rig.limits_rad[1:, :, 0], rig.limits_rad[1:, :, 1])
    pose[0] = 0.0
    return pose


def _solve(model: FitModel, reading: Reading, fps: float, options: FitOptions, progress: Progress | None) -> Fitted:
    rig, layout, front, side = model.rig, model.layout, reading.front, reading.side
    seen = (front.uv, side.uv, front.confidence, side.confidence)
    trans, root_R, euler = start_pose(rig, *triangulated(layout, *seen))
    start = State(model.tensor(trans), model.tensor(root_R), model.tensor(euler))
    if options.solver == "adam":
        data = observations(layout, *seen, None, model.device)
        return fit_first_order(model, data, start, fps, options.plants, progress)
    if options.solver == "lm":
        data = observations(layout, *seen, options.error_model, model.device)
        rest = model.tensor(_rest_pose(rig, options.rest_pose_deg)) if options.rest_pose_deg else None
        return fit_second_order(model, data, start, fps, options.plants, rest, options.second_order, progress)
    raise BadInputError(f"There is no solver {options.solver!r}.", key="solver", hint="Choose lm or adam.")


def _settings(options: FitOptions, fitted: Fitted, cpu_s: float) -> dict[str, Any]:
    if options.solver == "adam":
        constants = asdict(load_baseline())
    else:
        constants = {**asdict(options.second_order), "error_model": asdict(options.error_model)}
    return {
        "solver": options.solver,
        "plants": options.plants,
        "device": options.device,
        "fix_front_swaps": options.fix_front_swaps,
        "iterations": fitted.iterations,
        "loss": fitted.loss,
        "cpu_s": cpu_s,
        "constants": constants,
    }


def _reprojection(layout: Layout, joints: Array, reading: Reading) -> tuple[Array, Array, dict[str, float]]:
    """(T, J) px of each view against the reading as it was fitted, and their summary."""
    projected = layout.project(joints)
    views = (reading.front, reading.side)
    front, side = (np.linalg.norm(p - v.uv, axis=-1) for p, v in zip(projected, views, strict=True))
    both = np.concatenate([front.ravel(), side.ravel()])
    summary = {
        "front_median": float(np.median(front)),
        "side_median": float(np.median(side)),
        "mean": float(both.mean()),
        "p95": float(np.quantile(both, 0.95)),
    }
    return front, side, summary


def fit_motion(
    rig: RigInfo,
    layout: Layout,
    detections: Detections,
    options: FitOptions | None = None,
    progress: Progress | None = None,
    move: str = "",
) -> Motion:
    """The motion of `rig` that a reading shows. Pure: no files.

    Args:
        progress: called with the share done (0..1) and a note; may raise to stop.
        move: the motion's name.

    Raises:
        BadInputError: the reading or an option cannot be used.
    """
    options = options or FitOptions()
    torch.set_num_threads(1)  # blocks of a hundred rows: more threads only wait for each other
    began = time.process_time()
    reading = prepare(detections, rig, options.fix_front_swaps)
    model = build_model(rig, layout, _device(options.device))
    fitted = _solve(model, reading, detections.fps, options, progress)
    with torch.no_grad():
        joints = model.forward(fitted.state).joints.cpu().numpy()
    trans, root_R, euler = (part.cpu().numpy() for part in fitted.state)
    front, side, summary = _reprojection(layout, joints, reading)
    return Motion(
        creature=rig.creature,
        move=move,
        fps=detections.fps,
        bones=rig.bones,
        trans=trans,
        root_quat=continuous_quaternion(matrix_to_quaternion(root_R)),
        euler=euler,
        joint_names=rig.keypoints,
        joints=joints,
        reproj_front=front,
        reproj_side=side,
        reproj_px=summary,
        sync=reading.sync,
        contacts=[Contact(rig.keypoints[p.joint], p.start, p.end) for p in fitted.ground.plants],
        ground_velocity=fitted.ground.velocity,
        solver=options.solver,
        settings=_settings(options, fitted, time.process_time() - began),
    )


def run(ctx: StageContext) -> dict[str, Any]:
    """Stage step: clips/<clip>/det.npz to clips/<clip>/motion.json."""
    name = str(ctx.settings["clip"])
    clip, creature, rig = ctx.paths.clip(name), ctx.load_creature(), ctx.load_rig()
    options = FitOptions(
        solver=str(ctx.settings["solver"]),
        plants=bool(ctx.settings["plants"]),
        device=str(ctx.settings["device"]),
        fix_front_swaps=creature.fix_front_swaps,
        rest_pose_deg=creature.start_pose,
    )
    motion = fit_motion(
        rig,
        ctx.layout(),
        load_detections(clip.det),
        options,
        lambda share, note: ctx.progress(share, 1.0, note),
        move=name,
    )
    save_motion(clip.motion, motion)
    if not motion.sync["clean"]:
        agreement = motion.sync["paw_agreement"]
        ctx.log(f"Paw agreement {agreement:.2f}: the two views of this clip are out of step; look at overlay.mp4.")
    figures = {
        "motion": str(clip.motion),
        "frames": motion.T,
        "solver": motion.solver,
        "cpu_s": motion.settings["cpu_s"],
        "reproj_px": motion.reproj_px["mean"],
        "contacts": len(motion.contacts),
        "ground_velocity": motion.ground_velocity.tolist(),
        "paw_agreement": motion.sync["paw_agreement"],
    }
    ctx.metric("reproj_px", motion.reproj_px["mean"])
    ctx.metric("cpu_s", motion.settings["cpu_s"])
    return figures
