"""The charts of the report: bars, lines over frames, a heat map and a timeline, each drawn into a box of a canvas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from .canvas import GRID, INK, MUTED, PANEL, Box, Canvas, Colour, Picture

Array = NDArray[np.float64]

SMALL = 11.0


@dataclass(frozen=True, eq=False)
class Series:
    """Values (T,) over frames with the name and colour of their line."""

    name: str
    values: Array
    colour: Colour


@dataclass(frozen=True)
class Bars:
    """A named track of a timeline: frames [start, end) with the colour of their bars."""

    name: str
    spans: Sequence[tuple[int, int]]
    colour: Colour


def nice_step(span: float, most: int) -> float:
    """A step of 1, 2 or 5 times a power of ten that cuts `span` into at most `most` parts."""
    if not span > 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(span / most))
    return float(next(power * m for m in (1, 2, 5, 10, 20) if span / (power * m) <= most))


def number(value: float | None, digits: int = 2) -> str:
    """A figure in few digits; '-' when there is none."""
    if value is None:
        return "-"
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        whole = max(0, digits - 1 - int(np.floor(np.log10(abs(value))))) if value else 0
        return f"{value:.{min(whole, 4)}f}"
    return f"{value:.1e}"


def heading(canvas: Canvas, box: Box, title: str, note: str = "") -> None:
    """A chart's title above its box, with a quieter note behind it."""
    canvas.text(box.x, box.y - 12, title, 14, INK, bold=True)
    room = box.w - canvas.text_width(title, 14, True) - 12
    if note and room > 40:
        canvas.fitted_text(box.x + box.w - room, box.y - 12, note, room, size=SMALL, colour=MUTED)


def legend(canvas: Canvas, right: float, y: float, entries: Sequence[tuple[str, Colour]]) -> None:
    """Names with a swatch of their colour, ending at `right`."""
    for name, colour in reversed(entries):
        right -= canvas.text_width(name, SMALL)
        canvas.text(right, y, name, SMALL, MUTED)
        right -= 16
        canvas.box(Box(right, y - 4, 11, 8), fill=colour)
        right -= 14


def _frame_ticks(canvas: Canvas, box: Box, frames: int) -> None:
    step = max(1, round(nice_step(max(frames - 1, 1), 12)))
    for frame in range(0, frames, step):
        x = box.x + box.w * (frame + 0.5) / frames
        canvas.line((x, box.y), (x, box.bottom), GRID, 0.5)
        canvas.text(x, box.bottom + 10, str(frame), SMALL, MUTED, align="middle")


def line_chart(canvas: Canvas, box: Box, series: Sequence[Series], unit: str) -> None:
    """Lines over frames on one axis that starts at zero; a frame's value lies at the middle of its column."""
    canvas.box(box, fill=PANEL)
    frames = max((len(s.values) for s in series), default=0)
    top = max((float(s.values.max()) for s in series if len(s.values)), default=0.0) * 1.08
    top = top if top > 0 else 1.0
    if frames:
        _frame_ticks(canvas, box, frames)
    step = nice_step(top, 4)
    for mark in np.arange(0, top + 1e-9, step):
        y = box.bottom - box.h * mark / top
        canvas.line((box.x, y), (box.right, y), GRID, 0.5)
        canvas.text(box.x - 6, y, f"{mark:g}", SMALL, MUTED, align="right")
    canvas.text(box.x - 6, box.y - 12, unit, SMALL, MUTED, align="right")
    for s in series:
        x = box.x + box.w * (np.arange(len(s.values)) + 0.5) / frames
        canvas.polyline(np.stack([x, box.bottom - box.h * s.values / top], -1), s.colour)
    canvas.line((box.x, box.bottom), (box.right, box.bottom), MUTED, 0.5)
    legend(canvas, box.right, box.y - 12, [(s.name, s.colour) for s in series])


