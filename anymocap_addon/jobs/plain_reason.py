"""Why a stage is out of date, in an artist's words."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from .stage import Registry

_FILES = {
    "model": "the mesh file",
    "source": "the mesh",
    "creature": "creature.json",
    "static": "the prepped mesh",
    "rig": "rig.json",
    "rigged": "the rigged creature",
    "rig_info": "the rig",
    "ref": "the reference",
    "dataset_samples": "the dataset",
    "reader": "the reader",
    "det": "the reading",
    "motion": "the motion",
    "clip": "the clip",
    "truth": "the test's truth",
    "joints": "the applied motion",
}
_FILE = re.compile(r"^(?P<file>.+\.\w+) (?P<end>changed|is missing|is new)$")
_SETTING = re.compile(r"^(?P<name>.+?) is now (?P<now>.*), was (?P<was>.*)$", re.DOTALL)
_STAGE = re.compile(r"^(?P<stage>\w+) is (?P<word>stale|running|failed)$")
_END = {"changed": "has changed", "is missing": "is missing", "is new": "is new"}
_WORD = {"stale": "is out of date", "running": "is being made", "failed": "failed"}
_LONGEST_VALUE = 16  # characters; more says nothing in a panel


def plain_reason(because: str, registry: Registry) -> str:
    """A state's reason without paths and internal names; what has another form stays as it is."""
    if found := _FILE.match(because):
        stem = PurePosixPath(found["file"].replace("\\", "/")).stem
        return f"{_FILES.get(stem, PurePosixPath(found['file']).name)} {_END[found['end']]}"
    if found := _STAGE.match(because):
        stage = found["stage"]
        return f"{registry[stage].label if stage in registry else stage} {_WORD[found['word']]}"
    if found := _SETTING.match(because):
        name = found["name"].removeprefix("creature.json ").replace("_", " ")
        if name == "armature":
            return "it is on an armature" if found["now"] == "''" else f"it is not on {_value(found['now'])} yet"
        if max(len(found["now"]), len(found["was"])) > _LONGEST_VALUE or found["name"].startswith("creature.json"):
            return f"{name} has changed"
        return f"{name} was {_value(found['was'])}, is now {_value(found['now'])}"
    return because


def _value(text: str) -> str:
    return {"''": "automatic", "None": "automatic", "True": "on", "False": "off"}.get(text, text.strip("'\""))
