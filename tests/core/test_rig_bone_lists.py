"""rig.json's bones may also be written as lists, as the pipeline that AnyMoCap follows writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.rig import load_rig_spec

JOINTS = {"a": [0, 0, 0], "b": [0, 0, 1], "c": [0, -1, 1]}


def write(path: Path, bones: list[object]) -> Path:
    path.write_text(json.dumps({"joints": JOINTS, "bones": bones}), "utf-8")
    return path


def test_lists_and_objects_mean_the_same(tmp_path: Path) -> None:
    lists = load_rig_spec(write(tmp_path / "lists.json", [["tip", "b", "c", "base"], ["base", "a", "b", None]]))
    objects = load_rig_spec(
        write(
            tmp_path / "objects.json",
            [{"name": "tip", "head": "b", "tail": "c", "parent": "base"}, {"name": "base", "head": "a", "tail": "b"}],
        )
    )
    assert lists == objects and [bone.name for bone in lists.bones] == ["base", "tip"]


@pytest.mark.parametrize("bone", [["base", "a", "b"], ["base", None, "b", None], ["base", "a", 3, None], "base"])
def test_a_wrong_list_is_named(tmp_path: Path, bone: object) -> None:
    with pytest.raises(BadInputError, match=r"rig\.json: bones"):
        load_rig_spec(write(tmp_path / "rig.json", [bone]))
