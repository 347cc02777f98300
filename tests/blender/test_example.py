"""The example that comes with the add-on: it fits the built-in creature as it is made today, and its figures hold."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from anymocap_addon.core.creature import load_creature
from anymocap_addon.core.detections import load_detections
from anymocap_addon.core.errors import AnyMoCapError
from anymocap_addon.core.file_mark import file_sha256
from anymocap_addon.core.formats import read_json
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.core.rig import load_rig_info
from anymocap_addon.core.stage_record import load_record, save_record
from anymocap_addon.jobs.example import CLIP, EXAMPLE_FOLDER, example_creature, example_plan, place_example
from anymocap_addon.jobs.plan import PlanRun
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.registry import REGISTRY
from anymocap_addon.jobs.stage_run import StageRun
from anymocap_addon.jobs.state import stage_state
from anymocap_addon.ops import example_operators
from anymocap_addon.ops.preference_values import PreferenceValues
from anymocap_addon.registration import register_all, unregister_all

from .bpy_end import END_WELL

pytestmark = pytest.mark.needs_torch  # the example is fitted

REPOSITORY = Path(__file__).resolve().parents[2]
TRUTH = REPOSITORY / "tests" / "data" / "example_truth.npz"
STORY = read_json(EXAMPLE_FOLDER / "example.json", "example")


def drive(run: PlanRun | StageRun) -> None:
    for event in run:
        if event is None:
            time.sleep(0.02)


@pytest.fixture(scope="module")
def tried(tmp_path_factory) -> CreaturePaths:
    """The example's plan run to its end, in a folder with spaces and odd letters."""
    paths = example_creature(Project(tmp_path_factory.mktemp("Übung 1")))
    pool = Pool()
    plan = PlanRun(paths, example_plan(paths, 180), pool=pool)
    drive(plan)
    assert [result.stage for result in plan.results] == "example prep rig ref fit preview".split()
    pool.close()
    return paths


@pytest.fixture
def copy(tried: CreaturePaths, tmp_path: Path) -> CreaturePaths:
    shutil.copytree(tried.root, tmp_path / "copy")
    return Project(tmp_path / "copy").creature(tried.name)


def test_the_shipped_files_are_small_and_belong_together():
    sizes = {path.name: path.stat().st_size for path in EXAMPLE_FOLDER.iterdir()}
    assert set(sizes) == {"clip.mp4", "overlay.mp4", "det.npz", "example.json"}
    assert sizes["clip.mp4"] <= 400_000 and sum(sizes.values()) <= 800_000
    assert file_sha256(EXAMPLE_FOLDER / "clip.mp4") == STORY["clip_sha256"]
    det = load_detections(EXAMPLE_FOLDER / "det.npz")
    assert 48 <= det.T <= 72 and STORY["reading"]["frames"] == det.T


@pytest.mark.slow
def test_reading_and_built_in_creature_are_one(tried):
    rig = load_rig_info(tried.rig_info)
    assert load_detections(EXAMPLE_FOLDER / "det.npz").names == rig.keypoints
    assert rig.body_length == pytest.approx(STORY["body_length_m"], abs=1e-4)
    layout = load_creature(tried.creature_json).layout
    assert layout is not None and vars(layout) == pytest.approx(STORY["layout"], rel=1e-4, abs=1e-4)


@pytest.mark.slow
def test_the_fit_is_near_the_truth_and_feet_stand(copy):
    copy.exam(CLIP).folder.mkdir(parents=True)
    shutil.copy(TRUTH, copy.exam(CLIP).truth)
    pool = Pool()
    drive(StageRun(copy, REGISTRY["report"], {"clip": CLIP, "kind": "exam"}, pool=pool))
    pool.close()
    report = read_json(copy.clip(CLIP).report_json, "report")
    assert report["has_truth"] and report["frames"] == STORY["reading"]["frames"]
    assert report["fit"]["mean_pct_body"] < 1.2
    assert report["fit"]["slide_mm_per_frame"] < 2.0
    assert report["reader"]["median_px"] < 5.0


