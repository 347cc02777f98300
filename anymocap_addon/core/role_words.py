"""What bones' names say of body parts. Names only help: where they say nothing, geometry decides."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORDS = {
    "wing": ("wing", "fin", "flipper"),
    "fin": ("fin", "flipper"),
    "arm": ("arm", "hand", "clavicle", "shoulder", "claw", "pincer"),
    "ear": ("ear", "horn", "antler", "antenna", "antennae"),
    "leg": ("leg", "foot", "paw", "hoof", "thigh", "shin"),
    "detail": (
        "eye",
        "brow",
        "eyebrow",
        "lid",
        "eyelid",
        "cheek",
        "lip",
        "whisker",
        "nostril",
        "fang",
        "tooth",
        "teeth",
    ),
    "face": ("face", "mouth", "tongue", "nose", "snout", "muzzle", "beak", "eye", "teeth", "trunk", "jaw", "chin"),
    "jaw": ("jaw", "mouth", "mandible", "chin", "beak"),
    "head": ("head", "skull"),
    "neck": ("neck",),
    "spine": ("spine", "torso", "chest", "thorax", "abdomen", "belly", "back", "body", "hip", "pelvis", "ribcage"),
    "tail": ("tail",),
    "abdomen": ("abdomen", "gaster", "sting", "stinger"),
    "upper": ("upper", "top", "up"),
}


def words(name: str) -> set[str]:
    """Lower-case words of a bone's name: split at case changes, digits and punctuation."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def named(names: Iterable[str], kind: str) -> bool:
    """True when one of the names holds a word of the kind, or its plural."""
    found = set().union(*(words(name) for name in names))
    return bool(found & {plural for word in _WORDS[kind] for plural in (word, f"{word}s")})
