"""The add-on in Blender: registers, unregisters, and its operators are the registry's stages."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import bpy
import pytest
from tiny_stages import TINY

import anymocap_addon
from anymocap_addon.core.project import Project
from anymocap_addon.jobs.alive import process_alive
from anymocap_addon.jobs.registry import REGISTRY
from anymocap_addon.jobs.stage_run import StageRun

from .bpy_end import END_WELL

REPOSITORY = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "cv2", "transformers", "fal_client", "httpx")


@pytest.fixture
def enabled() -> Iterator[None]:
    bpy.ops.wm.read_factory_settings(use_empty=True)  # an unsaved file, whatever other tests opened
    anymocap_addon.register()
    yield
    bpy.context.scene.anymocap.property_unset("project")
    bpy.context.scene.anymocap.property_unset("creature")
    anymocap_addon.unregister()


@pytest.fixture
def scene_creature(enabled, tmp_path: Path) -> Path:
    """A project that the scene names, without any file yet."""
    bpy.context.scene.anymocap.project = str(tmp_path)
    bpy.context.scene.anymocap.creature = "c"
    return tmp_path


def test_every_stage_has_an_operator_with_its_settings(enabled):
    assert set(REGISTRY.names()) <= set(dir(bpy.ops.anymocap))
    for stage in REGISTRY:
        properties = getattr(bpy.ops.anymocap, stage.name).get_rna_type().properties
        assert {setting.name for setting in stage.settings} == set(properties.keys()) - {"rna_type"}
        for setting in stage.settings:
            if setting.choices:
                words = [item.identifier.replace("AUTO", "") for item in properties[setting.name].enum_items]
                assert words == [choice.replace("AUTO", "") for choice in setting.choices]


def test_polls_are_booleans_that_say_why(enabled, tmp_path):
    operators = [getattr(bpy.ops.anymocap, name) for name in REGISTRY.names()]
    assert [operator.poll() for operator in operators] == [False] * len(operators)
    with pytest.raises(RuntimeError, match="Choose project folder and creature first"):
        bpy.ops.anymocap.prep()
    bpy.context.scene.anymocap.project = str(tmp_path)
    bpy.context.scene.anymocap.creature = "c"
    assert [operator.poll() for operator in operators] == [True] * len(operators)


def test_only_apply_makes_an_undo_step(enabled):
    classes = {
        cls.bl_idname: cls for cls in sys.modules["anymocap_addon.registration"].CLASSES if hasattr(cls, "stage")
    }
    undone = [name for name, cls in classes.items() if "UNDO" in cls.bl_options]
    assert undone == ["anymocap.apply"]


def test_operators_report_bad_input_in_one_sentence(scene_creature):
    with pytest.raises(RuntimeError, match=r"model\.glb: prep needs this file, which does not exist\."):
        bpy.ops.anymocap.prep()
    with pytest.raises(RuntimeError, match="No clip is chosen"):
        bpy.ops.anymocap.fit()
    bpy.context.scene.anymocap.project = "//mocap"
    with pytest.raises(RuntimeError, match="save the file first"):
        bpy.ops.anymocap.rig()


def test_an_object_of_the_open_scene_is_prepped_and_stays(scene_creature):
    mesh = bpy.data.meshes.new("block")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 4, 0), (0, 0, 2)], [], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
    block = bpy.data.objects.new("block", mesh)
    bpy.context.scene.collection.objects.link(block)
    objects, place = set(bpy.data.objects.keys()), block.matrix_world.copy()
    with pytest.raises(RuntimeError, match="no object 'ghost'"):
        bpy.ops.anymocap.prep(object="ghost")
    assert bpy.ops.anymocap.prep(object="block", length_m=2.0) == {"FINISHED"}
    assert (scene_creature / "assets" / "c" / "prep" / "static.blend").stat().st_size > 0
    assert set(bpy.data.objects.keys()) == objects and block.matrix_world == place
    bpy.data.objects.remove(block)


@pytest.mark.needs_assets
def test_operator_and_command_line_do_the_same(scene_creature, assets_dir):
    model = scene_creature / "assets" / "c" / "model.glb"
    model.parent.mkdir(parents=True)
    shutil.copy(assets_dir / "creatures" / "Fox.glb", model)
    objects = set(bpy.data.objects.keys())
    assert bpy.ops.anymocap.prep(length_m=1.25) == {"FINISHED"}
    assert set(bpy.data.objects.keys()) == objects, "the stage ran elsewhere; this scene is untouched"
    command = [sys.executable, "-m", "anymocap_addon", "prep", "--project", str(scene_creature), "--length-m", "1.25"]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ended.returncode == 0 and "already done" in ended.stderr


def test_an_enabled_add_on_has_loaded_nothing_heavy():
    code = (
        "import sys, bpy, anymocap_addon; anymocap_addon.register();"
        "print([getattr(bpy.ops.anymocap, name).poll() for name in dir(bpy.ops.anymocap)]);"
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules]);"
        "anymocap_addon.unregister(); anymocap_addon.register(); anymocap_addon.unregister();"
        "print(hasattr(bpy.types.Scene, 'anymocap'), 'anymocap.registration' in sys.modules);"
        f"{END_WELL}"
    )
    command = [sys.executable, "-c", code]
    ended = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "HEAVY []" in ended.stdout and "False False" in ended.stdout


def test_the_timer_steps_a_stage_without_blocking_and_disabling_ends_it(scene_creature):
    """Timers do not fire in a Blender without a window, so the test calls what the timer calls."""
    host = sys.modules["anymocap_addon.ops.running"].HOST
    paths = Project(scene_creature).creature("c")
    quick = host.start(StageRun(paths, TINY["slow"], {"seconds": 0.5}, pool=host.pool, registry=TINY))
    assert bpy.app.timers.is_registered(host.timer)
    longest = tick_until(host, lambda: not quick.at_work)
    assert quick.word == "done" and quick.error is None and quick.fraction == 1.0
    assert longest < 0.5, "a tick froze the window"
    bad = host.start(StageRun(paths, TINY["misbehave"], {"how": "bad_input"}, pool=host.pool, registry=TINY))
    tick_until(host, lambda: not bad.at_work)
    assert "The thing is bent." in str(bad.error)
    endless = host.start(StageRun(paths, TINY["slow"], {"seconds": 600.0}, pool=host.pool, registry=TINY))
    tick_until(host, lambda: endless.total > 0)
    pid = endless.run.job.read()["processes"][0]["pid"]
    host.close()
    assert not process_alive(pid) and not bpy.app.timers.is_registered(host.timer)


def tick_until(host, reached, patience_s: float = 30.0) -> float:
    """Call what Blender's timer calls; returns the longest call in seconds."""
    longest, end = 0.0, time.monotonic() + patience_s
    while not reached():
        assert time.monotonic() < end, "it never came"
        began = time.monotonic()
        host.timer()
        longest = max(longest, time.monotonic() - began)
        time.sleep(0.02)
    return longest
