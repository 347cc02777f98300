"""The panel in every state: what it says, that its buttons exist, that a draw reads no file and never raises."""

from __future__ import annotations

import builtins
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import bpy
import pytest
from blender.recorded_layout import RecordedLayout, sidebar_context
from pretended import pretend_creature, pretend_run

import anymocap_addon
from anymocap_addon.core.clip_source import add_clip, clip_video
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.jobs.next_step import Situation, next_step
from anymocap_addon.jobs.registry import REGISTRY


@pytest.fixture(scope="module", autouse=True)
def enabled():
    bpy.ops.wm.read_homefile(use_empty=True)
    anymocap_addon.register()
    yield
    anymocap_addon.unregister()


@pytest.fixture
def paths(tmp_path: Path) -> CreaturePaths:
    return Project(tmp_path / "my project").creature("fox")


@pytest.fixture
def scene(paths) -> Any:
    """A scene that names the project, and takes it back afterwards."""
    settings = bpy.context.scene.anymocap
    paths.root.mkdir()
    settings.project = str(paths.root)
    yield settings
    settings.clip = settings.move = settings.creature = settings.project = ""


def states() -> Any:
    return sys.modules["anymocap_addon.ops.states"].STATES


def draw(width: int = 291) -> RecordedLayout:
    panel = sys.modules["anymocap_addon.ui.panels.main_panel"]
    layout = RecordedLayout()
    panel.draw_panel(layout, sidebar_context(width))
    return layout


def test_a_first_time_user_sees_an_example_and_one_way_to_begin():
    bpy.context.scene.anymocap.project = ""
    seen = draw()
    assert seen.operators() == ["anymocap.try_example"]
    assert "from the front and from" in seen.words and "Add Creature" in seen.words
    assert not seen.panels, "nothing else that confuses"


def test_packages_that_the_worker_lacks_are_told_first(scene, monkeypatch):
    lack = sys.modules["anymocap_addon.ops.worker_lack"]
    monkeypatch.setattr(lack, "_missing", lambda: ("torch", "cv2"))
    assert "lacks torch, cv2." in draw().words.replace("  ", " ")
    monkeypatch.setattr(lack, "_missing", lambda: ())
    assert "lacks" not in draw().words


def test_a_folder_beside_an_unsaved_file_is_explained(scene):
    scene.project = "//mocap"
    assert "save the file first" in draw().words.replace("  ", " ")


def test_every_section_tells_its_state_and_only_the_next_is_open(scene, paths):
    pretend_creature(paths, upto="ref")
    scene.creature = "fox"
    states().refresh(bpy.context)
    seen = draw()
    assert [name for name, closed in seen.panels.items() if not closed] == ["ANYMOCAP_4_next"]
    assert "Next: draw the training poses, about" in seen.words
    assert "24 bones, 24 joints, 2 limbs painted" in seen.words and "1.50 m long" in seen.words
    headers = [said.text for said in seen.said if said.text in ("missing", "ready")]
    assert headers.count("ready") == 3 and headers.count("missing") >= 4


@pytest.mark.parametrize("width", [120, 291, 800])
def test_all_states_draw_at_every_width(scene, paths, tmp_path, width):
    pretend_creature(paths)
    (tmp_path / "ümläut.mp4").write_bytes(b"clip")
    add_clip(paths, "walk", tmp_path / "ümläut.mp4")
    for name in ("detect", "fit", "apply", "report"):
        pretend_run(paths, name, "walk")
    pretend_run(paths, "rig", outcome="failed", error={"kind": "BadInputError", "message": "No bone moves a vertex."})
    scene.creature = "fox"
    assert scene.clip == "walk"
    states().refresh(bpy.context)
    seen = draw(width)
    assert "No bone" in seen.words and "anymocap.open_log" in seen.operators()
    assert "Out of date: Rig failed." in seen.words or width == 120
    assert "Next: rig the creature" in seen.words or width == 120


def test_a_creature_without_a_mesh_is_given_one_in_prep(scene, paths):
    paths.assets.mkdir(parents=True)
    scene.creature = "fox"
    states().refresh(bpy.context)
    seen = draw()
    assert "Next: choose the creature's mesh" in seen.words and "no mesh yet" in seen.words
    assert [name for name, closed in seen.panels.items() if not closed] == ["ANYMOCAP_1_next"]


