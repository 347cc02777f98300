"""All rules of the check-up, in the order in which an artist wants to read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .facts import CreatureFacts
from .finding import Finding

Rule = Callable[[CreatureFacts], Iterator[Finding]]
RULES: tuple[Rule, ...] = ()
_ORDER = {"fail": 0, "warn": 1, "pass": 2}


def check_up(facts: CreatureFacts) -> tuple[Finding, ...]:
    """What the rules find: failures first, then what is to be known, then what is as it should be."""
    found = [finding for rule in RULES for finding in rule(facts)]
    return tuple(sorted(found, key=lambda finding: _ORDER[finding.level]))
