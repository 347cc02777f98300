"""The page report.png: key figures, both views' reprojection, error and confidence by joint, error and contacts over
time. Without a truth the reprojection takes the place of the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..exam.contact_rule import find_contacts
from ..exam.metrics import fit_distances, reader_errors
from ..joint_links import joint_links
from ..rig import RigInfo
from .canvas import BLUE, GREEN, INK, MUTED, ORANGE, PANEL, RED, Box, Canvas, Colour, Picture
from .chart import (
    Bars,
    Series,
    bar_rows,
    heading,
    heat_colours,
    heat_map,
    heat_scale,
    legend,
    line_chart,
    number,
    timeline,
)
from .figures import Capture
from .stills import Still

Array = NDArray[np.float64]

WIDTH, MARGIN = 1600, 40
ROW = 15.0  # height of a joint's row
LABELS = 190  # room for the joints' names
GAP = 34.0  # between charts, holds a title
LINES_HEIGHT = 150.0
CONTACT_ROW = 26.0
HEADER, TILES, LEGEND = 84.0, 84.0, 30.0
PART_COLOURS: tuple[Colour, ...] = (
    (86, 120, 190), (196, 120, 74), (92, 158, 120), (176, 92, 140), (140, 128, 70), (80, 150, 170), (150, 110, 190),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Traces:
    """What is drawn, in the rig's joint order: errors (T, J) in mm or px and the true keypoints (T, J, 2) in layout px;
    None where there is no truth."""

    fit_mm: Array | None
    reader_front: Array | None
    reader_side: Array | None
    reproj_front: Array
    reproj_side: Array
    true_front: Array | None = None
    true_side: Array | None = None


def traces(capture: Capture) -> Traces:
    """The errors over time and joint."""
    motion, truth = capture.motion, capture.truth
    if truth is None:
        return Traces(None, None, None, motion.reproj_front, motion.reproj_side)
    distance, _, _ = fit_distances(motion, truth, capture.rig)
    read = reader_errors(capture.detections, truth, capture.rig, capture.layout)
    return Traces(
        1000 * distance,
        read.front,
        read.side,
        motion.reproj_front,
        motion.reproj_side,
        read.true_front,
        read.true_side,
    )


def joint_rows(rig: RigInfo) -> list[tuple[int, str]]:
    """Every joint once with its body part, in the order of the parts; joints of no part come last."""
    rows, seen = [], set()
    for part, joints in rig.joint_groups.items():
        for joint in joints:
            if joint not in seen:
                seen.add(joint)
                rows.append((joint, part))
    return rows + [(joint, "") for joint in range(rig.J) if joint not in seen]


def _tiles(figures: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Label, value and unit of the key figures."""
    reader, fit, sync = figures["reader"], figures["fit"], figures["sync"]
    shared = [
        ("reprojection", number(fit["reproj_px"]), "px"),
        ("paw agreement", number(sync["paw_agreement"]), ""),
        ("height gap", number(sync["height_gap_px"]), "px"),
        ("lag", number(sync["lag_frames"]), "frames"),
    ]
    if not figures["has_truth"]:
        return [
            *shared,
            ("jitter", number(fit["jitter"]), "10 m/s3"),
            ("slide, own contacts", number(fit["slide_own_mm_per_frame"]), "mm/frame"),
            ("mean confidence", number(reader["confidence_mean"]), ""),
        ]
    return [
        ("fit error, mean", number(fit["mean_pct_body"]), "% of body"),
        ("fit error, mean", number(fit["mean_mm"]), "mm"),
        ("slide", number(fit["slide_mm_per_frame"]), "mm/frame"),
        ("rotation", number(fit["rotation_deg"]), "deg"),
        ("reader, median", number(reader["median_px"]), "px"),
        ("reader, p95", number(reader["p95_px"]), "px"),
        *shared[:2],
    ]


def _draw_header(canvas: Canvas, figures: dict[str, Any]) -> None:
    canvas.text(MARGIN, 34, f"{figures['creature']}: {figures['move']}", 26, INK, bold=True)
    truth = "scored against the exam's truth" if figures["has_truth"] else "no truth known: figures of the clip itself"
    facts = (
        f"{figures['frames']} frames at {figures['fps']:g} fps, body {figures['body_length_m']:.3g} m, "
        f"clip {figures['clip']}; {truth}"
    )
    canvas.fitted_text(MARGIN, 64, facts, WIDTH - 2 * MARGIN, size=14, colour=MUTED)


