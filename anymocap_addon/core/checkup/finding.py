"""What a rule of the check-up says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Level = Literal["pass", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at, in an artist's words.

    Attributes:
        rule: name of the rule; one rule may find several things.
        level: "fail" stops the capture, "warn" is to be known or answered, "pass" is as it should be.
        subject: what was looked at ("Scale", "Weights of Body").
        text: what was found; hint: what to do.
        fix: name of a safe fix in blender/creature_fixes.py, else empty.
        names: the objects, bones or Actions concerned.
    """

    rule: str
    level: Level
    subject: str
    text: str
    hint: str = ""
    fix: str = ""
    names: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """As plain values, for checkup.json."""
        return {**vars(self), "names": list(self.names)}


def finding_of(data: dict[str, Any]) -> Finding:
    """The inverse of `Finding.record`."""
    return Finding(**{**data, "names": tuple(data["names"])})


def names_in_short(names: tuple[str, ...] | list[str], most: int = 4) -> str:
    """The first few names as a list in words."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"