@pytest.mark.slow
def test_every_stage_says_ready_and_the_reading_says_where_it_is_from(tried):
    for name, item in [
        ("prep", None),
        ("rig", None),
        ("ref", None),
        ("detect", CLIP),
        ("fit", CLIP),
        ("preview", CLIP),
    ]:
        state = stage_state(REGISTRY, tried, REGISTRY[name], item)
        assert (name, state.word, state.because) == (name, "ready", "")
    record = load_record(tried, "detect", CLIP)
    assert record is not None and record.result["came_with"] == "the example"
    assert record.result["frames"] == STORY["reading"]["frames"]
    det = load_detections(tried.clip(CLIP).det)
    assert (tried.root / det.video).is_file() and not Path(det.video).is_absolute()
    assert stage_state(REGISTRY, tried, REGISTRY["train"]).word == "missing"


@pytest.mark.slow
def test_trying_again_does_nothing_twice(tried):
    pool = Pool()
    plan = PlanRun(tried, example_plan(tried, 180), pool=pool)
    drive(plan)
    pool.close()
    assert all(result.skipped for result in plan.results)


@pytest.mark.slow
def test_a_new_reader_makes_the_reading_stale_and_an_own_reading_stays(copy):
    copy.reader_pt.write_bytes(b"a reader")
    state = stage_state(REGISTRY, copy, REGISTRY["detect"], CLIP)
    assert (state.word, state.because) == ("stale", "runs/lynx/reader.pt is new")
    record = load_record(copy, "detect", CLIP)
    assert record is not None
    del record.result["came_with"]
    save_record(copy, record)
    copy.clip(CLIP).det.write_bytes(b"read by an own reader")
    place_example(copy)
    assert copy.clip(CLIP).det.read_bytes() == b"read by an own reader"


@pytest.mark.slow
def test_a_changed_creature_is_refused_before_anything_is_placed(copy):
    shutil.rmtree(copy.clip(CLIP).folder)
    data = json.loads(copy.creature_json.read_text("utf-8"))
    data["layout"]["m_per_px"] *= 1.01
    copy.creature_json.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(AnyMoCapError, match="no longer shows it"):
        place_example(copy)
    assert not copy.clip(CLIP).folder.exists()


def test_an_artist_s_own_lynx_is_left_alone(tmp_path):
    own = tmp_path / "assets" / "lynx"
    own.mkdir(parents=True)
    assert example_creature(Project(tmp_path)).name == "lynx 2"


def test_keypoints_of_the_truth_are_those_of_the_reading():
    with np.load(TRUTH) as truth:
        assert tuple(truth["names"]) == load_detections(EXAMPLE_FOLDER / "det.npz").names


@pytest.fixture
def addon():
    """The add-on registered in a new file: Blender's own, with the cube where the creature will stand."""
    bpy.ops.wm.read_factory_settings()
    register_all()
    yield
    unregister_all()
    bpy.ops.wm.read_factory_settings(use_empty=True)


@pytest.mark.slow
def test_the_operator_goes_from_a_new_file_to_a_creature_to_scrub(addon, copy):
    """Without a window it runs to its end, here on files that are there already."""
    assert bpy.ops.anymocap.try_example(project=str(copy.root)) == {"FINISHED"}
    scene = bpy.context.scene
    settings = scene.anymocap
    assert (settings.creature, settings.clip) == ("lynx", CLIP)
    assert Path(settings.project) == copy.root and settings.overlay.show
    armature = settings.armature
    assert armature is not None and armature.name in scene.objects
    assert armature.animation_data.action.name == f"lynx_{CLIP}"
    assert (scene.frame_start, scene.frame_end, scene.frame_current) == (1, STORY["reading"]["frames"], 1)
    assert not bpy.data.objects["Cube"].visible_get(), "it stands in the creature's place"
    assert bpy.data.objects["Light"].visible_get()
    foot = armature.pose.bones["foot_L"]
    heights = []
    for frame in (1, 10, 20, 30):
        scene.frame_set(frame)
        heights.append((armature.matrix_world @ foot.tail).z)
    assert np.ptp(heights) > 0.01, "it walks"


@pytest.mark.slow
def test_the_operator_a_second_time_changes_nothing_but_the_action(addon, copy):
    for _ in range(2):
        assert bpy.ops.anymocap.try_example(project=str(copy.root)) == {"FINISHED"}
    assert [o.name for o in bpy.context.scene.objects if o.type == "ARMATURE"] == ["lynx_rig"]
    assert len([action for action in bpy.data.actions if action.name.startswith(f"lynx_{CLIP}")]) == 1