def _draw_tiles(canvas: Canvas, figures: dict[str, Any], top: float) -> None:
    tiles, gap = _tiles(figures), 12.0
    width = (WIDTH - 2 * MARGIN - gap * (len(tiles) - 1)) / len(tiles)
    for i, (label, value, unit) in enumerate(tiles):
        box = Box(MARGIN + i * (width + gap), top, width, TILES - 14)
        canvas.box(box, fill=PANEL, line=(226, 230, 235))
        canvas.fitted_text(box.x + 12, box.y + 18, label, width - 20, size=12, colour=MUTED)
        canvas.text(box.x + 12, box.y + 46, value, 25, INK, bold=True)
        canvas.text(box.x + 20 + canvas.text_width(value, 25, True), box.y + 50, unit, 12, MUTED)


def _confidence_colours(confidence: Array) -> list[Colour]:
    return [(int(r), int(g), int(b)) for r, g, b in heat_colours(confidence[None])[0]]


def _draw_still(canvas: Canvas, capture: Capture, data: Traces, still: Still, box: Box) -> None:
    """A frame with what was read (dots by confidence), the fit (white lines) and the truth (green crosses)."""
    heading(canvas, box, still.title)
    canvas.paste(still.picture, box)
    k, t, det = box.w / capture.layout.width, still.frame, capture.detections
    at = np.array([box.x, box.y])
    fitted = capture.layout.project(capture.motion.joints[t])
    reads = (
        (det.front_uv[t], det.front_conf[t], data.true_front),
        (det.side_uv[t], det.side_conf[t], data.true_side),
    )
    for view, (read, confidence, true) in enumerate(reads):
        fit, seen = at + k * fitted[view], at + k * read
        for a, b in joint_links(capture.rig):
            canvas.line(tuple(fit[a]), tuple(fit[b]), (255, 255, 255), 1.5)
        for j, colour in enumerate(_confidence_colours(confidence)):
            canvas.line(tuple(fit[j]), tuple(seen[j]), RED, 1)
            canvas.dot(tuple(seen[j]), 4.6, (24, 24, 24))
            canvas.dot(tuple(seen[j]), 3.6, colour)
        if true is not None:
            for x, y in at + k * true[t]:
                canvas.line((x - 3, y), (x + 3, y), (90, 255, 170), 1)
                canvas.line((x, y - 3), (x, y + 3), (90, 255, 170), 1)


def _draw_stills(canvas: Canvas, capture: Capture, data: Traces, stills: list[Still], top: float) -> float:
    width = (WIDTH - 2 * MARGIN - 20) / 2
    height = width * capture.layout.height / capture.layout.width
    for i, still in enumerate(stills):
        _draw_still(canvas, capture, data, still, Box(MARGIN + i * (width + 20), top, width, height))
    bottom = top + height
    keys: list[tuple[str, Colour]] = [("fit", (205, 205, 205)), ("from fit to reading", RED)]
    if capture.truth is not None:
        keys.append(("truth", (90, 225, 150)))
    heat_scale(canvas, WIDTH - MARGIN, bottom + 14, "reading: doubtful", "confident")
    legend(canvas, WIDTH - MARGIN - 250, bottom + 14, keys)
    return bottom + LEGEND


def _joint_labels(canvas: Canvas, rig: RigInfo, rows: list[tuple[int, str]], top: float) -> None:
    parts = list(dict.fromkeys(part for _, part in rows))
    for i, (joint, part) in enumerate(rows):
        y = top + i * ROW
        colour = PART_COLOURS[parts.index(part) % len(PART_COLOURS)]
        canvas.box(Box(MARGIN, y, 5, ROW), fill=colour)
        canvas.fitted_text(MARGIN + 12, y + ROW / 2, rig.keypoints[joint], LABELS - 20, size=11)


def _joint_bars(data: Traces, order: list[int]) -> list[tuple[str, list[list[tuple[float, Colour]]]]]:
    """Title and rows of the two bar charts by joint."""

    def pairs(front: Array, side: Array) -> list[list[tuple[float, Colour]]]:
        f, s = np.median(front, axis=0), np.median(side, axis=0)
        return [[(float(f[j]), BLUE), (float(s[j]), ORANGE)] for j in order]

    reproj = ("Reprojection, median px", pairs(data.reproj_front, data.reproj_side))
    if data.fit_mm is None or data.reader_front is None or data.reader_side is None:
        return [reproj]
    mean = data.fit_mm.mean(0)
    return [
        ("Fit error, mean mm", [[(float(mean[j]), GREEN)] for j in order]),
        ("Reader error, median px", pairs(data.reader_front, data.reader_side)),
        reproj,
    ]


