"""Bones: roots, controls, leaves, constraints, drivers, locks, rotation modes, lengths, mirrored axes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from .facts import ArmatureFacts, BoneFacts, CreatureFacts
from .finding import Finding, names_in_short
from .side_names import name_pairs

_LEAF = re.compile(r"(_end|_leaf|_tip|[._]?nub|end)(\.\d{3}|_\w)?$", re.IGNORECASE)
_STRETCHES = {"STRETCH_TO", "COPY_SCALE", "LIMIT_SCALE", "MAINTAIN_VOLUME", "COPY_TRANSFORMS"}
_IK = {"IK", "SPLINE_IK"}
_ALIGNED = 0.9  # cosine between an axis and its mirror image


def _heavy(armature: ArmatureFacts) -> set[str]:
    """Bones that carry skin, themselves or below them."""
    by_name = {bone.name: bone for bone in armature.bones}
    heavy: set[str] = set()
    for bone in armature.bones:
        walker = bone if bone.weight > 0 else None
        while walker is not None and walker.name not in heavy:
            heavy.add(walker.name)
            walker = by_name.get(walker.parent)
    return heavy


def roots(facts: CreatureFacts) -> Iterator[Finding]:
    """One bone should carry all; loose ones are hung on their limb for the capture."""
    if facts.main is None:
        return
    heavy = _heavy(facts.main)
    tops = tuple(b.name for b in facts.main.bones if not b.parent and b.name in heavy)
    if len(tops) > 1:
        text = f"{len(tops)} bones without a parent move the skin: {names_in_short(tops)}."
        hint = "For the capture they are hung on their limb or on the body; your armature stays as it is."
        yield Finding("roots", "warn", "Several roots", text, hint, names=tops)
    elif tops:
        yield Finding("roots", "pass", "Root", f"One: {tops[0]}.")


def controls(facts: CreatureFacts) -> Iterator[Finding]:
    """IK targets and poles, and what else constrains bones."""
    if facts.main is None:
        return
    active = [(bone, c) for bone in facts.main.bones for c in bone.constraints if not c.muted]
    aims = tuple(dict.fromkeys(c.target for _, c in active if c.kind in _IK and c.target))
    poles = tuple(dict.fromkeys(c.pole for _, c in active if c.pole))
    skinned = tuple(name for name in aims if any(b.name == name and b.weight > 0 for b in facts.main.bones))
    if aims:
        also = f", poles {names_in_short(poles)}" if poles else ""
        feet = f" The skin hangs on {names_in_short(skinned)} itself." if skinned else ""
        text = f"Bones are driven by IK: targets {names_in_short(aims)}{also}.{feet}"
        hint = "The captured motion goes to the bones, to these targets, or is baked: as you choose at Apply."
        yield Finding("controls", "warn", "IK", text, hint, names=(*aims, *poles))
    others = tuple(dict.fromkeys(bone.name for bone, c in active if c.kind not in _IK))
    if others:
        kinds = sorted({c.kind.replace("_", " ").title() for _, c in active if c.kind not in _IK})
        text = f"{names_in_short(others)} have constraints ({', '.join(kinds)}); they stay on your rig."
        yield Finding("controls", "pass", "Constraints", text, names=others)
    driven = tuple(b.name for b in facts.main.bones if b.drivers)
    if driven:
        text = f"{names_in_short(driven)} follow drivers, which go on working."
        yield Finding("controls", "pass", "Drivers", text, names=driven)


def channels(facts: CreatureFacts) -> Iterator[Finding]:
    """Locks bind the hand, not keys; rotation modes stay as they are."""
    if facts.main is None:
        return
    locked = tuple(b.name for b in facts.main.bones if any(k.startswith("rotation") for k in b.locks) and b.deform)
    if locked:
        text = (
            f"Rotation is locked on {names_in_short(locked)}. Locks hold back the mouse, not keys: they get keys too."
        )
        yield Finding("channels", "warn", "Locked channels", text, "Right if they may turn.", names=locked)
    modes = sorted({b.rotation_mode for b in facts.main.bones})
    if modes:
        shown = ", ".join("Quaternion" if m == "QUATERNION" else m.replace("_", " ").title() for m in modes)
        text = f"Rotation modes: {shown}. Keys are written in each bone's own mode."
        yield Finding("channels", "pass", "Rotation modes", text)


def leaves(facts: CreatureFacts) -> Iterator[Finding]:
    """Bones that exporters add at the ends."""
    if facts.main is None:
        return
    parents = {b.parent for b in facts.main.bones}
    ends = tuple(b.name for b in facts.main.bones if b.name not in parents and b.weight <= 0 and _LEAF.search(b.name))
    if ends:
        text = f"{len(ends)} end bones without skin ({names_in_short(ends)}) are left out."
        yield Finding("leaves", "pass", "Leaf bones", text, names=ends)


def lengths(facts: CreatureFacts) -> Iterator[Finding]:
    """What makes bones longer or shorter."""
    if facts.main is None:
        return
    stretched = tuple(
        b.name for b in facts.main.bones if any(c.kind in _STRETCHES and not c.muted for c in b.constraints)
    )
    by_actions = {m.bone for a in facts.actions for m in a.bones if m.scale != (1.0, 1.0)}  # told by those
    bones = [b for b in facts.main.bones if b.name not in by_actions]
    scaled = tuple(b.name for b in bones if max(abs(s - 1) for s in b.pose_scale) > 1e-3)
    hint = "The capture keeps lengths as at rest: what stretches there is not captured."
    if stretched:
        text = f"Constraints may stretch {names_in_short(stretched)}."
        yield Finding("lengths", "warn", "Bone lengths", text, hint, names=stretched)
    if scaled:
        text = f"{names_in_short(scaled)} are scaled in the pose."
        yield Finding("lengths", "warn", "Scaled bones", text, hint, "clear_bone_scale", scaled)
    short = tuple(b.name for b in facts.main.bones if np.linalg.norm(np.subtract(b.tail, b.head)) < 1e-7)
    if short:
        yield Finding("lengths", "warn", "Bones without length", f"{names_in_short(short)} are points.", names=short)


def mirrored_axes(facts: CreatureFacts) -> Iterator[Finding]:
    """Left and right bones whose axes are not each other's mirror image turn the other way for equal numbers."""
    if facts.main is None:
        return
    bones = facts.main.bones
    pairs = name_pairs(tuple(b.name for b in bones))
    odd, lateral = [], _lateral(bones, pairs)
    for left, right in pairs:
        image = np.array(bones[left].axes) * np.where(np.arange(3) == lateral, -1.0, 1.0)
        aligned = np.abs((image * np.array(bones[right].axes)).sum(1))
        if aligned.min() < _ALIGNED:
            odd += [bones[left].name, bones[right].name]
    if odd:
        text = f"The axes of {names_in_short(odd)} are not mirror images of each other."
        hint = "Limits are kept for each side by itself. Blender's Symmetrize makes them equal."
        yield Finding("mirrored_axes", "warn", "Mirrored bones", text, hint, names=tuple(odd))
    elif pairs:
        yield Finding("mirrored_axes", "pass", "Mirrored bones", f"{len(pairs)} pairs, axes mirrored.")


def _lateral(bones: tuple[BoneFacts, ...], pairs: tuple[tuple[int, int], ...]) -> int:
    """World axis that leads from right to left."""
    ways = [np.abs(np.subtract(bones[a].head, bones[b].head)) for a, b in pairs]
    return int(np.sum(ways, axis=0).argmax()) if ways else 0
