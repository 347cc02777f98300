"""`doctor --creature`: can this creature be captured as it is?"""

from __future__ import annotations

from typing import Any

from ..core.checkup.file import load_checkup
from ..core.project import CreaturePaths
from ..jobs.pool import Pool
from ..jobs.stage import Registry
from ..jobs.stage_run import StageRun
from .drive import drive

_MARKS = {"pass": "ok  ", "warn": "warn", "fail": "FAIL"}


def check_creature(registry: Registry, paths: CreaturePaths, pool: Pool) -> dict[str, Any]:
    """Run the check-up, print what it found and return it; `ok` tells whether nothing stops the capture."""
    stage = registry["checkup"]
    drive(StageRun(paths, stage, {}, pool=pool, registry=registry, force=True), stage.label)
    checkup = load_checkup(paths.checkup_json)
    for note in checkup.fixed:
        print(f"mended {note}")
    for finding in checkup.findings:
        print(f"{_MARKS[finding.level]} {finding.subject}: {finding.text}")
        if finding.hint:
            print(f"     {finding.hint}")
        if finding.fix in ("confirm_facing", "take_suggestion"):
            print(f"     The picture: {paths.facing_png}. On the command line: prep --rotz-deg, --up.")
        elif finding.fix:
            print(f'     Fix: {{"fix": "{finding.fix}"}} in prep.fixes of creature.json, or Fix in the panel.')
    return {
        "ok": checkup.failures == 0,
        "creature": paths.name,
        "failures": checkup.failures,
        "warnings": checkup.warnings,
        "findings": [finding.record() for finding in checkup.findings],
    }
