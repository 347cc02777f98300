"""The film's section of the panel: prompt, cost, requests and takes; and that each button asks for what it costs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import MethodType, SimpleNamespace
from typing import Any

import bpy
import pytest
from blender.recorded_layout import RecordedLayout, sidebar_context
from film_project import KEY
from pretended import pretend_creature, pretend_run

import anymocap_addon
from anymocap_addon.core.film.ledger import Ledger, ledger_file
from anymocap_addon.core.film.orders import film_orders
from anymocap_addon.core.film.place import shown
from anymocap_addon.core.formats import write_json_file
from anymocap_addon.core.project import CreaturePaths, Project
from anymocap_addon.jobs.registry import REGISTRY


@pytest.fixture(scope="module", autouse=True)
def enabled():
    bpy.ops.wm.read_homefile(use_empty=True)
    anymocap_addon.register()
    yield
    anymocap_addon.unregister()


@pytest.fixture
def paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CreaturePaths:
    monkeypatch.setenv("FAL_KEY", KEY)
    paths = Project(tmp_path / "project").creature("fox")
    pretend_creature(paths)
    paths.ref_png.write_bytes(b"\x89PNG picture")
    paths.prompt("walk").parent.mkdir(parents=True)
    paths.prompt("walk").write_text("It walks.\n\nAction: walk.", encoding="utf-8")
    return paths


@pytest.fixture
def scene(paths: CreaturePaths) -> Any:
    settings = bpy.context.scene.anymocap
    settings.project, settings.creature = str(paths.root), "fox"
    yield settings
    for stage in ("film", "prompt"):
        group = getattr(settings.stages, stage)
        for setting in REGISTRY[stage].settings:
            if hasattr(group, setting.name):
                group.property_unset(setting.name)
    settings.clip = settings.move = settings.creature = settings.project = ""


def draw() -> RecordedLayout:
    sys.modules["anymocap_addon.ops.states"].STATES.refresh(bpy.context)
    layout = RecordedLayout()
    sys.modules["anymocap_addon.ui.panels.main_panel"].draw_panel(layout, sidebar_context(900))
    return layout


def request(paths: CreaturePaths, seed: int = 1, *events: tuple[str, dict[str, Any]]) -> str:
    """A request of the ledger, as if it had been sent for the scene's film."""
    values = REGISTRY["film"].item_settings("walk")
    order = film_orders(paths, {**values, "seeds": str(seed)})[0]
    ledger = Ledger(ledger_file(paths))
    intent = ledger.intend(
        stage="film",
        item="walk",
        target=shown(paths, order.target),
        endpoint=order.model.endpoint,
        model=order.model.name,
        seed=seed,
        hash=order.hash,
        arguments=order.arguments,
        estimate_usd=order.estimate_usd,
    )
    for event, more in events:
        ledger.add(event, intent, **more)
    return intent


SENT = dict.fromkeys(("response_url", "status_url", "cancel_url"), "https://queue.fal.run/x") | {
    "request_id": "abcdef1"
}


def film(paths: CreaturePaths, seed: int = 1, gate: dict[str, Any] | None = None) -> None:
    """A take, and what the gate found of it."""
    file = paths.video("walk", seed, "h3-max")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"film")
    write_json_file(paths.clip(f"walk_s{seed}").source, "clip", {"video": shown(paths, file)})
    if gate is not None:
        told = {"refused": False, "reasons": [], "checks": [], "allowed": False, "alignment": "ecc", "frames": 3}
        told |= {"fps": 24.0, "video": shown(paths, file), "limits": {}, **gate}
        write_json_file(paths.clip(f"walk_s{seed}").gate_json, "gate", told)


def test_the_move_that_has_a_prompt_is_chosen_and_its_cost_told(scene, paths):
    assert scene.move == "walk"
    seen = draw()
    assert "1 new clip of 5 s from MiniMax H3 Max: about $0.40" in seen.words
    assert "Prompt, 4 words" in seen.words and "Action: walk." in seen.words
    assert "licence" in seen.words, "what should be read before it is chosen"
    scene.stages.film.seeds, scene.stages.film.seconds = "1-3", 10.0
    assert "3 new clips of 10 s from MiniMax H3 Max: about $2.40" in draw().words
    bpy.ops.anymocap.choose_film_model(name="flux-3-max")
    assert "FLUX 3 Max: price unknown" in draw().words


def test_settings_that_cannot_be_used_are_told_and_nothing_can_be_ordered(scene, paths):
    scene.stages.film.seconds = 40.0
    assert "makes no clips of 40 s" in draw().words
    scene.stages.film.seconds, scene.stages.film.seeds = 5.0, "many"
    assert "'many' is no seed" in draw().words


