"""The panel asks which way a creature faces before anything is built upon it, and goes on once it was told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import bpy
import pytest
from blender.recorded_layout import RecordedLayout, sidebar_context

import anymocap_addon
from anymocap_addon.core.creature import Facing, load_creature
from anymocap_addon.core.project import CreaturePaths, Project

from .test_checkup import walker


@pytest.fixture(scope="module", autouse=True)
def enabled():
    bpy.ops.wm.read_homefile(use_empty=True)
    anymocap_addon.register()
    yield
    anymocap_addon.unregister()


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    """The project's creature is the walker of the open scene, which faces +X."""
    rig, mesh = walker()
    rig.rotation_euler.z = 1.5707963
    mesh.select_set(True)
    bpy.context.view_layer.objects.active = mesh
    bpy.context.scene.anymocap.project = str(tmp_path)
    assert bpy.ops.anymocap.add_creature_from_scene() == {"FINISHED"}
    yield Project(tmp_path).creature(bpy.context.scene.anymocap.creature)
    settings = bpy.context.scene.anymocap
    settings.creature = settings.project = ""


def draw() -> RecordedLayout:
    states().refresh(bpy.context)
    layout = RecordedLayout()
    sys.modules["anymocap_addon.ui.panels.main_panel"].draw_panel(layout, sidebar_context(900))
    return layout


def states() -> Any:
    return sys.modules["anymocap_addon.ops.states"].STATES


def test_the_question_comes_first_and_its_answer_leads_on(paths: CreaturePaths) -> None:
    seen = draw()
    assert "Next: check the creature and say which way it faces" in seen.words
    assert [name for name, closed in seen.panels.items() if not closed][:1] == ["ANYMOCAP_1_next"]
    assert bpy.ops.anymocap.check_creature() == {"FINISHED"}
    seen = draw()
    assert "Next: say which way it faces" in seen.words and "Which way does it look?" in seen.words
    opened = [said.given["filepath"] for said in seen.said if said.text == "Open the Picture"]
    assert str(paths.facing_png) in opened and paths.facing_png.exists()
    assert bpy.ops.anymocap.set_facing(how="SUGGESTED") == {"FINISHED"}
    assert "Next: say which way it faces" in draw().words, "a suggestion that is taken is looked at first"
    assert bpy.ops.anymocap.set_facing(how="CONFIRM") == {"FINISHED"}
    assert load_creature(paths.creature_json).facing_confirmed == Facing("z", pytest.approx(-90.0))
    seen = draw()
    assert "Next: bring the mesh to size" in seen.words and "Facing: confirmed" in seen.words
    assert bpy.ops.anymocap.set_facing(how="TURN", degrees=90.0) == {"FINISHED"}
    assert "Next: say which way it faces" in draw().words, "it was turned since"