@pytest.mark.slow
def test_a_broken_example_is_one_clear_error_and_changes_nothing(addon, copy):
    shutil.rmtree(copy.clip(CLIP).folder)
    (copy.stages / f"fit.{CLIP}.json").unlink()
    data = json.loads(copy.creature_json.read_text("utf-8"))
    data["layout"]["m_per_px"] *= 1.01
    copy.creature_json.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"no longer shows it\. Try the example in another project folder"):
        bpy.ops.anymocap.try_example(project=str(copy.root))
    assert bpy.data.objects["Cube"].visible_get() and not bpy.data.armatures


def test_a_scene_that_names_a_project_keeps_it(addon, tmp_path, monkeypatch):
    """Whose project it is: the scene's before the preferences'."""
    assert example_operators._own_project(bpy.context) is None
    values = PreferenceValues(project_folder=str(tmp_path / "preferred"))
    monkeypatch.setattr(example_operators, "preference_values", lambda context: values)
    assert example_operators._own_project(bpy.context) == Project(tmp_path / "preferred")
    bpy.context.scene.anymocap.project = str(tmp_path / "scene")
    assert example_operators._own_project(bpy.context) == Project(tmp_path / "scene")


def test_without_a_project_the_example_lies_in_a_folder_that_uninstalling_leaves(tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    assert example_operators._default_folder() == tmp_path / "AnyMoCap" / "example"
    (tmp_path / "Documents").mkdir()
    assert example_operators._default_folder() == tmp_path / "Documents" / "AnyMoCap" / "example"


def run_script(*arguments: Path) -> subprocess.CompletedProcess[str]:
    """docs/headless.py with the add-on enabled, as `blender -b --addons … --python` does it."""
    code = (
        "import sys, runpy, bpy; sys.path.insert(0, sys.argv[1]); import anymocap_addon; anymocap_addon.register()\n"
        "script = sys.argv[2]; sys.argv = ['blender', '--', *sys.argv[3:]]\n"
        "try: runpy.run_path(script)\n"
        "finally: anymocap_addon.unregister()\n"  # Blender does that at its end, bpy as a module does not
        f"{END_WELL}"
    )
    command = [sys.executable, "-c", code, REPOSITORY, REPOSITORY / "docs" / "headless.py", *arguments]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_script_of_the_docs_leaves_one_file_a_creature(copy, tmp_path):
    ended = run_script(copy.root, tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    assert "lynx example: lynx example" in ended.stdout
    with bpy.data.libraries.load(str(tmp_path / "out" / "lynx.blend")) as (held, _):
        assert "lynx example" in held.actions and "lynx_rig" in held.objects


@pytest.mark.slow
def test_the_script_of_the_docs_ends_with_the_panel_s_message(copy, tmp_path):
    copy.clip(CLIP).det.write_bytes(copy.clip(CLIP).det.read_bytes()[:1000])
    ended = run_script(copy.root, tmp_path / "out")
    assert ended.returncode != 0
    assert "det.npz: is truncated or not an .npz file" in ended.stderr


class PretendedPlan:
    """What the watch sees of a plan in the queue."""

    def __init__(self, paths: CreaturePaths, *words: str) -> None:
        self.plan = SimpleNamespace(paths=paths)
        self.stages = [SimpleNamespace(word=word) for word in words]
        self.at_work = False


@pytest.mark.parametrize("words", [("done", "failed"), ("done", "cancelled"), ("done", "done")])
def test_the_watch_ends_when_there_is_nothing_to_show_or_nobody_to_see_it(addon, tmp_path, words):
    """A failed plan, and one that ended well while no window shows the creature any more."""
    watch = example_operators.ExampleWatch()
    watch.follow(PretendedPlan(Project(tmp_path).creature("lynx"), *words))
    assert watch.at_work
    watch.tick()
    assert not watch.at_work and not bpy.data.armatures


def test_the_watch_waits_while_the_plan_is_at_work(addon, tmp_path):
    plan = PretendedPlan(Project(tmp_path).creature("lynx"), "done", "running")
    plan.at_work = True
    watch = example_operators.ExampleWatch()
    watch.follow(plan)
    watch.tick()
    assert watch.at_work