def test_a_missing_key_is_told_with_where_to_enter_it(scene, paths, monkeypatch):
    monkeypatch.delenv("FAL_KEY")
    assert "no fal key: enter it in the add-on's preferences" in draw().words


def test_a_lost_reply_stops_ordering_until_the_artist_has_looked(scene, paths):
    request(paths, 1, ("unknown", {"message": "the connection ended"}))
    seen = draw()
    assert "the reply was lost" in seen.words and "anymocap.settle_request" in seen.operators()
    assert "anymocap.order_film" not in seen.operators(), "nothing more is sent"


def test_a_lost_reply_keeps_nothing_that_is_paid_from_being_fetched(scene, paths):
    request(paths, 1, ("unknown", {"message": "the connection ended"}))
    request(paths, 2, ("submitted", SENT))
    seen = draw()
    assert "Fetch the Others" in seen.words and "anymocap.withdraw_film" in seen.operators()
    operators = sys.modules["anymocap_addon.ops.film_operators"]
    runs: list[dict[str, Any]] = []
    given = SimpleNamespace(guarded=lambda act: act(), film=lambda context, **once: runs.append(once))
    operators.ANYMOCAP_OT_order_film.invoke(given, bpy.context, None)
    assert runs == [{}], "no dialog, and no yes"


def test_what_goes_on_at_fal_is_fetched_and_not_ordered_again(scene, paths):
    request(paths, 1, ("submitted", SENT))
    seen = draw()
    assert "1 request goes on at fal" in seen.words and "Fetch" in seen.words
    assert "new clip" not in seen.words and "Spent today about $0.40, in all $0.40." in seen.words
    scene.stages.film.seeds = "1 2"
    assert "1 new clip of 5 s" in draw().words


def test_takes_stand_with_what_the_gate_found(scene, paths):
    for seed, gate in ((1, {}), (2, {"refused": True, "reasons": ["the camera moves"]}), (3, None)):
        film(paths, seed, gate)
    seen = draw()
    assert "Takes of walk" in seen.words and "3 takes, 1 refused" in seen.words
    assert "The camera moves." in seen.words and "not checked yet" in seen.words
    assert seen.operators().count("anymocap.use_take") == 3 and seen.operators().count("anymocap.allow_take") == 1
    assert "anymocap.check_takes" in seen.operators()
    assert bpy.ops.anymocap.use_take(seed=1, model="h3-max") == {"FINISHED"}
    assert scene.clip == "walk_s1" and scene.move == "walk", "the move stays"
    assert draw().operators().count("anymocap.use_take") == 2


def test_a_take_that_is_thrown_away_is_kept_apart(scene, paths):
    film(paths, 1, {})
    pretend_run(paths, "fit", "walk_s1")
    bpy.ops.anymocap.use_take(seed=1, model="h3-max")
    assert bpy.ops.anymocap.throw_take_away(seed=1, model="h3-max") == {"FINISHED"}
    assert "Takes of walk" not in draw().words and scene.clip == ""
    kept = sorted(path.name for path in (paths.runs / "thrown_away").rglob("*") if path.is_file())
    assert kept == ["clip.json", "gate.json", "h3-max.mp4", "motion.json"], "it was paid"


def test_a_take_that_cannot_be_moved_is_told_and_stays(scene, paths):
    film(paths, 1, {})
    draw()
    (paths.runs / "thrown_away").write_bytes(b"in the way")
    with pytest.raises(RuntimeError, match="Could not be written"):
        bpy.ops.anymocap.throw_take_away(seed=1, model="h3-max")
    assert "Takes of walk" in draw().words


def test_two_models_of_one_seed_are_two_clips(scene, paths):
    film(paths, 1)
    other = paths.video("walk", 1, "wan-3")
    other.write_bytes(b"another film")
    draw()
    assert bpy.ops.anymocap.use_take(seed=1, model="wan-3") == {"FINISHED"}
    assert scene.clip == "walk_s1_wan-3"
    told = json.loads(paths.clip("walk_s1").source.read_text(encoding="utf-8"))
    assert told["video"].endswith("h3-max.mp4"), "the first keeps its name"


