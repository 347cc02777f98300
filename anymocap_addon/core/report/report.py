"""The stage 'report': report.json and report.png of a captured clip, with scores where the truth is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from ..atomic import write_bytes
from ..detections import Detections, load_detections
from ..errors import AnyMoCapError, BadInputError
from ..exam.truth import Truth, load_truth
from ..formats import read_json, write_json_file
from ..motion import Motion, load_motion
from ..rig import RigInfo
from ..stage_context import StageContext
from ..stage_record import load_records, require
from .figures import Capture, report_figures
from .page import report_page
from .stills import two_stills

STEPS = 4


def _order(names: tuple[str, ...], rig: RigInfo, file: Path) -> list[int]:
    """Where each keypoint of the rig lies in `names`."""
    place = {name: i for i, name in enumerate(names)}
    missing = [name for name in rig.keypoints if name not in place]
    if missing:
        raise BadInputError(
            f"lacks the keypoints {', '.join(missing[:5])} of the rig.",
            file=file,
            key="names",
            hint="The rig changed since: run dataset, train, detect and fit again.",
        )
    return [place[name] for name in rig.keypoints]


def _ordered_detections(det: Detections, rig: RigInfo, file: Path) -> Detections:
    order = _order(det.names, rig, file)
    return replace(
        det,
        names=rig.keypoints,
        front_uv=det.front_uv[:, order],
        side_uv=det.side_uv[:, order],
        front_conf=det.front_conf[:, order],
        side_conf=det.side_conf[:, order],
    )


def _ordered_motion(motion: Motion, rig: RigInfo, file: Path) -> Motion:
    order = _order(motion.joint_names, rig, file)
    return replace(
        motion,
        joint_names=rig.keypoints,
        joints=motion.joints[:, order],
        reproj_front=motion.reproj_front[:, order],
        reproj_side=motion.reproj_side[:, order],
    )


def _ordered_truth(truth: Truth | None, rig: RigInfo, file: Path) -> Truth | None:
    if truth is None:
        return None
    return replace(truth, names=rig.keypoints, joints=truth.joints[:, _order(truth.names, rig, file)])


def clip_file(ctx: StageContext, det: Detections) -> Path | None:
    """The clip that was read, when its path is known; relative paths start at the project folder.

    A project that was moved keeps the exam's clip: then the path's end within the project tells.
    """
    if not det.video:
        return None
    path, own = (ctx.project.root / det.video).resolve(), ctx.paths.exam(ctx.settings["clip"]).clip.resolve()
    inside = own.relative_to(ctx.project.root.resolve()).parts
    return own if not path.exists() and path.parts[-len(inside) :] == inside else path


def _truth(ctx: StageContext, det: Detections) -> Truth | None:
    """The exam's truth. With kind "auto" only when the clip that was read is the exam's own.

    Raises:
        BadInputError: kind is "exam" and the truth is missing or damaged.
    """
    exam, kind = ctx.paths.exam(ctx.settings["clip"]), ctx.settings.get("kind", "auto")
    if kind == "clip":
        return None
    if kind == "exam":
        return load_truth(require(exam.truth, "exam"))
    read = clip_file(ctx, det)
    is_exam = exam.truth.exists() and (read is None or read == exam.clip.resolve())
    return load_truth(exam.truth) if is_exam else None


def _apply_error_mm(ctx: StageContext, motion: Motion) -> float | None:
    """Largest distance between the joints that Blender shows after apply and those of the motion, mm.

    None when the motion was not applied since it was fitted.
    """
    paths = ctx.paths.clip(ctx.settings["clip"])
    if not paths.joints.exists() or paths.joints.stat().st_mtime < paths.motion.stat().st_mtime:
        return None
    data = read_json(paths.joints, "joints")
    place = {name: i for i, name in enumerate(data["names"])}
    shared = [i for i, name in enumerate(motion.joint_names) if name in place]
    joints = np.array(data["joints"], float)
    if len(joints) != motion.T or not shared:
        return None
    seen = joints[:, [place[motion.joint_names[i]] for i in shared]]
    return 1000 * float(np.linalg.norm(seen - motion.joints[:, shared], axis=-1).max())


def load_capture(ctx: StageContext) -> Capture:
    """Everything that the report of the clip is made from.

    Raises:
        BadInputError: a file is missing or damaged, or the files do not belong together.
    """
    clip = ctx.settings["clip"]
    files, rig = ctx.paths.clip(clip), ctx.load_rig()
    det = _ordered_detections(load_detections(require(files.det, "detect")), rig, files.det)
    motion = _ordered_motion(load_motion(require(files.motion, "fit")), rig, files.motion)
    if det.T != motion.T:
        raise BadInputError(
            f"has {motion.T} frames and the reading {det.T}.", file=files.motion, hint="Fit the clip again."
        )
    records = {k: r for k, r in load_records(ctx.paths, clip).items() if k != "report"}
    return Capture(
        creature=ctx.paths.name,
        clip=clip,
        rig=rig,
        layout=ctx.layout(),
        detections=det,
        motion=motion,
        truth=_ordered_truth(_truth(ctx, det), rig, ctx.paths.exam(clip).truth),
        records=records,
        apply_max_error_mm=_apply_error_mm(ctx, motion),
    )


def write_png(path: Path, picture: Any) -> None:
    """Write an RGB picture whole or not at all."""
    done, data = cv2.imencode(".png", np.ascontiguousarray(picture[..., ::-1]))
    if not done:
        raise AnyMoCapError("The picture could not be encoded.", file=path)
    write_bytes(path, data.tobytes())


def run(ctx: StageContext) -> dict[str, Any]:
    """Score the capture and draw its report.

    Settings: clip; kind "auto" (the exam's truth where the clip is the exam's), "exam" (it must be there) or "clip".

    Returns:
        The figures of report.json.
    """
    ctx.progress(0, STEPS, "reading")
    capture = load_capture(ctx)
    ctx.progress(1, STEPS, "scoring")
    figures = report_figures(capture)
    ctx.progress(2, STEPS, "frames of the clip")
    stills = two_stills(capture, clip_file(ctx, capture.detections))
    ctx.progress(3, STEPS, "drawing")
    page = report_page(capture, figures, stills)
    files = ctx.paths.clip(capture.clip)
    write_png(files.report_png, page)
    write_json_file(files.report_json, "report", figures)
    for part, key in (("reader", "median_px"), ("fit", "mean_pct_body"), ("fit", "slide_mm_per_frame")):
        if figures[part][key] is not None:
            ctx.metric(f"{part} {key}", figures[part][key])
    ctx.progress(STEPS, STEPS, "done")
    return figures
