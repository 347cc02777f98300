"""The strip: error, confidence and contacts of the whole clip, so that bad spots are found at a glance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.capture_view import CaptureView
from ...core.confidence_colour import RAMP
from ...core.frame_runs import frame_runs
from ...ops.overlay_place import Box, Place
from .look import Moment
from .marks import Areas, Canvas, Colour, Lines, rgba
from .text import MUTED, WHITE, draw_text, middle_line, text_width

Array = NDArray[np.float64]

PANEL: Colour = (0.09, 0.1, 0.12, 0.96)
BAD: Colour = rgba(RAMP[0], 0.3)
BAD_FLAG: Colour = rgba(RAMP[0])
ERROR: Colour = (0.93, 0.33, 0.78, 1.0)  # as the error lines in the picture
CONFIDENCE: Colour = rgba(RAMP[-1])
BOUND: Colour = (0.72, 0.75, 0.79, 0.35)
CONTACTS: tuple[Colour, Colour] = ((0.56, 0.85, 0.75, 1.0), (0.85, 0.8, 0.55, 1.0))
MARK: Colour = (1.0, 1.0, 1.0, 0.95)
HOVER: Colour = (1.0, 1.0, 1.0, 0.4)
# Shares of the graph's height, from above.
ERROR_SHARE, CONFIDENCE_SHARE, CONTACT_SHARE = 0.38, 0.28, 0.24
FILLED = 0.15  # opacity under a curve
FLAG_PX = 3.0
LABEL_PX = 10.0
SCALE_PX = 9.0
TAG_PX, TAG_MARGIN_PX = 11.0, 6.0


@dataclass(frozen=True)
class Bands:
    """The three graphs, one above the other."""

    error: Box
    confidence: Box
    contacts: Box

    @staticmethod
    def of(graph: Box) -> Bands:
        """Divide the graph's box, with gaps between."""
        gap = (1 - ERROR_SHARE - CONFIDENCE_SHARE - CONTACT_SHARE) / 2 * graph.h
        contacts = Box(graph.x, graph.y, graph.w, CONTACT_SHARE * graph.h)
        confidence = Box(graph.x, contacts.top + gap, graph.w, CONFIDENCE_SHARE * graph.h)
        return Bands(Box(graph.x, confidence.top + gap, graph.w, ERROR_SHARE * graph.h), confidence, contacts)


@dataclass(frozen=True)
class StripMarks:
    """Batches of the whole clip; they do not change with the frame."""

    areas: Areas
    under: tuple[Areas, Areas]
    bounds: Lines
    error: Lines
    confidence: Lines

    @staticmethod
    def make(view: CaptureView, place: Place) -> StripMarks:
        """Lay the graphs into the strip."""
        assert place.strip is not None and place.graph is not None
        bands, scores = Bands.of(place.graph), view.scores
        high = error_range(view)
        boxes = [(place.strip, PANEL), *_bad_boxes(view, place), *_contact_boxes(view, place, bands.contacts)]
        bounds = [_level(bands.confidence, scores.least_confidence)]
        error = np.empty((0, 2))
        if scores.error_px is not None:
            error = _curve(view, place, bands.error, scores.error_px / high)
            bounds.append(_level(bands.error, scores.most_px / high))
        confidence = _curve(view, place, bands.confidence, scores.confidence)
        return StripMarks(
            Areas.make(boxes),
            (
                Areas.under(error, bands.error.y, (*ERROR[:3], FILLED)),
                Areas.under(confidence, bands.confidence.y, (*CONFIDENCE[:3], FILLED)),
            ),
            Lines.make(np.array(bounds), np.array(BOUND)),
            Lines.path(error, ERROR),
            Lines.path(confidence, CONFIDENCE),
        )


@dataclass(frozen=True)
class FrameMarks:
    """Batches of the shown and the hovered frame, and the tag above the latter."""

    shown: Lines
    hovered: Lines
    tag: Areas
    words: str
    words_at: tuple[float, float]

    @staticmethod
    def make(view: CaptureView, place: Place, moment: Moment) -> FrameMarks:
        """Mark the frames in the graph."""
        shown = Lines.make(_column(view, place, moment.frame), np.array(MARK))
        if moment.hovered is None:
            return FrameMarks(shown, Lines.make(np.empty((0, 2, 2)), np.array(HOVER)), Areas.make([]), "", (0.0, 0.0))
        words = hovered_words(view, moment.hovered)
        tag = _tag_box(view, place, moment.hovered, words)
        at = tag.x + TAG_MARGIN_PX * place.ui_scale, middle_line(tag.y, tag.h, TAG_PX * place.ui_scale)
        hovered = Lines.make(_column(view, place, moment.hovered), np.array(HOVER))
        return FrameMarks(shown, hovered, Areas.make([(tag, PANEL)]), words, at)


def draw_strip(canvas: Canvas, view: CaptureView, place: Place, marks: StripMarks, frames: FrameMarks) -> None:
    """Draw the strip with the marks of the shown and the hovered frame."""
    scale = place.ui_scale
    for areas in (marks.areas, *marks.under):
        areas.draw()
    marks.bounds.draw(canvas, 1.0 * scale)
    marks.error.draw(canvas, 1.5 * scale)
    marks.confidence.draw(canvas, 1.5 * scale)
    if place.labelled:
        _draw_labels(place)
        if view.scores.error_px is not None:
            _draw_scale(view, place)
    if view.motion is None:
        _draw_unfitted(place)
    frames.hovered.draw(canvas, 1.0 * scale)
    frames.shown.draw(canvas, 2.0 * scale)