def test_a_poor_reader_bears_a_warning_and_is_trained_again(scene, paths):
    pretend_creature(paths)
    pretend_run(paths, "train", result={"median_px": 212.5})
    scene.creature = "fox"
    states().refresh(bpy.context)
    seen = draw(800)
    assert "Next: train the reader again" in seen.words and "doubtful" in [said.text for said in seen.said]
    told = [said for said in seen.said if said.text.startswith("212 px off on unseen poses: too far off")]
    assert [said.icon for said in told] == ["NONE", "ERROR"], "below Next, and in its section"
    assert "length: long" in seen.words, "the remedy"
    again = [said for said in seen.said if said.text == "Train Again"]
    assert [(said.idname, said.given) for said in again] == [("anymocap.run_again", {"stage": "train"})]
    assert "anymocap.test_reader" in seen.operators() and "anymocap.add_clip" in seen.operators(), "nothing is blocked"


def test_a_poor_capture_bears_a_warning_up_to_its_take(scene, paths, tmp_path):
    pretend_creature(paths)
    (tmp_path / "walk.mp4").write_bytes(b"clip")
    add_clip(paths, "walk", tmp_path / "walk.mp4")
    poor = {"detect": {"frames": 51, "confidence_mean": 0.01}, "fit": {"frames": 51, "reproj_px": 187.8}}
    for name in ("detect", "fit"):
        pretend_run(paths, name, "walk", result=poor[name])
    pretend_run(paths, "apply", "walk")
    scene.creature = "fox"
    states().refresh(bpy.context)
    looks = sys.modules["anymocap_addon.ui.stage_look"]
    found = {name: looks.stage_look(states().of(bpy.context), name) for name in ("train", "detect", "fit")}
    assert {name: (look.short, look.icon) for name, look in found.items()} == {
        "train": ("ready", "CHECKMARK"),
        "detect": ("doubtful", "ERROR"),
        "fit": ("doubtful", "ERROR"),
    }
    assert looks.most_urgent([found["train"], found["fit"]]) is found["fit"]
    applied = looks._doubt(states().of(bpy.context), states().of(bpy.context).of("apply"))
    assert applied == "frames 1 to 56: the capture is doubtful, see 7  Capture."
    assert "2 warnings" in draw().words


def scored(paths: CreaturePaths, **result: Any) -> None:
    paths.exam("test").folder.mkdir(parents=True, exist_ok=True)
    for name in ("detect", "fit", "report"):
        pretend_run(paths, name, "test", started="2026-01-02T00:00:00", **({"result": result} if result else {}))


def test_the_result_of_the_readers_test_stays_in_sight(scene, paths):
    pretend_creature(paths)
    paths.exam("test").folder.mkdir(parents=True)
    pretend_run(paths, "fit", "test")
    scene.creature, scene.clip = "fox", ""
    states().refresh(bpy.context)
    assert "Test: not scored yet" in draw(800).words and "from the reading" not in draw(800).words
    scored(paths)
    states().refresh(bpy.context)
    seen = draw(800)
    assert (
        "Test: reads 3.6 px off, fit 0.9 % of the body: good" in seen.words
        and "Next: film it, or add a clip" in seen.words
    )
    assert "The test: 3.6 px off, fit 0.9 % of the body: good." in seen.words
    assert [name for name, closed in seen.panels.items() if not closed] == ["ANYMOCAP_5_next", "ANYMOCAP_6_next"]
    pretend_run(paths, "train", started="2026-01-03T00:00:00")
    states().refresh(bpy.context)
    seen = draw(800)
    assert "Test of an earlier reader: reads 3.6 px off" in seen.words and "Next: test the reader" in seen.words


def test_a_poor_test_sends_back_to_the_training(scene, paths):
    pretend_creature(paths)
    scored(paths, frames=51, reader={"median_px": 207.0}, fit={"mean_pct_body": 34.4})
    scene.creature, scene.clip = "fox", ""
    states().refresh(bpy.context)
    seen = draw(800)
    assert "Next: train the reader again" in seen.words
    assert "Test: reads 207 px off, fit 34.4 % of the body: too far off to read a clip." in seen.words


