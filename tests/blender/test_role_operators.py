"""Body parts are edited from the panel and kept in creature.json; the frame is found anew by a button."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import pytest

import anymocap_addon
from anymocap_addon.core.creature import Creature, load_creature
from anymocap_addon.core.layout import Layout
from anymocap_addon.core.rig import RigInfo, save_rig_info
from anymocap_addon.ops.role_operators import bones_by_part, is_sought

from .small_creature import context, painted, write_small_creature


@pytest.fixture
def paths(tmp_path: Path, small_rig: RigInfo):
    layout = Layout(w_front=400, w_side=880, ground_v=560, m_per_px=0.0022)
    write_small_creature(tmp_path, small_rig, Creature(name="small", layout=layout, paint=painted(small_rig)))
    paths = context(tmp_path, "ref").paths
    bpy.ops.wm.read_homefile(use_empty=True)
    anymocap_addon.register()
    settings = bpy.context.scene.anymocap
    settings.project, settings.creature = str(paths.root), paths.name
    yield paths
    settings.creature = settings.project = ""
    anymocap_addon.unregister()


def test_a_bone_is_given_a_part_and_back_to_what_was_found(paths) -> None:
    assert bpy.ops.anymocap.set_body_part(bone="leg_L", part="left_wing") == {"FINISHED"}
    assert load_creature(paths.creature_json).roles == {"leg_L": "left_wing"}
    assert bpy.ops.anymocap.set_body_part(bone="leg_L", part="AS_FOUND") == {"FINISHED"}
    assert load_creature(paths.creature_json).roles == {}
    with pytest.raises(RuntimeError, match="Did you mean"):
        bpy.ops.anymocap.set_body_part(bone="leg_l", part="left_leg")


def test_bones_are_listed_by_part_with_the_artists_marked(small_rig: RigInfo) -> None:
    parts = tuple("left_leg" if bone == "leg_L" else "spine" for bone in small_rig.bones)
    rows = bones_by_part(replace(small_rig, bone_parts=parts), {"leg_L": "left_leg"})
    assert rows[0] == ("leg_L", "left leg", "left_leg") and rows[1] == ("hips", "spine", "") and len(rows) == 6
    assert len(bones_by_part(small_rig, {})) == 6, "rigs of earlier versions have no parts"


@pytest.mark.parametrize(("search", "found"), [("", True), ("LEFT thigh", True), ("leg", True), ("right", False)])
def test_the_search_looks_into_bones_and_parts(search: str, found: bool) -> None:
    assert is_sought("DEF-thigh.L", "left leg", search) is found


def test_frame_anew_finds_the_layout_again(paths, small_rig: RigInfo) -> None:
    save_rig_info(paths.rig_info, small_rig)
    before = load_creature(paths.creature_json).layout
    assert bpy.ops.anymocap.frame_anew() == {"FINISHED"}
    assert load_creature(paths.creature_json).layout != before and paths.ref_png.exists()
