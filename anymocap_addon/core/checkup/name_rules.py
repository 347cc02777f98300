"""Names of bones: sides, copies, letters."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from .facts import ArmatureFacts, CreatureFacts
from .finding import Finding, names_in_short
from .orientation import turn_matrix
from .side_names import side_name

_COPY = re.compile(r"\.\d{3}$")
_MIDDLE = 0.02  # of the creature's largest extent: nearer to the mid-plane than this is on it


def sides(facts: CreatureFacts) -> Iterator[Finding]:
    """Left and right by names, held against where the bones lie; by place where names are silent."""
    if facts.main is None or not facts.main.bones:
        return
    said = [side_name(bone.name).side for bone in facts.main.bones]
    lies = _lies(facts, facts.main)
    against = tuple(b.name for b, s, p in zip(facts.main.bones, said, lies, strict=True) if s * p < 0)
    named, agreeing = sum(map(abs, said)), sum(s * p > 0 for s, p in zip(said, lies, strict=True))
    if against and len(against) > agreeing:
        text = f"Bones named left lie on its right ({names_in_short(against)}): facing or up axis is not as set."
        yield Finding("sides", "warn", "Left and right", text, "Answer the question about facing.", names=against)
    elif against:
        text = f"{names_in_short(against)} lie on the other side than their names say; their place counts."
        yield Finding("sides", "warn", "Left and right", text, "Rename them if that is a slip.", names=against)
    elif named:
        yield Finding("sides", "pass", "Left and right", f"Names of {named} bones say their side, and agree.")
    else:
        sided = sum(map(abs, lies))
        text = f"Names say nothing of sides; by their place {sided} of {len(lies)} bones have one."
        yield Finding("sides", "pass", "Left and right", text)


def _lies(facts: CreatureFacts, armature: ArmatureFacts) -> list[int]:
    """1 for bones that lie left of the middle, -1 right, 0 near it, as prep would turn the creature."""
    turn = turn_matrix(facts.turn_deg, facts.up)
    middle = turn @ ((np.array(facts.low) + np.array(facts.high)) / 2)
    size = float(np.max(np.subtract(facts.high, facts.low)))
    heads = np.array([bone.head for bone in armature.bones]) @ turn.T
    tails = np.array([bone.tail for bone in armature.bones]) @ turn.T
    x = (heads[:, 0] + tails[:, 0]) / 2 - middle[0]
    return [int(np.sign(value)) if abs(value) > _MIDDLE * size else 0 for value in x]


def copies(facts: CreatureFacts) -> Iterator[Finding]:
    """Names that differ in nothing but case or a copy number, and names of several armatures."""
    if facts.main is None:
        return
    names = [bone.name for bone in facts.main.bones]
    numbered = tuple(name for name in names if _COPY.search(name))
    if numbered:
        text = f"{len(numbered)} bones have numbered names ({names_in_short(numbered)}). They work as they are."
        yield Finding("copies", "pass", "Numbered names", text, names=numbered)
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(name.casefold(), []).append(name)
    alike = tuple(name for group in folded.values() if len(group) > 1 for name in group)
    if alike:
        text = f"{names_in_short(alike)} differ in capital letters only; other programs may take them for one."
        yield Finding("copies", "warn", "Names alike", text, "Rename one of each.", names=alike)
    elsewhere = {bone.name for a in facts.armatures if a is not facts.main for bone in a.bones}
    twice = tuple(name for name in names if name in elsewhere)
    if twice:
        text = f"{names_in_short(twice)} are bones of several armatures."
        yield Finding("copies", "warn", "Duplicate names", text, "Rename them before you join armatures.", names=twice)


def letters(facts: CreatureFacts) -> Iterator[Finding]:
    """Letters beyond ASCII."""
    objects = [*(a.name for a in facts.armatures), *(m.name for m in facts.meshes)]
    bones = [bone.name for a in facts.armatures for bone in a.bones]
    odd = tuple(name for name in (*objects, *bones) if not name.isascii())
    if odd:
        text = f"{names_in_short(odd)} have letters that some game engines do not read. AnyMoCap does."
        yield Finding("letters", "warn", "Letters", text, "Rename them if your engine asks for it.", names=odd)