def bar_rows(canvas: Canvas, box: Box, rows: Sequence[Sequence[tuple[float, Colour]]]) -> None:
    """Horizontal bars from the left, one row each and within it one thin bar a value, with the scale below."""
    canvas.box(box, fill=PANEL)
    top = max((value for row in rows for value, _ in row), default=0.0) * 1.05
    top = top if top > 0 else 1.0
    step = nice_step(top, 5)
    for mark in np.arange(0, top + 1e-9, step):
        x = box.x + box.w * mark / top
        canvas.line((x, box.y), (x, box.bottom), GRID, 0.5)
        canvas.text(x, box.bottom + 10, f"{mark:g}", SMALL, MUTED, align="middle")
    height = box.h / max(len(rows), 1)
    for index, row in enumerate(rows):
        thin = height * 0.72 / max(len(row), 1)
        for k, (value, colour) in enumerate(row):
            y = box.y + height * (index + 0.14) + k * thin
            canvas.box(Box(box.x, y, max(1.0, box.w * value / top), thin), fill=colour)


def heat_colours(values: Array, low: float = 0.0, high: float = 1.0) -> Picture:
    """Values (R, C) as RGB pixels from dark violet (low) to yellow (high)."""
    scaled = np.clip((values - low) / (high - low), 0, 1) * 255
    bgr = cv2.applyColorMap(scaled.astype(np.uint8), cv2.COLORMAP_VIRIDIS)
    return np.asarray(bgr[..., ::-1], np.uint8)


def heat_map(canvas: Canvas, box: Box, values: Array) -> None:
    """Values (rows, T) in 0..1 as colours, frames to the right."""
    if values.size:
        canvas.paste(np.ascontiguousarray(heat_colours(values)), box, smooth=False)
        _heat_ticks(canvas, box, values.shape[1])


def _heat_ticks(canvas: Canvas, box: Box, frames: int) -> None:
    step = max(1, round(nice_step(max(frames - 1, 1), 6)))
    for frame in range(0, frames, step):
        x = box.x + box.w * (frame + 0.5) / frames
        canvas.text(x, box.bottom + 10, str(frame), SMALL, MUTED, align="middle")


def heat_scale(canvas: Canvas, right: float, y: float, low: str, high: str) -> None:
    """The legend of a heat map, ending at `right`."""
    right -= canvas.text_width(high, SMALL)
    canvas.text(right, y, high, SMALL, MUTED)
    ramp = heat_colours(np.linspace(0, 1, 64)[None])
    canvas.paste(np.ascontiguousarray(ramp), Box(right - 76, y - 5, 70, 10))
    canvas.text(right - 82, y, low, SMALL, MUTED, align="right")


def timeline(canvas: Canvas, box: Box, tracks: Sequence[Sequence[Bars]], names: Sequence[str], frames: int) -> None:
    """Rows of bars over frames; each row shares its height among its tracks."""
    canvas.box(box, fill=PANEL)
    if frames:
        _frame_ticks(canvas, box, frames)
    height = box.h / max(len(tracks), 1)
    for index, (row, name) in enumerate(zip(tracks, names, strict=True)):
        top = box.y + index * height
        canvas.line((box.x, top), (box.right, top), GRID, 0.5)
        canvas.fitted_text(box.x - 126, top + height / 2, name, 118, size=SMALL, colour=INK)
        thin = height * 0.76 / max(len(row), 1)
        for k, bars in enumerate(row):
            for start, end in bars.spans:
                x = box.x + box.w * start / frames
                y = top + height * 0.12 + k * thin
                canvas.box(Box(x, y, box.w * (end - start) / frames, thin * 0.9), fill=bars.colour)
    canvas.line((box.x, box.bottom), (box.right, box.bottom), MUTED, 0.5)
    if not any(bars.spans for row in tracks for bars in row):
        canvas.text(box.x + box.w / 2, box.y + box.h / 2, "none found", 13, MUTED, align="middle")
