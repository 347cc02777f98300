"""The packages of a worker's own environment, in the versions that the tests ran with."""

from __future__ import annotations

import re
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parent / "worker_requirements.txt"


def pinned_versions() -> dict[str, str]:
    """Version by name of the package; of two for different Pythons the first."""
    versions: dict[str, str] = {}
    for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
        match = re.match(r"([\w.-]+)==([\w.]+)", line)
        if match:
            versions.setdefault(match[1], match[2])
    return versions
