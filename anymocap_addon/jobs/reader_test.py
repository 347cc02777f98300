"""The test of a reader: a motion of known truth is rendered, read, fitted and scored, before any clip is paid for."""

from __future__ import annotations

from ..core.errors import BadInputError
from ..core.project import CreaturePaths
from ..core.stage_record import load_record
from .plan import Planned, SettingsOf
from .stage import Registry

TEST_CLIP = "test"
STAGES = ("exam", "detect", "fit", "report", "preview")


def has_own_motion(paths: CreaturePaths) -> bool:
    """Whether the rig came with Actions of its own, by which the artist judges best."""
    record = load_record(paths, "rig")
    return record is not None and isinstance(record.result.get("limits_from"), list)


def reader_test_plan(registry: Registry, paths: CreaturePaths, settings_of: SettingsOf) -> list[Planned]:
    """The stages of the test, on the clip TEST_CLIP.

    Raises:
        BadInputError: there is no reader yet.
    """
    if not paths.reader_pt.exists():
        raise BadInputError("There is no reader to test.", file=paths.reader_pt, hint="Train the reader first.")
    exam = settings_of(registry["exam"], TEST_CLIP)
    if load_record(paths, "exam", TEST_CLIP) is None:
        exam["kind"] = "action" if has_own_motion(paths) else "random"
    others = [Planned(name, settings_of(registry[name], TEST_CLIP), TEST_CLIP) for name in STAGES[1:]]
    return [Planned("exam", exam, TEST_CLIP), *others]
