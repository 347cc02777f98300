"""bone_map.json, the artist's edits of the capture skeleton, and bones that follow others."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anymocap_addon.core.bone_map import BoneEdit, BoneMap, MappedBone, load_bone_map, load_edits, save_bone_map
from anymocap_addon.core.capture_edits import edited_tree
from anymocap_addon.core.capture_tree import ArmatureBones, find_capture_tree
from anymocap_addon.core.driven_bones import find_driven
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.project import Project
from anymocap_addon.jobs.registry import REGISTRY
from anymocap_addon.jobs.state import creature_values

from .test_capture_tree import Rows, armature, ik_wolf


def edited(bones: ArmatureBones, **edits: BoneEdit) -> dict[str, str | None]:
    named = {name.replace("_", "."): edit for name, edit in edits.items()}
    tree = edited_tree(bones, find_capture_tree(bones), named)
    at = {b: i for i, b in enumerate(tree.order)}
    assert all(tree.parent[b] == -1 or at[tree.parent[b]] < at[b] for b in tree.order)
    return {bones.names[b]: bones.names[p] if (p := tree.parent[b]) >= 0 else None for b in tree.order}


def test_without_edits_nothing_changes() -> None:
    bones = ik_wolf("Root")
    tree = find_capture_tree(bones)
    assert edited_tree(bones, tree, {}) is tree
    kept = edited_tree(bones, tree, {"Chest": BoneEdit("captured")})
    assert (set(kept.order), kept.parent, kept.moved) == (set(tree.order), tree.parent, tree.moved)


def test_a_bone_that_is_left_out_hands_its_children_to_its_parent() -> None:
    found = edited(ik_wolf("Root"), Lower_L=BoneEdit("left_out"))
    assert "Lower.L" not in found and found["Foot.L"] == "Upper.L" and found["Foot.R"] == "Lower.R"


def test_another_parent_and_a_control_that_is_captured() -> None:
    found = edited(ik_wolf("Root"), Foot_L=BoneEdit(parent="Back"), Pole_L=BoneEdit("captured", "Chest"))
    assert found["Foot.L"] == "Back" and found["Pole.L"] == "Chest" and found["Toe.L"] == "Foot.L"


def test_a_root_above_may_be_captured_too() -> None:
    found = edited(ik_wolf("Root"), Root=BoneEdit("captured"))
    assert found["Root"] is None and found["Back"] == "Root" and found["Foot.L"] == "Lower.L"


@pytest.mark.parametrize(
    ("edits", "says"),
    [
        ({"Back": BoneEdit(parent="Chest")}, "cycle"),
        ({"Uper.L": BoneEdit("left_out")}, "Did you mean 'Upper.L'"),
        ({"Foot.L": BoneEdit(parent="Pole.L")}, "not captured"),
        ({"Foot.L": BoneEdit(parent="Foot.L")}, "its own parent"),
        ({"Pole.L": BoneEdit("captured")}, "one root"),
    ],
)
def test_edits_that_cannot_be_are_refused(edits: dict[str, BoneEdit], says: str) -> None:
    bones = ik_wolf("Root")
    with pytest.raises(BadInputError, match=says):
        edited_tree(bones, find_capture_tree(bones), edits, "bone_map.json")


def arm() -> ArmatureBones:
    rows: Rows = [("body", None, (0, 0, 1), 50), ("upperarm", "body", (0.1, 0, 1), 20)]
    rows += [("upperarm_twist_01", "upperarm", (0.25, 0, 1), 10), ("forearm", "upperarm", (0.4, 0, 1), 20)]
    rows += [("soft", "forearm", (0.4, 0.02, 1), 5), ("thumb_roll", "forearm", (0.6, -0.2, 1), 5)]
    skin = {name: (head, (head[0] + 0.1, head[1], head[2])) for name, _, head, _ in rows}
    return armature(rows, skin)


def test_twist_bones_and_bones_with_a_source_are_driven() -> None:
    bones = arm()
    found = find_driven(bones, {"soft": ("forearm", "body")})
    read = {bones.names[b]: [bones.names[s] for s in sources] for b, sources in found.items()}
    assert read == {"upperarm_twist_01": ["upperarm"], "soft": ["forearm", "body"]}


def test_bones_that_controls_move_or_that_carry_others_are_not_driven() -> None:
    bones = arm()
    quiet = replace(bones, names=tuple(n.replace("twist", "bone") for n in bones.names))
    assert not find_driven(quiet, {"upperarm": ("body",)})  # the forearm hangs on it
    control = replace(quiet, mass=np.where(np.array(quiet.names) == "body", 0.0, quiet.mass))
    assert not find_driven(control, {"soft": ("body",)})  # a bone without skin leads it
    circle = {"soft": ("thumb_roll",), "thumb_roll": ("soft",)}
    assert len(find_driven(quiet, circle)) == 1, "of two that follow each other one leads"


def test_the_file_comes_back_as_it_was_and_edits_alone_make_rig_stale(tmp_path: Path) -> None:
    paths = Project(tmp_path).creature("wolf")
    paths.assets.mkdir(parents=True)
    assert creature_values(REGISTRY["rig"], paths) == {}
    bones = (
        MappedBone("Hip", "captured", None),
        MappedBone("Twist", "driven", None, ("Hip",), "helper", "Follows Hip."),
    )
    written = BoneMap("Rig", bones, {"Twist": BoneEdit("captured", "Hip")})
    save_bone_map(paths.bone_map, replace(written, edits={}))
    assert creature_values(REGISTRY["rig"], paths) == {}
    save_bone_map(paths.bone_map, written)
    assert load_bone_map(paths.bone_map) == written and load_edits(paths.bone_map) == written.edits
    edits = {"Twist": {"state": "captured", "parent": "Hip"}}
    assert creature_values(REGISTRY["rig"], paths) == {"bone_map.json edits": edits}
    data = json.loads(paths.bone_map.read_text())
    data["edits"]["Twist"]["state"] = "free"
    paths.bone_map.write_text(json.dumps(data))
    with pytest.raises(BadInputError, match="captured, driven, left_out"):
        load_edits(paths.bone_map)
