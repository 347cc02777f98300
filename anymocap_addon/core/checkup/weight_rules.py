"""Skin weights."""

from __future__ import annotations

from collections.abc import Iterator

from .facts import CreatureFacts, MeshFacts
from .finding import Finding, names_in_short

UNWEIGHTED_SHARE = 0.02  # up to this share the rig stage completes them by itself


def weights(facts: CreatureFacts) -> Iterator[Finding]:
    """Weights of every skinned mesh."""
    for mesh in facts.meshes:
        if not mesh.armature or mesh.by_bone:
            continue
        found = list(_of_mesh(mesh))
        yield from found
        if not found:
            yield Finding("weights", "pass", f"Weights of {mesh.name}", "Every vertex follows one to four bones.")


def _of_mesh(mesh: MeshFacts) -> Iterator[Finding]:
    subject, names = f"Weights of {mesh.name}", (mesh.name,)
    if mesh.nan_weights:
        text = f"{mesh.nan_weights} of {mesh.vertices} vertices have weights that are not numbers (NaN)."
        hint = "The fix gives them the weights of their nearest sound neighbour."
        yield Finding("weights", "fail", subject, text, hint, "clean_weights", names)
    if mesh.bad_in_file:
        bad = mesh.bad_in_file > UNWEIGHTED_SHARE * mesh.vertices
        text = f"{mesh.bad_in_file} of {mesh.vertices} vertices have zero weights or no numbers (NaN) in the file."
        hint = "The fix gives them the weights of their nearest sound neighbour."
        yield Finding("weights", "fail" if bad else "warn", subject, text, hint, "clean_weights", names)
    if mesh.no_weights:
        bad = mesh.no_weights > UNWEIGHTED_SHARE * mesh.vertices
        text = f"{mesh.no_weights} of {mesh.vertices} vertices follow no bone and would stay behind."
        hint = "The fix gives them the weights of their nearest neighbour."
        yield Finding("weights", "fail" if bad else "warn", subject, text, hint, "fill_weights", names)
    if mesh.many_weights:
        text = (
            f"{mesh.many_weights} vertices follow more than four bones (up to {mesh.most_weights}); "
            "GLB files and games keep four."
        )
        hint = "The fix keeps the four strongest of each."
        yield Finding("weights", "warn", subject, text, hint, "limit_weights", names)
    if mesh.strangers:
        text = f"Its groups {names_in_short(mesh.strangers)} have the name of no deforming bone and move nothing."
        yield Finding("weights", "pass", subject, text, names=names)
