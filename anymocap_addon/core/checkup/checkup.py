"""All rules of the check-up, in the order in which an artist wants to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .action_rules import actions
from .armature_rules import armature_count, library_data, shown_position
from .bone_rules import channels, controls, leaves, lengths, mirrored_axes, roots
from .facts import CreatureFacts
from .finding import Finding
from .mesh_rules import bad_points, loose_parts, mesh_count, mesh_data, shape_keys
from .name_rules import copies, letters, sides
from .orientation_rules import facing
from .size_rules import scale, size
from .weight_rules import weights

Rule = Callable[[CreatureFacts], Iterator[Finding]]
RULES: tuple[Rule, ...] = (
    facing,
    size,
    scale,
    armature_count,
    mesh_count,
    bad_points,
    weights,
    loose_parts,
    roots,
    controls,
    lengths,
    actions,
    sides,
    mirrored_axes,
    channels,
    shown_position,
    library_data,
    copies,
    letters,
    leaves,
    shape_keys,
    mesh_data,
)
_ORDER = {"fail": 0, "warn": 1, "pass": 2}


def check_up(facts: CreatureFacts) -> tuple[Finding, ...]:
    """What the rules find: failures first, then what is to be known, then what is as it should be."""
    found = [finding for rule in RULES for finding in rule(facts)]
    return tuple(sorted(found, key=lambda finding: _ORDER[finding.level]))