def test_bad_frames_are_spoken_of_only_where_there_are_some(monkeypatch):
    section = sys.modules["anymocap_addon.ui.panels.project_section"]
    step = next_step(Situation(dict.fromkeys(()), clip="walk", made_elsewhere=frozenset({"fit", "apply"})))
    assert (step.action, section._why(bpy.context, step)) == ("done", "Play it."), "nothing is loaded"
    for runs, words in (([], "Play it."), ([range(3, 5)], "Play it. Go from bad frame to bad frame.")):
        view = SimpleNamespace(bad_runs=runs)
        monkeypatch.setattr(section, "current_view", lambda context, view=view: view)
        assert section._why(bpy.context, step) == words


@pytest.mark.parametrize("width", range(60, 200, 7))
def test_a_figure_and_its_unit_stay_in_one_line(width):
    lines = sys.modules["anymocap_addon.ui.wrapped_text"]._lines
    broken = lines("Next: draw the reference, about 20 s and 7 px off, 34 %  of it", float(width), 11.0)
    for figure in ("20 s", "7 px", "34 %"):
        assert any(figure in line for line in broken), broken
    assert " ".join(broken) == "Next: draw the reference, about 20 s and 7 px off, 34 % of it"


def running(paths: CreaturePaths, name: str, **shown: Any) -> Any:
    stage = sys.modules["anymocap_addon.ops.running_stage"].RunningStage(paths, REGISTRY[name], None)
    stage.__dict__.update(shown)
    return stage


def test_what_is_at_work_shows_how_far_it_is_and_can_be_cancelled(scene, paths, monkeypatch):
    pretend_creature(paths, upto="ref")
    scene.creature = "fox"
    states().refresh(bpy.context)
    host = sys.modules["anymocap_addon.ops.running"].HOST
    work = {
        "dataset": running(
            paths, "dataset", word="running", fraction=0.5, done=412, total=800, eta_s=130.0, note="side"
        ),
        "train": running(paths, "train"),
    }
    monkeypatch.setattr(host, "of", lambda paths, name, item=None: work.get(name))
    monkeypatch.setattr(host, "at_work", lambda paths=None: list(work.values()))
    seen = draw()
    assert "412 / 800   2:10 left" in [said.text for said in seen.said if said.kind == "progress"]
    cancels = [said.given for said in seen.said if said.idname == "anymocap.cancel"]
    assert {"stage": "dataset", "item": ""} in cancels and {"stage": "train", "item": ""} in cancels
    assert "Then Reader" in seen.words and "Waits for its turn" in seen.words and "Next:" not in seen.words
    work["dataset"].word = "cancelling"
    assert "Stopping" in draw().words


def test_a_failure_shows_reason_remedy_and_log(scene, paths, monkeypatch):
    pretend_creature(paths, upto="ref")
    scene.creature = "fox"
    states().refresh(bpy.context)
    error = BadInputError("The disk is full.", file="/somewhere/deep/dataset", hint="Free 2 GB.")
    failed = running(paths, "dataset", word="failed", error=error)
    host = sys.modules["anymocap_addon.ops.running"].HOST
    monkeypatch.setattr(host, "of", lambda paths, name, item=None: failed if name == "dataset" else None)
    seen = draw()
    assert "dataset: The disk is full." in seen.words and "Free 2 GB." in seen.words and "/somewhere" not in seen.words
    assert [said.given for said in seen.said if said.idname == "anymocap.open_log"] == [
        {"stage": "dataset", "item": ""}
    ]


def test_a_recorded_failure_names_the_file_alone(scene, paths):
    pretend_creature(paths, upto="prep")
    message = "/deep/in a/folder/static.blend: It is cut short. Run prep again."
    pretend_run(paths, "rig", outcome="failed", error={"kind": "BadInputError", "message": message})
    scene.creature = "fox"
    states().refresh(bpy.context)
    seen = draw()
    assert "static.blend: It is cut short." in seen.words and "/deep" not in seen.words


def test_a_test_of_the_reader_that_failed_says_why(scene, paths, monkeypatch):
    pretend_creature(paths)
    scene.creature = "fox"
    states().refresh(bpy.context)
    failed = running(paths, "exam", item="test", word="failed", error=BadInputError("The rig has no motion."))
    host = sys.modules["anymocap_addon.ops.running"].HOST
    monkeypatch.setattr(host, "of", lambda paths, name, item=None: failed if (name, item) == ("exam", "test") else None)
    seen = draw()
    assert "The rig has no motion." in seen.words
    assert {"stage": "exam", "item": "test"} in [said.given for said in seen.said if said.idname == "anymocap.open_log"]


