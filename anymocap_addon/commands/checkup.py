"""`doctor --creature`: can this creature be captured as it is, and what mends it?"""

from __future__ import annotations

from typing import Any

from ..core.checkup.file import Checkup, load_checkup
from ..core.checkup.finding import Finding
from ..core.checkup.prep_fixes import JUDGED, QUESTIONS, add_prep_fixes, confirm_facing, own_creature, safe_fixes
from ..core.project import CreaturePaths
from ..jobs.pool import Pool
from ..jobs.stage import Registry
from ..jobs.stage_run import StageRun
from .drive import drive

_MARKS = {"pass": "ok  ", "warn": "warn", "fail": "FAIL"}
_MOST_ROUNDS = 6  # what one fix mends may show what lay below it


def check_creature(
    registry: Registry, paths: CreaturePaths, pool: Pool, fix: list[str] | None = None, confirm: bool = False
) -> dict[str, Any]:
    """Run the check-up, print what it found and return it; `ok` tells whether nothing stops the capture.

    Args:
        fix: let prep make every safe fix on its copy, and those that are named; None mends nothing.
        confirm: the creature stands and faces as facing.png shows it.
    """
    if confirm:
        confirm_facing(paths)
    checkup = _look(registry, paths, pool)
    if fix is not None:
        checkup = _mend(registry, paths, pool, checkup, fix)
    for note in checkup.fixed:
        print(f"mended {note}")
    for finding in checkup.findings:
        print(f"{_MARKS[finding.level]} {finding.subject}: {finding.text}")
        if finding.hint:
            print(f"     {finding.hint}")
        if remedy := _remedy(paths, checkup, finding):
            print(f"     {remedy}")
    return {
        "ok": checkup.failures == 0,
        "creature": paths.name,
        "failures": checkup.failures,
        "warnings": checkup.warnings,
        "fixes": [{"fix": item.fix, "names": list(item.names)} for item in own_creature(paths).prep.fixes],
        "findings": [finding.record() for finding in checkup.findings],
    }


def _look(registry: Registry, paths: CreaturePaths, pool: Pool) -> Checkup:
    stage = registry["checkup"]
    drive(StageRun(paths, stage, {}, pool=pool, registry=registry, force=True), stage.label)
    return load_checkup(paths.checkup_json)


def _mend(registry: Registry, paths: CreaturePaths, pool: Pool, checkup: Checkup, also: list[str]) -> Checkup:
    """Look and mend in turn until nothing new is found that a fix mends."""
    for _ in range(_MOST_ROUNDS):
        if not add_prep_fixes(paths, safe_fixes(checkup.findings, also)):
            break
        checkup = _look(registry, paths, pool)
    return checkup


def _remedy(paths: CreaturePaths, checkup: Checkup, finding: Finding) -> str:
    """What to type for it; empty where no command mends it."""
    doctor = f'doctor --creature "{paths.name}"' if " " in paths.name else f"doctor --creature {paths.name}"
    picture = f"The picture: {paths.facing_png}."
    if finding.fix == "take_suggestion":
        guess = checkup.suggestion
        turn = f"prep --rotz-deg={guess.turn_deg:g} --up={guess.up}"
        return f"{picture} As suggested: {turn}. When it is right: {doctor} --confirm-facing"
    if finding.fix in QUESTIONS:
        return f"{picture} When it is right: {doctor} --confirm-facing. Else: prep --rotz-deg, --up."
    if finding.fix in JUDGED:
        return f"If it is a part of the creature: {doctor} --fix {finding.fix}, or Fix in the panel."
    return f"Fix, on prep's copy: {doctor} --fix, or Fix in the panel." if finding.fix else ""