def _draw_joints(canvas: Canvas, capture: Capture, data: Traces, top: float) -> float:
    """The table of joints: error bars, then confidence over time in both views."""
    rows = joint_rows(capture.rig)
    order = [joint for joint, _ in rows]
    height = ROW * len(rows)
    bars = _joint_bars(data, order)
    gap = 18.0
    room = WIDTH - 2 * MARGIN - LABELS
    widths = [0.17 * room] * len(bars)
    heat = (room - sum(widths) - gap * (len(bars) + 1)) / 2
    _joint_labels(canvas, capture.rig, rows, top)
    canvas.text(MARGIN, top - 12, "By joint", 14, INK, bold=True)
    legend(canvas, MARGIN + LABELS - 20, top + height + 10, [("front", BLUE), ("side", ORANGE)])
    x = float(MARGIN + LABELS)
    for width, (title, values) in zip(widths, bars, strict=True):
        box = Box(x, top, width, height)
        heading(canvas, box, title)
        bar_rows(canvas, box, values)
        x += width + gap
    det = capture.detections
    for title, colour, confidence in (("front", BLUE, det.front_conf), ("side", ORANGE, det.side_conf)):
        box = Box(x, top, heat, height)
        canvas.box(Box(x, top - 17, 10, 10), fill=colour)
        heading(canvas, Box(x + 16, top, heat, height), f"Confidence, {title}")
        heat_map(canvas, box, confidence[:, order].T)
        x += heat + gap
    heat_scale(canvas, WIDTH - MARGIN, top - 12, "0", "1")
    return top + height + GAP


def _draw_over_time(canvas: Canvas, data: Traces, top: float) -> float:
    left = MARGIN + 132.0
    width = WIDTH - MARGIN - left
    if data.fit_mm is not None and data.reader_front is not None and data.reader_side is not None:
        box = Box(left, top, width, LINES_HEIGHT)
        heading(canvas, box, "Fit error over time")
        p95 = np.quantile(data.fit_mm, 0.95, axis=1)
        line_chart(canvas, box, [Series("mean", data.fit_mm.mean(1), GREEN), Series("p95", p95, RED)], "mm")
        top = box.bottom + GAP + 14
        box = Box(left, top, width, LINES_HEIGHT)
        heading(canvas, box, "Reader error over time, median")
        front, side = np.median(data.reader_front, axis=1), np.median(data.reader_side, axis=1)
        line_chart(canvas, box, [Series("front", front, BLUE), Series("side", side, ORANGE)], "px")
        top = box.bottom + GAP + 14
    box = Box(left, top, width, LINES_HEIGHT)
    heading(canvas, box, "Reprojection over time, mean")
    lines = [Series("front", data.reproj_front.mean(1), BLUE), Series("side", data.reproj_side.mean(1), ORANGE)]
    line_chart(canvas, box, lines, "px")
    return box.bottom + GAP + 14


def _draw_contacts(canvas: Canvas, capture: Capture, top: float) -> float:
    """Contacts of the fit and, where known, of the truth."""
    rig, motion, truth = capture.rig, capture.motion, capture.truth
    names = [rig.keypoints[joint] for joint in rig.contacts]
    if not names:
        return top
    true = find_contacts(truth.joints, rig.contacts, rig.body_length, truth.fps) if truth is not None else None
    tracks = []
    for joint, name in zip(rig.contacts, names, strict=True):
        row = [Bars("fit", [(c.start, min(c.end, motion.T)) for c in motion.contacts if c.joint == name], BLUE)]
        if true is not None:
            row.append(Bars("truth", [(s.start, s.end) for s in true.spans if s.joint == joint], GREEN))
        tracks.append(row)
    left = MARGIN + 132.0
    box = Box(left, top, WIDTH - MARGIN - left, CONTACT_ROW * len(names))
    heading(canvas, box, "Contacts over time")
    timeline(canvas, box, tracks, names, motion.T)
    keys: list[tuple[str, Colour]] = [("fit", BLUE)]
    if true is not None:
        keys.append(("truth", GREEN))
    legend(canvas, box.right, top - 12, keys)
    return box.bottom + GAP


def _page_height(capture: Capture) -> int:
    width = (WIDTH - 2 * MARGIN - 20) / 2
    stills = GAP + width * capture.layout.height / capture.layout.width + LEGEND
    lines = (3 if capture.truth is not None else 1) * (LINES_HEIGHT + GAP + 14)
    contacts = CONTACT_ROW * len(capture.rig.contacts) + GAP
    return round(HEADER + TILES + stills + GAP + ROW * capture.rig.J + GAP + GAP + lines + contacts)


def report_page(capture: Capture, figures: dict[str, Any], stills: list[Still]) -> Picture:
    """Draw the report.

    Args:
        capture: what was captured.
        figures: report.json's content.
        stills: two frames of the clip.

    Returns:
        (H, 1600, 3) RGB; H grows with the number of joints.
    """
    data = traces(capture)
    canvas = Canvas(WIDTH, _page_height(capture))
    _draw_header(canvas, figures)
    _draw_tiles(canvas, figures, HEADER)
    top = _draw_stills(canvas, capture, data, stills, HEADER + TILES + GAP)
    top = _draw_joints(canvas, capture, data, top + GAP)
    top = _draw_over_time(canvas, data, top + GAP)
    _draw_contacts(canvas, capture, top)
    return canvas.picture()
