"""checkup.json: what the check-up found, for panel and command line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..formats import read_json, write_json_file
from .finding import Finding, finding_of
from .orientation import Orientation


@dataclass(frozen=True)
class Checkup:
    """One check-up.

    Attributes:
        source: name of the file or object; fixed: what was mended before the look, a sentence each.
    """

    source: str
    findings: tuple[Finding, ...]
    suggestion: Orientation
    fixed: tuple[str, ...] = ()

    @property
    def failures(self) -> int:
        """Number of findings that stop the capture."""
        return sum(finding.level == "fail" for finding in self.findings)

    @property
    def warnings(self) -> int:
        """Number of findings to be known or answered."""
        return sum(finding.level == "warn" for finding in self.findings)


def save_checkup(path: Path, checkup: Checkup) -> None:
    """Write checkup.json."""
    guess = checkup.suggestion
    data = {
        "source": checkup.source,
        "suggestion": {"up": guess.up, "turn_deg": guess.turn_deg, "reason": guess.reason, "sure": guess.sure},
        "fixed": list(checkup.fixed),
        "findings": [finding.record() for finding in checkup.findings],
    }
    write_json_file(path, "checkup", data)


def load_checkup(path: Path) -> Checkup:
    """Read checkup.json.

    Raises:
        BadInputError: names the file, the key and what was expected.
    """
    data = read_json(path, "checkup")
    guess = data.get("suggestion", {})
    orientation = Orientation(
        guess.get("turn_deg", 0.0), guess.get("up", "z"), guess.get("reason", ""), guess.get("sure", False)
    )
    findings = tuple(finding_of(item) for item in data["findings"])
    return Checkup(data["source"], findings, orientation, tuple(data.get("fixed", ())))
