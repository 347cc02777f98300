"""Sentences in a panel: broken into lines that fit its width."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import blf

if TYPE_CHECKING:
    from bpy.types import Context, UILayout

_FONT = 0
_LINE_HEIGHT = 0.72  # of a button's
_EDGES_PX = 62  # tabs, scroll bar and the margins of panel and label, at a scale of 1
_ICON_PX = 20
_NARROWEST_PX = 60.0
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:s|min|h|px|%|mm|m|kB|MB|GB)(?!\w))")
_JOINED = "\u00a0"  # a figure and its unit stay in one line


def draw_text(layout: UILayout, context: Context, text: str, icon: str = "NONE", inset: int = 0) -> None:
    """Labels with the whole text, one below the other.

    Args:
        icon: stands before the first line.
        inset: by how much the layout is narrower than the panel, px at a scale of 1 (a box takes about 16).
    """
    column = layout.column(align=True)
    column.scale_y = _LINE_HEIGHT
    lines = _lines(text, *_measures(context, icon, inset))
    for number, line in enumerate(lines):
        first = number == 0
        column.label(text=line, icon=icon if first or icon == "NONE" else "BLANK1")


def _measures(context: Context, icon: str, inset: int) -> tuple[float, float]:
    """Width in px and font size in px."""
    scale: float = context.preferences.system.ui_scale
    points: float = context.preferences.ui_styles[0].widget.points
    region: Any = context.region
    taken = _EDGES_PX + inset + (_ICON_PX if icon != "NONE" else 0)
    return max(_NARROWEST_PX, region.width - taken * scale), points * scale


@lru_cache(maxsize=512)
def _lines(text: str, width: float, size: float) -> tuple[str, ...]:
    """Words are kept whole where they fit; a longer one (a path) is broken."""
    lines: list[str] = []
    for paragraph in text.splitlines():
        line = ""
        for word in _BEFORE_UNIT.sub(_JOINED, paragraph).split(" "):
            for part in _parts(word, width, size):
                if line and _width(f"{line} {part}", size) > width:
                    lines.append(line)
                    line = part
                else:
                    line = f"{line} {part}" if line else part
        lines.append(line)
    return tuple(line.replace(_JOINED, " ") for line in lines)


def _parts(word: str, width: float, size: float) -> list[str]:
    parts: list[str] = []
    while _width(word, size) > width:
        fits = max(1, int(len(word) * width / _width(word, size)))
        while fits > 1 and _width(word[:fits], size) > width:
            fits -= 1
        parts.append(word[:fits])
        word = word[fits:]
    return [*parts, word] if word else parts


def _width(text: str, size: float) -> float:
    blf.size(_FONT, size)
    wide: float = blf.dimensions(_FONT, text)[0]
    return wide