def test_menus_list_creatures_clips_and_ways_to_add(scene, paths, tmp_path):
    pretend_creature(paths)
    (tmp_path / "walk.mp4").write_bytes(b"clip")
    add_clip(paths, "walk", tmp_path / "walk.mp4")
    scene.creature = "fox"
    states().refresh(bpy.context)
    said: dict[str, list[Any]] = {}
    for name in ("ANYMOCAP_MT_creatures", "ANYMOCAP_MT_clips", "ANYMOCAP_MT_add_creature"):
        layout = RecordedLayout()
        getattr(bpy.types, name).draw(SimplePanel(layout), sidebar_context())
        said[name] = [one.given.get("name", one.idname) for one in layout.said]
    assert said["ANYMOCAP_MT_creatures"][:2] == ["fox", "ANYMOCAP_MT_add_creature"]
    assert said["ANYMOCAP_MT_clips"] == ["walk", "anymocap.add_clip"]
    assert len(said["ANYMOCAP_MT_add_creature"]) == 3


def test_work_of_another_program_is_seen(scene, paths, monkeypatch):
    pretend_creature(paths, upto="ref")
    scene.creature = "fox"
    states().refresh(bpy.context)
    host = sys.modules["anymocap_addon.ops.running"].HOST
    watch = SimpleNamespace(stage="dataset", item=None, fraction=0.25, eta_s=61.0, note="")
    monkeypatch.setattr(host, "foreign", lambda paths: [watch])
    seen = draw()
    assert "25 %   1:01 left" in seen.words and "Another program does it." in seen.words


def test_what_went_wrong_with_the_project_is_one_sentence(scene, paths):
    pretend_creature(paths)
    paths.creature_json.write_text("{", encoding="utf-8")
    scene.creature = "fox"
    states().refresh(bpy.context)
    assert "creature.json" in draw().words and "Traceback" not in draw().words
    scene.creature = "a/b"
    states().refresh(bpy.context)
    assert "cannot be a folder's name" in draw().words


def test_a_draw_reads_no_file(scene, paths, monkeypatch):
    pretend_creature(paths)
    scene.creature = "fox"
    states().refresh(bpy.context)
    draw()

    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a draw opened a file")

    with monkeypatch.context() as patched:
        patched.setattr(builtins, "open", refuse)
        patched.setattr(Path, "open", refuse)
        patched.setattr(Path, "stat", refuse)
        draw()


def test_a_fault_in_a_draw_is_shown_and_does_not_escape(scene, monkeypatch, capsys):
    panel = sys.modules["anymocap_addon.ui.panels.main_panel"]
    monkeypatch.setattr(panel, "why_no_project", lambda context: 1 / 0)
    layout = RecordedLayout()
    for _ in range(2):
        panel.ANYMOCAP_PT_main.draw(SimplePanel(layout), sidebar_context())
    assert "A fault of AnyMoCap: ZeroDivisionError" in layout.words
    assert capsys.readouterr().out.count("Traceback") == 1, "the console gets it once"


class SimplePanel:
    """What a Panel's draw needs of its self."""

    def __init__(self, layout: RecordedLayout) -> None:
        self.layout = layout


def test_states_are_remembered_and_follow_files(scene, paths):
    pretend_creature(paths, upto="prep")
    scene.creature = "fox"
    cache = states()
    assert cache.refresh(bpy.context).of("rig").word == "missing"
    version = cache.version
    cache.refresh(bpy.context)
    assert cache.version == version, "nothing has changed"
    pretend_run(paths, "rig")
    assert cache.of(bpy.context).of("rig").word == "missing", "a draw takes what is there"
    assert cache.refresh(bpy.context).of("rig").word == "ready"
    assert cache.version == version + 1


def test_typing_another_move_does_not_empty_the_panel(scene, paths):
    pretend_creature(paths)
    scene.creature = "fox"
    before = states().refresh(bpy.context)
    scene.clip = "jum"
    assert states().of(bpy.context) is before
    assert states().refresh(bpy.context).survey.clip == "jum"
    scene.creature = "wolf"
    assert states().of(bpy.context) is None, "another creature is another matter"


