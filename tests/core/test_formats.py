"""Schemas, atomic files, and errors that name file, key, value and remedy."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anymocap_addon.core import atomic
from anymocap_addon.core.creature import Creature, PaintGroup, load_creature, save_creature
from anymocap_addon.core.detections import Detections, load_detections, save_detections
from anymocap_addon.core.errors import AnyMoCapError, BadInputError
from anymocap_addon.core.formats import load_schema, read_json, schema_names, write_json_file
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.motion import Contact, Motion, load_motion, save_motion
from anymocap_addon.core.project import Project
from anymocap_addon.core.rig import RigInfo, load_rig_info, load_rig_spec, save_rig_info

FULL_CREATURE = {
    "name": "wolf",
    "prep": {"length_m": 1.4, "rotz_deg": 90.0, "axis": "y"},
    "layout": {"w_front": 420, "w_side": 860, "height_m": 1.9, "ground_v": 640, "cx": 0.1, "cy": -0.1},
    "paint": [{"name": "tail", "word": "magenta", "colour": [0.9, 0.1, 0.8], "bones": ["Tail1"]}],
    "feet": ["Foot.L"],
    "contacts": ["Foot.L_tip"],
    "prompt": {
        "name": "the wolf",
        "noun": "wolf",
        "describe": "grey",
        "colour_code": "legs",
        "count": "one",
        "flank": "right",
        "limbs": "four legs",
    },
    "showcase": {"camera": {"azimuth_deg": 40.0, "elevation_deg": 10.0, "zoom": 1.2}},
    "testpose": {"Tail1": [0, 0, 30]},
    "start_pose": {"Arm.L": [0, 0, -60]},
    "rigid": ["Head"],
    "fix_front_swaps": True,
    "artist_note": "kept",
}


def write(path: Path, data: object) -> Path:
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def test_every_creature_key_is_read(tmp_path: Path) -> None:
    creature = load_creature(write(tmp_path / "creature.json", FULL_CREATURE))
    assert (creature.prep.length_m, creature.prep.rotz_deg, creature.prep.axis) == (1.4, 90.0, "y")
    assert creature.layout == Layout(m_per_px=1.9 / 720, cx=0.1, cy=-0.1)
    assert creature.paint == (PaintGroup("tail", "magenta", (0.9, 0.1, 0.8), ("Tail1",)),)
    assert (creature.feet, creature.contacts) == (("Foot.L",), ("Foot.L_tip",))
    assert vars(creature.prompt) == FULL_CREATURE["prompt"]
    assert (creature.showcase.azimuth_deg, creature.showcase.elevation_deg, creature.showcase.zoom) == (40, 10, 1.2)
    assert creature.testpose == {"Tail1": (0, 0, 30)} and creature.start_pose == {"Arm.L": (0, 0, -60)}
    assert creature.rigid == ("Head",) and creature.fix_front_swaps is True


def test_creature_round_trips_and_keeps_unknown_keys(tmp_path: Path) -> None:
    path = write(tmp_path / "creature.json", FULL_CREATURE)
    creature = load_creature(path)
    save_creature(path, replace(creature, fix_front_swaps=False))
    assert load_creature(path) == replace(creature, fix_front_swaps=False)
    saved = json.loads(path.read_text())
    assert saved["artist_note"] == "kept" and saved["schema"] == "anymocap.creature/1"


def test_unknown_keys_are_ignored_everywhere(tmp_path: Path) -> None:
    extra = {"prep": {"length_m": 2.0, "x": 1}, "prompt": {"y": "z"}, "showcase": {"camera": {"fov": 3}}}
    creature = load_creature(write(tmp_path / "creature.json", {"name": "x", **extra}))
    assert creature.prep.length_m == 2.0


def test_defaults_need_only_a_name(tmp_path: Path) -> None:
    assert load_creature(write(tmp_path / "c.json", {"name": "x"})) == Creature(name="x")


@pytest.mark.parametrize(
    ("change", "key", "words"),
    [
        ({"prep": {"length_m": "long"}}, "prep.length_m", '"long"'),
        ({"prep": {"length_m": 0}}, "prep.length_m", "more than 0"),
        ({"prep": {"axis": "up"}}, "prep.axis", "x, y, z"),
        ({"feet": "Foot"}, "feet", "array"),
        ({"paint": [{"name": "a", "colour": [0, 0, 300], "bones": []}]}, "paint[0].colour[2]", "300"),
        ({"paint": [{"name": "a", "bones": []}]}, "paint[0].colour", "missing"),
        ({"start_pose": {"Arm": [1, 2]}}, "start_pose.Arm", "fewer"),
        ({"fix_front_swaps": 1}, "fix_front_swaps", "boolean"),
        ({"layout": {"w_front": 100, "w_side": 100}}, "layout", "add up"),
        ({"schema": "anymocap.creature/9"}, "schema", "Update"),
        ({"schema": "anymocap.motion/1"}, "schema", "another kind"),
        ({"name": None}, "name", "null"),
    ],
)
def test_wrong_values_are_named(tmp_path: Path, change: dict, key: str, words: str) -> None:
    path = write(tmp_path / "creature.json", {**FULL_CREATURE, **change})
    with pytest.raises(BadInputError) as caught:
        load_creature(path)
    assert caught.value.key == key
    assert str(path) in str(caught.value) and words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested"),
        ("", "empty"),
        ('{"name": "x"', "line 1"),
        ("[]", "top level"),
        ('{"name": NaN}', "NaN"),
    ],
)
def test_damaged_json_is_one_clear_error(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadInputError, match=words):
        load_creature(write(tmp_path / "creature.json", text))


def test_missing_file_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="Run the rig stage"):
        load_rig_info(tmp_path / "rig_info.json")


RIG = {
    "joints": {"a": [0, 0, 1], "b": [0, 0, 0.5], "c": [0, 0, 0]},
    "bones": [
        {"name": "low", "head": "b", "tail": "c", "parent": "up"},
        {"name": "up", "head": "a", "tail": "b", "parent": None},
    ],
    "limits_deg": {"low": [[-10, 10], [0, 0], [-5, 60]]},
}


def test_rig_spec_comes_back_parents_first(tmp_path: Path) -> None:
    spec = load_rig_spec(write(tmp_path / "rig.json", RIG))
    assert [bone.name for bone in spec.bones] == ["up", "low"]
    assert spec.limits_deg["low"][2] == (-5.0, 60.0)


@pytest.mark.parametrize(
    ("bones", "words"),
    [
        ([{"name": "x", "head": "a", "tail": "b", "parent": "ghost"}], "ghost"),
        (
            [
                {"name": "x", "head": "a", "tail": "b", "parent": "y"},
                {"name": "y", "head": "b", "tail": "c", "parent": "x"},
            ],
            "cycle: x -> y -> x",
        ),
        ([{"name": "x", "head": "a", "tail": "nowhere"}], "nowhere"),
        ([{"name": "x", "head": "a", "tail": "a"}], "no length"),
        ([{"name": "x", "head": "a", "tail": "b"}, {"name": "x", "head": "b", "tail": "c", "parent": "x"}], "Two"),
        ([{"name": "x", "head": "a", "tail": "b"}, {"name": "y", "head": "b", "tail": "c"}], "one root"),
    ],
)
def test_broken_hierarchies_are_named(tmp_path: Path, bones: list, words: str) -> None:
    with pytest.raises(BadInputError, match=words):
        load_rig_spec(write(tmp_path / "rig.json", {**RIG, "bones": bones}))


def test_rig_info_round_trips(tmp_path: Path, small_rig: RigInfo) -> None:
    path = tmp_path / "Größe 1" / "rig_info.json"
    save_rig_info(path, small_rig)
    loaded = load_rig_info(path)
    assert loaded.bones == small_rig.bones and loaded.keypoints == small_rig.keypoints
    assert np.allclose(loaded.rest, small_rig.rest) and np.allclose(loaded.limits_rad, small_rig.limits_rad)
    assert loaded.joint_groups == small_rig.joint_groups and loaded.armature_parents == small_rig.armature_parents


def test_rig_info_with_a_child_before_its_parent_is_refused(tmp_path: Path, small_rig: RigInfo) -> None:
    wrong = replace(small_rig, parents=np.array([-1, 2, 0, 0, 0, 0]))
    with pytest.raises(BadInputError, match="parents before children"):
        save_rig_info(tmp_path / "rig_info.json", wrong)


def motion(rig: RigInfo, frames: int = 4) -> Motion:
    quat = np.zeros((frames, 4))
    quat[:, 0] = 1
    zeros = np.zeros((frames, rig.J))
    return Motion(
        "small",
        "walk",
        24.0,
        rig.bones,
        np.zeros((frames, 3)),
        quat,
        np.zeros((frames, rig.B, 3)),
        rig.keypoints,
        np.zeros((frames, rig.J, 3)),
        zeros,
        zeros,
        contacts=[Contact("leg_L_tip", 0, 3)],
    )


def test_motion_round_trips(tmp_path: Path, small_rig: RigInfo) -> None:
    saved = motion(small_rig)
    saved.euler[2, 1] = [0.1, -0.2, 0.3]
    save_motion(tmp_path / "motion.json", saved)
    loaded = load_motion(tmp_path / "motion.json")
    assert np.allclose(loaded.euler, saved.euler) and loaded.contacts == saved.contacts and loaded.T == 4


def test_motion_with_nan_is_never_written(tmp_path: Path, small_rig: RigInfo) -> None:
    bad = motion(small_rig)
    bad.trans[1, 1] = np.nan
    with pytest.raises(BadInputError, match="trans"):
        save_motion(tmp_path / "motion.json", bad)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", ["true", "null", '"1"', "1e999", "[1.0]"])
def test_one_wrong_number_in_a_row_of_many_is_named(tmp_path: Path, small_rig: RigInfo, wrong: str) -> None:
    path = tmp_path / "motion.json"
    save_motion(path, motion(small_rig))
    data = json.loads(path.read_text("utf-8"))
    data["joints"][2][1][1] = "HERE"
    path.write_text(json.dumps(data).replace('"HERE"', wrong), "utf-8")
    with pytest.raises(BadInputError, match=r"joints\[2\]\[1\]\[1\].*number"):
        load_motion(path)


def detections(frames: int = 5, joints: int = 3) -> Detections:
    uv, conf = np.ones((frames, joints, 2)), np.ones((frames, joints))
    names = tuple("abc"[:joints])
    return Detections(names, uv, uv, conf, conf, 24.0, np.arange(frames) / 24, np.eye(3)[:2], "clip.mp4")


def test_detections_round_trip_and_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "det.npz"
    save_detections(path, detections())
    loaded = load_detections(path)
    assert loaded.names == ("a", "b", "c") and loaded.video == "clip.mp4" and loaded.T == 5
    bad = detections()
    bad.side_conf = np.ones((5, 4))
    with pytest.raises(BadInputError, match=r"side_conf: has shape \(5, 4\), not TxJ"):
        save_detections(path, bad)
    bad = detections()
    bad.front_uv = bad.front_uv.copy()
    bad.front_uv[2, 1, 0] = np.nan
    with pytest.raises(BadInputError, match=r"front_uv: is not finite at index \[2, 1, 0\]"):
        save_detections(path, bad)


def test_truncated_npz_is_one_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "det.npz"
    save_detections(path, detections())
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(BadInputError, match="truncated"):
        load_detections(path)


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "det.npz"
    np.savez(path, names=np.array([{"a": 1}], dtype=object))
    with pytest.raises(BadInputError):
        load_detections(path)


def test_full_disk_keeps_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    atomic.write_json(path, {"old": 1})

    def full(_: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic, "_flush_to_disk", full)
    with pytest.raises(AnyMoCapError, match="disk is full"):
        atomic.write_json(path, {"new": 2})
    assert json.loads(path.read_text()) == {"old": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]


def test_failure_while_writing_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), atomic.replacing(tmp_path / "x.bin") as temporary:
        temporary.write_bytes(b"half")
        raise RuntimeError("killed")
    assert list(tmp_path.iterdir()) == []


def test_every_schema_is_sound() -> None:
    for name in schema_names():
        schema = load_schema(name)
        assert schema["x-schema"] == f"anymocap.{name}/1"
        assert ("arrays" in schema) or set(schema["required"]) <= set(schema["properties"])


def test_files_are_stamped(tmp_path: Path) -> None:
    write_json_file(tmp_path / "j.json", "joints", {"names": ["a"], "joints": [[[0, 0, 0]]], "fps": 24})
    data = read_json(tmp_path / "j.json", "joints")
    assert data["schema"] == "anymocap.joints/1" and data["anymocap_version"]


@pytest.mark.parametrize("name", ["", "..", "a/b", "a:b", " a", "a."])
def test_names_that_are_no_folders_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInputError, match="folder"):
        Project(tmp_path).creature(name)


def test_unicode_names_are_fine(tmp_path: Path) -> None:
    assert Project(tmp_path).creature("Füchsin 狐").runs.name == "Füchsin 狐"


@pytest.mark.parametrize("name", ["x" * 250, "é" * 120])
def test_names_that_leave_no_room_for_longer_ones_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInputError, match="cannot be a folder's name"):
        Project(tmp_path).creature("a").clip(name)


@pytest.mark.parametrize("folder", ["~nobody-of-this-name/x", "a\0b"])
def test_a_project_folder_that_cannot_be_one_is_one_clear_error(folder: str) -> None:
    with pytest.raises(BadInputError, match="cannot be one"):
        Project(Path(folder))


def test_a_number_of_thousands_of_digits_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="is not valid JSON"):
        read_json(write(tmp_path / "motion.json", '{"fps": ' + "1" * 5000 + "}"), "motion")


def small_reading() -> dict[str, np.ndarray]:
    uv, conf = np.arange(24.0).reshape(3, 4, 2), np.full((3, 4), 0.5)
    return {
        "names": np.array(list("abcd")), "front_uv": uv, "side_uv": uv, "front_conf": conf, "side_conf": conf,
        "fps": np.array(24.0), "pts": np.arange(3) / 24, "calib": np.eye(2, 3), "notes": np.array("{}"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"calib": np.zeros((2, 3))}, "calib: lays"),
        ({"calib": np.array([[1.0, 2, 0], [2, 4, 0]])}, "calib: lays"),
        ({"notes": np.array("{oops")}, "notes: is not JSON"),
        ({"notes": np.array("[1]")}, "notes: is no object"),
        (
            {key: small_reading()[key][:0] for key in ("front_uv", "side_uv", "front_conf", "side_conf", "pts")},
            "no frames",
        ),
    ],
)
def test_a_reading_that_nothing_can_be_drawn_from_is_one_clear_error(tmp_path: Path, changes: dict, words: str) -> None:
    np.savez(tmp_path / "det.npz", **{**small_reading(), **changes})
    with pytest.raises(BadInputError, match=words):
        load_detections(tmp_path / "det.npz")


def test_an_npz_with_a_damaged_byte_is_one_clear_error(tmp_path: Path) -> None:
    file = tmp_path / "det.npz"
    np.savez_compressed(file, **small_reading())
    whole = file.read_bytes()
    load_detections(file)
    for place in range(40, len(whole) - 100):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            load_detections(file)
        except BadInputError:
            continue
