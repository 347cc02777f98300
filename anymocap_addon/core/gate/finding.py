"""What a check of the source gate has found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Mark = tuple[float, float, float, float]


@dataclass(frozen=True)
class Finding:
    """One check's verdict.

    Attributes:
        check: name of the check.
        figures: what was measured, by name.
        reasons: why the clip is refused, in an artist's words; empty when it passes.
        frame: the worst frame.
        marks: boxes (left, top, right, bottom) in layout px that show it in that frame.
    """

    check: str
    figures: dict[str, float]
    reasons: tuple[str, ...] = ()
    frame: int = 0
    marks: tuple[Mark, ...] = field(default=())

    @property
    def refused(self) -> bool:
        """Whether the check refuses the clip."""
        return bool(self.reasons)

    def record(self) -> dict[str, Any]:
        """As plain values, for gate.json."""
        return {
            "check": self.check,
            "refused": self.refused,
            "figures": {name: round(float(value), 4) for name, value in self.figures.items()},
            "reasons": list(self.reasons),
            "frame": self.frame,
            "marks": [[round(float(value), 1) for value in mark] for mark in self.marks],
        }
