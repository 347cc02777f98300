"""What the prompt says of a body: its parts counted, and the limbs with colours, told from the roles of the rig."""

from __future__ import annotations

import re
from collections import Counter

from ..creature import PaintGroup
from ..role_words import words

_NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth".split()
_LIMB = re.compile(r"(?:(?P<place>\w+)_)?(?P<side>left|right)_(?P<kind>leg|arm|wing|fin|ear)(?:_(?P<number>\d+))?")
_PLACES = ("front", "mid_front", "mid", "mid_back", "back")
_ORDER = ("head", "horn", "antler", "antenna", "ear", "arm", "leg", "wing", "fin", "tail", "abdomen")
_PLURALS = {"antenna": "antennae"}
_EAR_LIKE = ("horn", "antler", "antenna")  # what stands on a head like an ear, as bones' names know better


def body_count(bones: tuple[str, ...], parts: tuple[str, ...], roles: tuple[str, ...]) -> str:
    """one body with exactly one head, two ears, four legs and one tail

    A fish whose foremost bone is its root has a head all the same.

    Args:
        bones, parts, roles: B words each, as RigInfo holds them.
    """
    counted = _counted(bones, parts, roles)
    if counted["tail"]:
        counted["head"] = 1
    told = [f"{_number(counted[kind])} {_noun(kind, counted[kind])}" for kind in _sorted(counted)]
    return f"one body with exactly {_listed(told)}" if told else "exactly one body"


def limb_words(paint: tuple[PaintGroup, ...]) -> str:
    """The painted limbs by kind: legs and tail."""
    kinds = Counter(_kind(group.name, group.bones) for group in paint)
    return _listed([_noun(kind, kinds[kind]) for kind in _sorted(kinds)])


def part_words(part: str) -> str:
    """The name of a body part as it is said: mid-front left leg, second right arm, tail."""
    limb = _LIMB.fullmatch(part)
    if limb is None:
        return part.replace("_", " ")
    number = int(limb["number"] or 0)
    first = _ORDINALS[number - 1] if 0 < number <= len(_ORDINALS) else f"number {number}" if number else ""
    place = (limb["place"] or "").replace("_", "-")
    return " ".join(word for word in (first, place, limb["side"], limb["kind"]) if word)


def told_order(part: str) -> tuple[int, int, int, bool]:
    """Arms before legs, front before back, left before right: the order in which limbs are told."""
    kind, limb = _kind(part, ()), _LIMB.fullmatch(part)
    at = _ORDER.index(kind) if kind in _ORDER else len(_ORDER)
    if limb is None:
        return at, 0, 0, False
    place = _PLACES.index(limb["place"]) if limb["place"] in _PLACES else 0
    return at, place, int(limb["number"] or 0), limb["side"] == "right"


def is_one(limbs: str) -> bool:
    """Whether the words for the limbs are of a single one: its tail is, its legs are."""
    return limbs.lower().split()[-1:] in ([kind] for kind in _ORDER) and not re.search(r",| and ", limbs)


def _counted(bones: tuple[str, ...], parts: tuple[str, ...], roles: tuple[str, ...]) -> Counter[str]:
    """Body parts by kind. What the skin has one of and bones many (a spine) counts as body."""
    members: dict[str, list[str]] = {}
    for bone, part, role in zip(bones, parts, roles, strict=True):
        if role != "detail":
            members.setdefault(part, []).append(bone)
    kinds = (_kind(part, tuple(own)) for part, own in members.items())
    return Counter(kind for kind in kinds if kind != "spine")


def _kind(part: str, bones: tuple[str, ...]) -> str:
    limb = _LIMB.fullmatch(part)
    if limb is None:
        return part.replace("_", " ")
    if limb["kind"] != "ear":
        return limb["kind"]
    known = set().union(*(words(bone) for bone in bones))
    return next((word for word in _EAR_LIKE if known & {word, f"{word}s", _PLURALS.get(word)}), "ear")


def _sorted(kinds: Counter[str]) -> list[str]:
    """From the head to the tail; what is unknown, such as an artist's own part, at the end."""
    return sorted(kinds, key=lambda kind: (_ORDER.index(kind) if kind in _ORDER else len(_ORDER), kind))


def _noun(kind: str, count: int) -> str:
    return kind if count == 1 else _PLURALS.get(kind, f"{kind}s")


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def _listed(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