def test_an_edited_prompt_is_kept_and_made_anew_only_when_asked(scene, paths):
    seen = draw()
    assert "The prompt was edited by hand." in seen.words and "anymocap.make_prompt_anew" in seen.operators()
    assert bpy.ops.anymocap.edit_prompt() == {"FINISHED"}
    assert "open in a text editor" in draw().words
    text = bpy.data.texts["Prompt of walk"]
    assert text.as_string().startswith("It walks.")
    text.clear()
    text.write("It runs.")
    assert bpy.ops.anymocap.keep_prompt() == {"FINISHED"}
    assert paths.prompt("walk").read_text(encoding="utf-8") == "It runs." and "Prompt of walk" not in bpy.data.texts
    assert "It runs." in draw().words


def test_an_edit_is_of_one_prompt_only_and_lost_by_no_second_press(scene, paths):
    draw()
    other = Project(paths.root).creature("cat")
    pretend_creature(other)
    for file in (other.prompt("walk"), paths.prompt("ü" * 60)):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("It creeps.\n", encoding="utf-8")
    assert bpy.ops.anymocap.edit_prompt() == {"FINISHED"}
    bpy.data.texts["Prompt of walk"].write(" Changed.")
    assert bpy.ops.anymocap.edit_prompt() == {"FINISHED"}
    assert "Changed." in bpy.data.texts["Prompt of walk"].as_string()
    scene.creature, scene.move = "cat", "walk"
    assert "open in a text editor" not in draw().words, "that is the fox's"
    with pytest.raises(RuntimeError, match="not being edited"):
        bpy.ops.anymocap.keep_prompt()
    scene.creature, scene.move = "fox", "walk"
    assert bpy.ops.anymocap.keep_prompt() == {"FINISHED"}
    assert "Changed." in paths.prompt("walk").read_text(encoding="utf-8")
    assert other.prompt("walk").read_text(encoding="utf-8") == "It creeps.\n"
    scene.move = "ü" * 60  # longer than the name of a text in Blender
    assert bpy.ops.anymocap.edit_prompt() == {"FINISHED"} and bpy.ops.anymocap.keep_prompt() == {"FINISHED"}
    assert paths.prompt("ü" * 60).read_text(encoding="utf-8") == "It creeps.\n", "what was only read stays as it was"
    assert not len(bpy.data.texts)


def test_a_prompt_that_is_no_utf_8_is_not_damaged_by_an_edit(scene, paths):
    draw()
    paths.prompt("walk").write_bytes(b"Stra\xdfe")
    with pytest.raises(RuntimeError, match="is not UTF-8 text"):
        bpy.ops.anymocap.edit_prompt()
    assert not len(bpy.data.texts)


@pytest.mark.parametrize(("module", "name"), [("film_operators", "order_film"), ("mesh_operators", "order_mesh")])
def test_a_script_in_a_window_pays_only_with_its_own_yes(scene, paths, monkeypatch, module, name):
    """The dialog gives the yes; a call without it asks nobody."""
    draw()
    operators = sys.modules[f"anymocap_addon.ops.{module}"]
    runs: list[Any] = []
    window = SimpleNamespace(app=SimpleNamespace(background=False), path=bpy.path)
    monkeypatch.setattr(operators, "bpy", window)
    monkeypatch.setattr(sys.modules["anymocap_addon.ops.foreground"], "bpy", window)
    monkeypatch.setattr(operators.HOST, "start", runs.append)
    kind = getattr(operators, f"ANYMOCAP_OT_{name}")
    for yes in (False, True):
        given = SimpleNamespace(yes=yes, picture=str(paths.ref_png), guarded=lambda act: act())
        for method in ("film", "_make", "_settings"):
            if hasattr(kind, method):
                setattr(given, method, MethodType(getattr(kind, method), given))
        kind.execute(given, bpy.context)
    assert [run.settings["yes"] for run in runs] == [False, True]


def test_nothing_is_paid_without_a_yes(scene, paths):
    draw()
    with pytest.raises(RuntimeError, match="Nothing was sent"):
        bpy.ops.anymocap.order_film()
    assert not ledger_file(paths).exists()


def test_a_creature_without_a_mesh_may_have_one_made(scene, paths):
    for file in (paths.model(), paths.static_blend):
        file.unlink()
    assert "anymocap.pick_mesh_picture" in draw().operators()
    sent = {"target": "assets/fox/model.glb", "endpoint": "tripo3d/h3.1/image-to-3d", "model": "tripo-h3-1"}
    lost = Ledger(ledger_file(paths)).intend(
        stage="mesh", item="", seed=0, hash="x", arguments={}, estimate_usd=None, **sent
    )
    Ledger(ledger_file(paths)).add("unknown", lost, message="the connection ended")
    seen = draw()
    assert "anymocap.settle_mesh_request" in seen.operators()
    assert "anymocap.pick_mesh_picture" not in seen.operators(), "nothing more is sent before the artist has looked"
