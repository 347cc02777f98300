"""Made-up creatures for the tests of body parts and capture trees: heads and tips in metres, facing -Y."""

from __future__ import annotations

import numpy as np

from anymocap_addon.core.rest_bones import Bones

Spec = dict[str, tuple[str | None, tuple[float, float, float], tuple[float, float, float]]]


def both_sides(limb: Spec) -> Spec:
    """Each bone `x` of the left side once more on the right; parents within the limb follow."""
    mirrored: Spec = {}
    for name, (parent, head, tip) in limb.items():
        left = f"{parent}_L" if parent in limb else parent
        right = f"{parent}_R" if parent in limb else parent
        mirrored[f"{name}_L"] = (left, head, tip)
        mirrored[f"{name}_R"] = (right, (-head[0], *head[1:]), (-tip[0], *tip[1:]))
    return mirrored


def bones(spec: Spec, rename: bool = False, flat: tuple[str, ...] = ()) -> Bones:
    """The spec as core.roles.Bones; with `rename` all names become b0, b1, ... so that only geometry speaks."""
    names = list(spec)
    heads = np.array([spec[n][1] for n in names], float)
    tips = np.array([spec[n][2] for n in names], float)
    every = np.concatenate([heads, tips])
    shown = tuple(f"b{i}" for i in range(len(names))) if rename else tuple(names)
    return Bones(
        names=shown,
        parents=np.array([names.index(p) if p is not None else -1 for p, _, _ in spec.values()], np.int64),
        heads=heads,
        tips=tips,
        low=every.min(0),
        high=every.max(0),
        flatness=np.array([0.05 if any(word in n for word in flat) else 0.8 for n in names]),
    )


SPINE: Spec = {
    "hips": (None, (0, 0.4, 0.8), (0, 0.1, 0.85)),
    "spine": ("hips", (0, 0.1, 0.85), (0, -0.3, 0.85)),
    "neck": ("spine", (0, -0.3, 0.85), (0, -0.5, 1.1)),
    "skull": ("neck", (0, -0.5, 1.1), (0, -0.75, 1.05)),
}
TAIL: Spec = {
    "tail1": ("hips", (0, 0.45, 0.8), (0, 0.7, 0.7)),
    "tail2": ("tail1", (0, 0.7, 0.7), (0, 0.9, 0.5)),
}


def leg(name: str, parent: str, x: float, y: float) -> Spec:
    upper, lower = f"{name}_upper", f"{name}_lower"
    return {upper: (parent, (x, y, 0.7), (x, y - 0.03, 0.35)), lower: (upper, (x, y - 0.03, 0.35), (x, y, 0.0))}


def quadruped() -> Spec:
    ears: Spec = {"ear": ("skull", (0.08, -0.5, 1.2), (0.12, -0.5, 1.35))}
    return {
        **SPINE,
        **TAIL,
        **both_sides(leg("back", "hips", 0.15, 0.4)),
        **both_sides(leg("front", "spine", 0.15, -0.25)),
        **both_sides(ears),
    }


def biped() -> Spec:
    arm: Spec = {
        "upper": ("chest", (0.2, 0, 1.4), (0.5, 0, 1.4)),
        "lower": ("upper", (0.5, 0, 1.4), (0.8, 0, 1.4)),
    }
    body: Spec = {
        "hips": (None, (0, 0, 0.9), (0, 0, 1.15)),
        "chest": ("hips", (0, 0, 1.15), (0, 0, 1.45)),
        "neck": ("chest", (0, 0, 1.45), (0, 0, 1.6)),
        "skull": ("neck", (0, 0, 1.6), (0, -0.02, 1.8)),
    }
    return {**body, **both_sides(leg("leg", "hips", 0.12, 0.0)), **both_sides(arm)}


def dragon() -> Spec:
    wing: Spec = {
        "wing1": ("spine", (0.1, -0.1, 0.95), (0.6, 0.0, 1.2)),
        "wing2": ("wing1", (0.6, 0.0, 1.2), (1.2, 0.2, 1.1)),
    }
    return {**quadruped(), **both_sides(wing)}


def spider() -> Spec:
    body: Spec = {
        "body": (None, (0, 0, 0.4), (0, -0.1, 0.4)),
        "skull": ("body", (0, -0.15, 0.4), (0, -0.35, 0.4)),
        "abdomen": ("body", (0, 0.15, 0.4), (0, 0.6, 0.45)),
    }
    legs: Spec = {}
    for i, y in enumerate((-0.5, -0.2, 0.2, 0.5)):
        legs[f"leg{i}a"] = ("body", (0.1, y / 5, 0.4), (0.5, y / 1.5, 0.7))
        legs[f"leg{i}b"] = (f"leg{i}a", (0.5, y / 1.5, 0.7), (0.8, y, 0.0))
    return {**body, **both_sides(legs)}