def draw_tag(place: Place, frames: FrameMarks) -> None:
    """The tag above the strip with the values of the frame that the mouse is over; none without."""
    if frames.words:
        frames.tag.draw()
        draw_text(frames.words, *frames.words_at, TAG_PX * place.ui_scale, WHITE)


def error_range(view: CaptureView) -> float:
    """The error at the top of its graph, px."""
    error = view.scores.error_px
    return 1.0 if error is None else max(float(error.max()) * 1.05, view.scores.most_px * 1.2, 1e-6)


def scale_words(view: CaptureView) -> str:
    """What the height of the error graph stands for: a graph that fills it may be of 7 px or of 357."""
    high = error_range(view)
    return f"0\u2013{high:.1f} px" if high < 3 else f"0\u2013{high:.0f} px"


def hovered_words(view: CaptureView, frame: int) -> str:
    """What the strip says of a frame."""
    scores, words = view.scores, [f"frame {frame + 1}"]
    if scores.error_px is not None:
        words.append(f"worst joints {scores.error_px[frame]:.1f} px")
    words.append(f"confidence {100 * scores.confidence[frame]:.0f} %")
    planted = [view.rig.keypoints[j] for j in np.flatnonzero(view.contacts[frame])]
    return "   ".join([*words, *(["on the ground: " + ", ".join(planted)] if planted else [])])


def _draw_labels(place: Place) -> None:
    assert place.graph is not None and place.strip is not None
    bands, size, x = Bands.of(place.graph), LABEL_PX * place.ui_scale, place.strip.x + 8 * place.ui_scale
    rows = (("error", bands.error, ERROR), ("confidence", bands.confidence, CONFIDENCE))
    for word, band, colour in (*rows, ("contacts", bands.contacts, CONTACTS[0])):
        draw_text(word, x, middle_line(band.y, band.h, size), size, colour)


def _draw_scale(view: CaptureView, place: Place) -> None:
    """At the right end of the error graph, in its upper corner."""
    assert place.graph is not None
    band, size = Bands.of(place.graph).error, SCALE_PX * place.ui_scale
    draw_text(scale_words(view), band.right, band.top - size, size, MUTED, "right")


def _draw_unfitted(place: Place) -> None:
    assert place.graph is not None
    band, size = Bands.of(place.graph).error, LABEL_PX * place.ui_scale
    middle = place.graph.x + place.graph.w / 2
    draw_text("not fitted yet", middle, middle_line(band.y, band.h, size), size, MUTED, "centre")


def _tag_box(view: CaptureView, place: Place, frame: int, words: str) -> Box:
    assert place.strip is not None
    size, margin = TAG_PX * place.ui_scale, TAG_MARGIN_PX * place.ui_scale
    width = text_width(words, size) + 2 * margin
    middle = float(place.graph_x(frame, view.T))
    left = max(min(middle - width / 2, place.strip.right - width), place.strip.x)
    return Box(left, place.strip.top + margin / 2, width, size + 1.4 * margin)


def _column(view: CaptureView, place: Place, frame: int) -> Array:
    """A line over the graph's height at a frame, (1, 2, 2)."""
    assert place.graph is not None
    x = float(place.graph_x(frame, view.T))
    return np.array([[[x, place.graph.y], [x, place.graph.top]]])


def _curve(view: CaptureView, place: Place, band: Box, share: Array) -> Array:
    """(T, 2) points of values (T,) given as shares of the band's height."""
    x = place.graph_x(np.arange(view.T, dtype=float), view.T)
    return np.stack([x, band.y + np.clip(share, 0, 1) * band.h], 1)


def _level(band: Box, share: float) -> Array:
    y = band.y + float(np.clip(share, 0, 1)) * band.h
    return np.array([[band.x, y], [band.right, y]])


def _run_box(view: CaptureView, place: Place, start: int, end: int, low: float, height: float) -> Box:
    left, right = place.graph_x(np.array([start - 0.5, end - 0.5]), view.T)
    return Box(float(left), low, float(right - left), height)


def _bad_boxes(view: CaptureView, place: Place) -> list[tuple[Box, Colour]]:
    """Shades over bad runs, at least two px wide, with a flag on top."""
    assert place.graph is not None and place.strip is not None
    boxes: list[tuple[Box, Colour]] = []
    for run in view.bad_runs:
        box = _run_box(view, place, run.start, run.stop, place.strip.y, place.strip.h)
        box = Box(box.x, box.y, max(box.w, 2 * place.ui_scale), box.h)
        flag = FLAG_PX * place.ui_scale
        boxes += [(box, BAD), (Box(box.x, box.top - flag, box.w, flag), BAD_FLAG)]
    return boxes


def _contact_boxes(view: CaptureView, place: Place, band: Box) -> list[tuple[Box, Colour]]:
    """One row for each joint that touches the ground, the creature's first uppermost."""
    touching = [joint for joint in range(view.rig.J) if view.contacts[:, joint].any()]
    boxes = []
    row = band.h / max(len(touching), 1)
    for number, joint in enumerate(touching):
        low = band.top - (number + 1) * row
        for start, end in frame_runs(view.contacts[:, joint]):
            boxes.append((_run_box(view, place, start, end, low + row * 0.1, row * 0.8), CONTACTS[number % 2]))
    return boxes