def test_a_file_that_is_written_while_it_is_looked_at_is_looked_at_again(scene, paths):
    pretend_creature(paths, upto="rig")
    scene.creature = "fox"
    cache, module = states(), sys.modules["anymocap_addon.ops.states"]
    key = module._key(bpy.context.scene)
    time.sleep(0.06)  # until what was written counts as old
    cache.refresh(bpy.context)
    assert not cache._out_of_date(key, bpy.context.scene, False, True)
    cache._begin(key, bpy.context.scene)
    paths.creature_json.write_text("{", encoding="utf-8")
    while cache._work is not None:
        cache._step(float("inf"))
    assert cache._out_of_date(key, bpy.context.scene, False, True)


def test_a_creature_that_is_not_there_is_named(scene, paths):
    pretend_creature(paths, upto="prep")
    scene.creature = "wolf"
    states().refresh(bpy.context)
    seen = draw()
    assert "There is no creature 'wolf' in this folder" in seen.words and not seen.panels


def test_creatures_are_added_and_chosen(scene, paths, tmp_path):
    mesh = tmp_path / "rot fuchs.v2.glb"
    mesh.write_bytes(b"mesh")
    assert bpy.ops.anymocap.add_creature_from_file(filepath=str(mesh)) == {"FINISHED"}
    assert scene.creature == "rot fuchs_v2" and Path(scene.stages.prep.mesh) == mesh
    assert mesh.exists() and states().of(bpy.context).next_step.action == "check_creature"
    for name, why in (("Rot Fuchs_v2", "already"), ("a/b", "cannot be a folder's name"), ("con:", "folder's name")):
        with pytest.raises(RuntimeError, match=why):
            bpy.ops.anymocap.add_creature_from_file(filepath=str(mesh), name=name)
    with pytest.raises(RuntimeError, match="no such file"):
        bpy.ops.anymocap.add_creature_from_file(filepath=str(tmp_path / "gone.glb"))
    with pytest.raises(RuntimeError, match="no mesh file"):
        bpy.ops.anymocap.add_creature_from_file(filepath=str(tmp_path / "picture.png"))
    assert Project(paths.root).creatures() == ["rot fuchs_v2"]
    bpy.ops.anymocap.add_creature_from_file(filepath=str(mesh), name="fox")
    assert bpy.ops.anymocap.choose_creature(name="rot fuchs_v2") == {"FINISHED"}
    with pytest.raises(RuntimeError, match="no creature 'wolf'"):
        bpy.ops.anymocap.choose_creature(name="wolf")


def test_the_active_object_becomes_a_creature(scene):
    assert not bpy.ops.anymocap.add_creature_from_scene.poll(), "nothing is active"
    block = bpy.data.objects.new("Block.001", bpy.data.meshes.new("block"))
    bpy.context.scene.collection.objects.link(block)
    bpy.context.view_layer.objects.active = block
    assert bpy.ops.anymocap.add_creature_from_scene() == {"FINISHED"}
    assert scene.creature == "Block_001" and scene.stages.prep.object == "Block.001" and scene.armature is None
    assert "prep" not in states().of(bpy.context).survey.blocked
    assert not scene.stages.prep.is_property_set("mesh"), "else prep would be stale as soon as it has run"
    bpy.data.objects.remove(block)


def test_clips_are_added_chosen_and_forgotten(scene, paths, tmp_path):
    pretend_creature(paths)
    scene.creature = "fox"
    for name in ("walk", "läuft schnell"):
        (tmp_path / f"{name}.mp4").write_bytes(b"clip")
        assert bpy.ops.anymocap.add_clip(filepath=str(tmp_path / f"{name}.mp4")) == {"FINISHED"}
        assert scene.clip == name and clip_video(paths, name) == tmp_path / f"{name}.mp4"
    with pytest.raises(RuntimeError, match="no such video file"):
        bpy.ops.anymocap.add_clip(filepath=str(tmp_path / "gone.mp4"))
    with pytest.raises(RuntimeError, match="no clip 'run'"):
        bpy.ops.anymocap.choose_clip(name="run")
    bpy.ops.anymocap.choose_clip(name="walk")
    assert scene.clip == "walk"
    pretend_run(paths, "detect", "walk")
    pretend_run(paths, "fit", "walk")
    states().refresh(bpy.context)
    assert not bpy.ops.anymocap.forget_clip.poll(), "it holds a motion"
    bpy.ops.anymocap.choose_clip(name="läuft schnell")
    assert bpy.ops.anymocap.forget_clip() == {"FINISHED"}
    assert scene.clip == "walk" and (tmp_path / "läuft schnell.mp4").exists()


