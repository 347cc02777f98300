"""What the panel shows of a creature's check-up."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.checkup.file import Checkup, load_checkup
from ..core.creature import load_creature
from ..core.errors import BadInputError
from ..core.project import CreaturePaths


@dataclass(frozen=True)
class CheckupSurvey:
    """The last check-up.

    Attributes:
        made: when facing.png was drawn, a word that changes with it; empty where there is none.
    """

    checkup: Checkup
    made: str = ""


def checkup_survey(paths: CreaturePaths) -> CheckupSurvey | None:
    """The last check-up, None where there was none, or its file is damaged: then the panel offers a new one."""
    try:
        checkup = load_checkup(paths.checkup_json)
    except BadInputError:
        return None
    made = str(paths.facing_png.stat().st_mtime_ns) if paths.facing_png.exists() else ""
    return CheckupSurvey(checkup, made)


def facing_is_asked(paths: CreaturePaths) -> bool:
    """Whether the artist has yet to say which way the creature faces.

    What was rigged before anybody was asked stays as it is; what was confirmed and then turned is asked again.
    """
    try:
        creature = load_creature(paths.creature_json) if paths.creature_json.exists() else None
    except BadInputError:
        return False  # a damaged creature.json is told by itself, and comes first
    if creature is not None and creature.facing_confirmed is not None:
        return not creature.facing_is_confirmed()
    return not paths.rig_info.exists()
