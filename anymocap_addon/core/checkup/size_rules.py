"""Scale and size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .facts import CreatureFacts, Rows
from .finding import Finding, names_in_short
from .orientation import turn_matrix

UNIFORM = 2e-3  # relative difference of the axes that still counts as uniform
_THIN = 0.15  # of the largest extent: a length measured along less than this is hardly meant
_AXES = {"x": 0, "y": 1, "z": 2}


def scale_of(matrix: Rows) -> tuple[tuple[float, float, float], bool, bool]:
    """Scale along each axis (negative on all where it mirrors), whether it is uniform, whether it mirrors."""
    turn = np.array(matrix, float)[:3, :3]
    scales = np.linalg.norm(turn, axis=0)
    mirrors = bool(np.linalg.det(turn) < 0)
    mean = float(scales.mean())
    shear = np.abs(turn.T @ turn / mean**2 - np.eye(3)).max() if mean > 0 else np.inf
    x, y, z = (float(s) for s in scales)
    return (x, y, z), bool(shear <= 2 * UNIFORM), mirrors


def _plain(matrix: Rows) -> bool:
    _, uniform, mirrors = scale_of(matrix)
    return uniform and not mirrors


def scale(facts: CreatureFacts) -> Iterator[Finding]:
    """An armature must not be stretched or mirrored; a uniform scale is taken as it is."""
    for armature in facts.armatures:
        (x, y, z), uniform, mirrors = scale_of(armature.matrix)
        subject, numbers = f"Scale of {armature.name}", f"{x:.4g}, {y:.4g}, {z:.4g}"
        if mirrors or not uniform:
            how = "is mirrored (negative)" if mirrors else f"differs by axis ({numbers})"
            hint = "The fix applies it to armature, meshes and location keys; look at the Actions afterwards."
            with_it = tuple(m.name for m in facts.meshes if m.armature == armature.name and not _plain(m.matrix))
            names = (armature.name, *with_it)
            yield Finding("scale", "fail", subject, f"Its scale {how}.", hint, "apply_scale", names)
        else:
            note = "" if abs(x - 1) < UNIFORM else "; it is taken into account, nothing need be applied"
            yield Finding("scale", "pass", subject, f"Uniform, {x:.4g}{note}.", names=(armature.name,))
    mirrored = tuple(m.name for m in facts.meshes if scale_of(m.matrix)[2])
    alone = tuple(m.name for m in facts.meshes if m.name in mirrored and not m.armature)
    if alone:
        text = f"A negative scale turns the faces of {names_in_short(alone)} inside out."
        yield Finding("scale", "warn", "Scale of meshes", text, "The fix applies the scale.", "apply_scale", alone)


def size(facts: CreatureFacts) -> Iterator[Finding]:
    """The size in the file, and what prep makes of it."""
    if not facts.meshes:
        return
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    low, high = np.array(facts.low), np.array(facts.high)
    turned = (low + corners * (high - low)) @ turn_matrix(facts.turn_deg, facts.up).T
    extent = turned.max(0) - turned.min(0)
    shown = " x ".join(f"{value:.3g}" for value in extent)
    if not np.isfinite(extent).all() or extent.max() <= 0:
        yield Finding("size", "fail", "Size", f"It has no size ({shown}).", "Export the mesh again.")
        return
    along = float(extent[_AXES[facts.axis]])
    text = (
        f"Measures {shown} (wide, long, high) in the file; prep makes it {facts.length:g} m along {facts.axis.upper()}."
    )
    if along < _THIN * extent.max():
        hint = "Set Measured along to the axis that you know the length of, in Prep's settings."
        yield Finding("size", "warn", "Size", f"{text} That is its thin side.", hint)
    else:
        yield Finding("size", "pass", "Size", text)