def test_caches_are_cleaned_and_results_stay(scene, paths):
    pretend_creature(paths)
    scene.creature = "fox"
    cache = paths.runs / "reader_work" / "samples.bin"
    cache.parent.mkdir()
    cache.write_bytes(b"x" * 1000)
    bpy.ops.anymocap.clean_caches()
    assert cache.exists(), "nothing was ticked"
    bpy.ops.anymocap.clean_caches(reader_work=True)
    assert not cache.exists() and paths.reader_pt.exists() and paths.model().exists()
    assert states().of(bpy.context).of("train").word == "ready"


def test_the_film_of_a_move_is_added_under_its_name(scene, paths, tmp_path):
    pretend_creature(paths)
    scene.creature, scene.move = "fox", "jump"

    def names() -> list[str]:
        states().refresh(bpy.context)
        return [said.given["name"] for said in draw().said if said.idname == "anymocap.add_clip" and said.given]

    assert names() == ["jump"]
    (tmp_path / "take 3.mp4").write_bytes(b"film")
    assert bpy.ops.anymocap.add_clip(filepath=str(tmp_path / "take 3.mp4"), name="jump") == {"FINISHED"}
    assert names() == [], "it has its film: another one gets a name of its own"


def test_what_is_ready_is_done_again_when_asked(scene, paths, monkeypatch):
    pretend_creature(paths)
    scene.creature = "fox"
    states().refresh(bpy.context)
    asked = [said.given["stage"] for said in draw().said if said.idname == "anymocap.run_again"]
    assert asked == ["prep", "rig", "ref", "dataset", "train"]
    runs: list[Any] = []
    monkeypatch.setattr(sys.modules["anymocap_addon.ops.run_again"], "run_to_end", runs.append)
    assert bpy.ops.anymocap.run_again(stage="prep") == {"FINISHED"}
    assert runs[0].stage.name == "prep" and runs[0]._force, "else it would find that it is ready"
    with pytest.raises(RuntimeError, match="no such stage"):
        bpy.ops.anymocap.run_again(stage="nonsense")


def test_a_stage_that_cannot_run_says_what_it_needs(scene, paths):
    pretend_creature(paths, upto="prep")
    scene.creature = "fox"
    states().refresh(bpy.context)
    why_blocked = sys.modules["anymocap_addon.ops.states"].why_blocked
    assert why_blocked(bpy.context, REGISTRY["ref"]) == "Reference needs the rig: run Rig first"
    assert why_blocked(bpy.context, REGISTRY["rig"]) == ""


def test_the_log_of_a_failure_is_found_and_shown(scene, paths):
    pretend_creature(paths)
    scene.creature = "fox"
    for number, text in enumerate(("old", "Zeile mit Ümläuten\nlast line")):
        folder = paths.jobs / f"2026010{number}-000000.000-rig-abcd"
        folder.mkdir(parents=True)
        (folder / "job.json").write_text('{"stage": "rig", "item": null, "state": "failed"}', encoding="utf-8")
        (folder / "log.txt").write_text(text, encoding="utf-8")
    assert bpy.ops.anymocap.open_log(stage="rig") == {"FINISHED"}
    text = bpy.data.texts["AnyMoCap Log"]
    assert "Zeile mit Ümläuten" in text.as_string() and "old" not in text.as_string()
    assert bpy.ops.anymocap.open_log(stage="prep") == {"CANCELLED"}, "it has left no log"
    with pytest.raises(RuntimeError, match="no stage 'nonsense'"):
        bpy.ops.anymocap.open_log(stage="nonsense")
    bpy.data.texts.remove(text)


def test_what_needs_a_project_says_so():
    bpy.context.scene.anymocap.project = ""
    for name in ("add_creature_from_file", "choose_creature", "add_clip", "open_folder", "clean_caches"):
        assert not getattr(bpy.ops.anymocap, name).poll(), name
