"""The artist's word on body parts: creature.json's `roles`, bone -> part or role, outdoes what was found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from .errors import BadInputError
from .nearest import nearest_hint
from .rest_bones import Bones
from .roles import Roles, part_ranks

# Word -> role and part. What the spine carries in the middle has one name each.
AXIAL: dict[str, tuple[str, str]] = {
    "spine": ("spine", "spine"),
    "neck": ("neck", "head"),
    "head": ("head", "head"),
    "jaw": ("jaw", "head"),
    "tail": ("tail", "tail"),
    "abdomen": ("tail", "abdomen"),
}
LIMB_KINDS = ("leg", "arm", "wing", "fin", "ear")
PLACES = ("front", "mid_front", "mid", "mid_back", "back")
DETAIL = "detail"
_LIMB = re.compile(rf"(?:({'|'.join(PLACES)})_)?(left|right)_({'|'.join(LIMB_KINDS)})(?:_[1-9]\d?)?")


def role_choices() -> tuple[str, ...]:
    """Words that an artist may give a bone, in the order of a menu."""
    limbs = [f"{side}_{kind}" for kind in LIMB_KINDS for side in ("left", "right")]
    legs = [f"{place}_{side}_leg" for place in PLACES for side in ("left", "right")]
    return (*AXIAL, *limbs, *legs, DETAIL)


def edited_roles(bones: Bones, found: Roles, edits: Mapping[str, str], file: Path | str = "") -> Roles:
    """`found` with the artist's edits.

    An edit is for the bone and for those below it that were found to be of the same part, down to the next edit.

    Raises:
        BadInputError: an unknown bone or word, or the capture root is made a limb.
    """
    if not edits:
        return found
    role, part = list(found.role), list(found.part)
    for name in sorted(edits, key=lambda name: _index(bones, name, file)):
        b = _index(bones, name, file)
        for below in _of_same_part(bones, found, b, edits):
            owner = int(bones.parents[below])
            role[below], part[below] = _meaning(edits[name], part[owner] if owner >= 0 else "spine", name, file)
    if role[0] != found.role[0]:
        if part[0] not in {meaning[1] for meaning in AXIAL.values()}:
            raise BadInputError(
                f"{bones.names[0]!r} is the root of the creature: it cannot be a limb.",
                file=file,
                key=f"roles.{bones.names[0]}",
                hint="Make it spine, head or tail.",
            )
        role[0] = "root"
    return Roles(tuple(role), tuple(part), part_ranks(bones.parents, tuple(role), tuple(part)), found.side)


def _index(bones: Bones, name: str, file: Path | str) -> int:
    if name not in bones.names:
        raise BadInputError(
            f"The rig has no bone {name!r}.", file=file, key="roles", hint=nearest_hint(name, bones.names)
        )
    return bones.names.index(name)


def _of_same_part(bones: Bones, found: Roles, bone: int, edits: Mapping[str, str]) -> list[int]:
    """`bone` and those below it that share its found part, without those that have edits of their own."""
    reached = [bone]
    for b in bones.subtree(bone)[1:]:
        same = found.part[b] == found.part[bone] and int(bones.parents[b]) in reached
        if same and bones.names[b] not in edits:
            reached.append(b)
    return reached


def _meaning(word: str, owner: str, bone: str, file: Path | str) -> tuple[str, str]:
    """Role and part of a word; `owner` is the part of the bone's parent."""
    if word in AXIAL:
        return AXIAL[word]
    if word == DETAIL:
        return DETAIL, owner
    limb = _LIMB.fullmatch(word)
    if limb is None:
        raise BadInputError(
            f"{word!r} is no body part.", file=file, key=f"roles.{bone}", hint=nearest_hint(word, role_choices())
        )
    return ("wing" if limb[3] == "fin" else limb[3]), word
