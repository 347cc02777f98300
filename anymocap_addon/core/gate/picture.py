"""gate.png: the reference frame beside the frames that a clip is refused for, each with its reason and its marks."""

from __future__ import annotations

import textwrap
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from ..atomic import replacing
from ..layout import Layout
from ..video.align import warp
from .finding import Finding
from .judge import Verdict

Picture = NDArray[np.uint8]

WIDTH, CAPTION = 640, 44
MARK, PAPER, INK, GOOD, BAD = (255, 64, 32), (32, 32, 34), (235, 235, 235), (70, 140, 80), (170, 50, 40)
MOST_SHOWN = 5
LETTERS = 74  # in a line of a caption


def write_picture(path: Path, verdict: Verdict, pictures: list[Picture], ref: Picture, layout: Layout) -> None:
    """Write gate.png.

    Args:
        pictures: the clip's frames as judged. ref: ref.png.
    """
    tiles = [_tile(ref, "What was asked for: the reference frame", GOOD, ())]
    bad = [finding for finding in verdict.findings if finding.refused][:MOST_SHOWN]
    for finding in bad:
        tiles.append(_frame(verdict, finding, pictures, layout))
    if not bad:
        middle = Finding("passed", {}, frame=len(pictures) // 2)
        tiles.append(_frame(verdict, middle, pictures, layout))
    if len(tiles) % 2:
        tiles.append(np.full_like(tiles[0], PAPER))
    rows = [np.concatenate(tiles[at : at + 2], 1) for at in range(0, len(tiles), 2)]
    sheet = np.concatenate(rows, 0)
    done, data = cv2.imencode(".png", cv2.cvtColor(sheet, cv2.COLOR_RGB2BGR))
    assert done
    with replacing(path) as temporary:
        temporary.write_bytes(data.tobytes())


def _frame(verdict: Verdict, finding: Finding, pictures: list[Picture], layout: Layout) -> Picture:
    picture = warp(pictures[finding.frame], verdict.alignment.calib, (layout.width, layout.height))
    words = "; ".join(finding.reasons) if finding.refused else "Passed: nothing was found against this clip"
    where = f"Frame {finding.frame + 1} of {len(pictures)}: {words}"
    return _tile(picture, where, BAD if finding.refused else GOOD, finding.marks)


def _tile(picture: Picture, words: str, colour: tuple[int, int, int], marks: tuple[tuple[float, ...], ...]) -> Picture:
    height = round(WIDTH * picture.shape[0] / picture.shape[1])
    scale = WIDTH / picture.shape[1]
    small = np.asarray(cv2.resize(picture, (WIDTH, height), interpolation=cv2.INTER_AREA), np.uint8)
    for left, top, right, bottom in marks:
        a = (max(round(left * scale), 1), max(round(top * scale), 1))
        b = (min(round(right * scale), WIDTH - 2), min(round(bottom * scale), height - 2))
        cv2.rectangle(small, a, b, (0, 0, 0), 4, cv2.LINE_AA)
        cv2.rectangle(small, a, b, MARK, 2, cv2.LINE_AA)
    caption = np.full((CAPTION, WIDTH, 3), PAPER, np.uint8)
    caption[:, :6] = colour
    for line, text in enumerate(textwrap.wrap(words, LETTERS)[:2]):
        cv2.putText(caption, text, (14, 18 + 18 * line), cv2.FONT_HERSHEY_SIMPLEX, 0.43, INK, 1, cv2.LINE_AA)
    return np.concatenate([small, caption], 0)
