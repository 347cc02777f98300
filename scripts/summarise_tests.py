"""Adds up the layers' results into one last line; with CI set, a layer in which nothing passed is a failure."""

from __future__ import annotations

import os
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path


def count(file: Path) -> Counter[str]:
    """Passed, failed and skipped tests and the seconds of one layer; empty when it wrote no result."""
    counts: Counter[str] = Counter()
    if not file.exists():
        return counts
    for suite in ET.parse(file).getroot().iter("testsuite"):
        number = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
        counts["failed"] += number["failures"] + number["errors"]
        counts["skipped"] += number["skipped"]
        counts["passed"] += number["tests"] - number["failures"] - number["errors"] - number["skipped"]
        counts["seconds"] += round(float(suite.get("time", 0)))
    return counts


def main(folder: Path, layers: list[str]) -> int:
    """Print the sums; 1 when a layer did not run although CI is set."""
    counts = {layer: count(folder / f"{layer}.xml") for layer in layers}
    idle = [layer for layer in layers if not counts[layer]["passed"]]
    total = sum(counts.values(), Counter())
    for layer in layers:
        print(f"{layer}: " + ", ".join(f"{counts[layer][key]} {key}" for key in ("passed", "failed", "skipped")))
    if idle and os.environ.get("CI"):
        print(f"no test passed in: {', '.join(idle)}; a layer may not be skipped when CI is set")
    words = ", ".join(f"{total[key]} {key}" for key in ("failed", "passed", "skipped") if total[key])
    print(f"===== {words or 'no tests ran'} in {total['seconds']}s =====")
    return 1 if idle and os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
