"""Left and right as bones' names say it: .L .R _l -r L_ R_ Left Right l_ r_, with or without a prefix (mixamorig1:)."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PREFIX = re.compile(r"^[^:|]*[:|]")
_COPY = re.compile(r"\.\d{3}$")
_LETTER_END = re.compile(r"(?P<stem>.*?)[._\- ](?P<side>[lrLR])(?P<rest>([._\- ].*)?)$")
_LETTER_START = re.compile(r"^(?P<stem>)(?P<side>[lrLR])[._\- ](?P<rest>.*)$")
_WORD = re.compile(r"(?P<stem>.*?)(?P<side>[Ll]eft|[Rr]ight|LEFT|RIGHT)(?P<rest>.*)$")
_CAPITAL_END = re.compile(r"(?P<stem>.*[a-z0-9])(?P<side>[LR])(?P<rest>\d*)$")
_SEPARATORS = tuple("_.- ")
_PATTERNS = (_WORD, _LETTER_START, _LETTER_END, _CAPITAL_END)


@dataclass(frozen=True)
class SideName:
    """A name taken apart.

    Attributes:
        side: 1 left, -1 right, 0 where the name does not say.
        stem: the name without its side, prefix and copy number, in small letters: equal for both of a pair.
    """

    side: int
    stem: str


def side_name(name: str) -> SideName:
    """What a bone's name says about its side."""
    plain = _plain(name)
    match = _side_in(plain)
    if match is None:
        return SideName(0, plain.lower())
    copy = _COPY.search(name)
    side = 1 if match["side"].lower().startswith("l") else -1
    return SideName(side, f"{match['stem']}*{match['rest']}{copy.group() if copy else ''}".lower())


def side_stem(name: str) -> str:
    """A name as it is but for its side: thigh of thigh_L, thigh.L and Left_thigh, mixamorig:Thigh of its left one."""
    match = _side_in(_plain(name))
    if match is None:
        return name
    prefix, copy = _PREFIX.match(name), _COPY.search(name)
    before, after = match["stem"], match["rest"]
    if before.endswith(_SEPARATORS) or not before:
        after = after.lstrip("".join(_SEPARATORS))
    bare = (before + after).strip("".join(_SEPARATORS))
    return f"{prefix.group() if prefix else ''}{bare}{copy.group() if copy else ''}"


def _plain(name: str) -> str:
    return _COPY.sub("", _PREFIX.sub("", name))


def _side_in(plain: str) -> re.Match[str] | None:
    """Where a name without prefix and copy number holds its side."""
    matches = (pattern.match(plain) for pattern in _PATTERNS)
    return next((match for match in matches if match and _is_side(plain, match)), None)


def _is_side(name: str, match: re.Match[str]) -> bool:
    """A word counts at the start of a word only: "upright" and "bright" have no side."""
    if len(match["side"]) == 1:
        return True
    before = name[match.start("side") - 1 : match.start("side")]
    after = name[match.end("side") : match.end("side") + 1]
    starts = not before or not before.isalpha() or (match["side"][0].isupper() and before.islower())
    return starts and not (after.islower() and match["side"].isupper())


def name_pairs(names: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Indices (left, right) of names that are equal but for their side."""
    left: dict[str, int] = {}
    right: dict[str, int] = {}
    for index, name in enumerate(names):
        found = side_name(name)
        if found.side:
            (left if found.side > 0 else right).setdefault(found.stem, index)
    return tuple((index, right[stem]) for stem, index in left.items() if stem in right)
