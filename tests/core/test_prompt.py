"""The prompt: seven paragraphs in order, and errors that name the missing word."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from anymocap_addon.core.creature import Creature, PaintGroup, PromptWords, save_creature
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.film.prompt import compose_prompt, prompt_edited, run
from anymocap_addon.core.project import Project, is_name
from anymocap_addon.core.stage_context import StageContext
from anymocap_addon.jobs.registry import REGISTRY

WORDS = PromptWords(
    name="Ash",
    noun="wolf",
    describe="a grey wolf with a bushy tail.",
    colour_code="front left leg red, front right leg blue",
    count="one head, four legs and one tail",
    flank="right",
    limbs="legs",
)
WOLF = Creature(name="wolf", prompt=WORDS)


def test_order_and_wording() -> None:
    text = compose_prompt(WOLF, "  the wolf walks\nat a calm pace ")
    paragraphs = text.strip().split("\n\n")
    signs = ("twice", "a grey wolf", "colour-coded", "Body count", "Action:", "on its spot", "One continuous take")
    assert len(paragraphs) == 7
    for paragraph, sign in zip(paragraphs, signs, strict=True):
        assert sign in paragraph
    assert "Ash, the wolf" in paragraphs[0] and "right flank" in paragraphs[0]
    assert "Action: The wolf walks at a calm pace." in text
    assert ".." not in text and "  " not in text


@pytest.mark.parametrize("key", ["noun", "describe", "colour_code", "count", "flank", "limbs"])
def test_a_missing_word_is_named(key: str) -> None:
    creature = dataclasses.replace(WOLF, prompt=dataclasses.replace(WORDS, **{key: " "}))
    with pytest.raises(BadInputError, match=rf"prompt\.{key}.*creature\.json"):
        compose_prompt(creature, "The wolf walks.")


def test_the_colour_code_comes_from_the_paint() -> None:
    paint = (PaintGroup("front_left_leg", "red", (1, 0, 0), ("a",)), PaintGroup("tail", "blue", (0, 0, 1), ("b",)))
    creature = dataclasses.replace(WOLF, paint=paint, prompt=dataclasses.replace(WORDS, colour_code=""))
    assert "colour-coded: front left leg red, tail blue." in compose_prompt(creature, "It walks.")


def test_a_creature_without_words_is_told_from_its_paint() -> None:
    paint = (PaintGroup("front_left_leg", "red", (1, 0, 0), ("a",)), PaintGroup("tail", "blue", (0, 0, 1), ("b",)))
    text = compose_prompt(Creature(name="x", paint=paint), "It walks.")
    assert "front left leg red, tail blue" in text
    assert "exactly one front left leg, one tail" in text
    with pytest.raises(BadInputError, match=r"prompt\.describe"):
        compose_prompt(Creature(name="x"), "It walks.")


def test_the_stage_writes_the_file(tmp_path: Path) -> None:
    project = Project(tmp_path / "mein Projekt ü")
    paths = project.creature("wolf")
    save_creature(paths.creature_json, WOLF)
    ctx = StageContext(project, paths, {"move": "walk", "action": "The wolf walks.", "overwrite": False})
    result = run(ctx)
    assert Path(result["prompt"]) == paths.prompt("walk")
    assert paths.prompt("walk").read_text(encoding="utf-8") == compose_prompt(WOLF, "The wolf walks.")
    with pytest.raises(BadInputError, match="The action is empty"):
        run(dataclasses.replace(ctx, settings={"move": "run", "action": "  "}))
    save_creature(paths.creature_json, dataclasses.replace(WOLF, prompt=dataclasses.replace(WORDS, count="")))
    with pytest.raises(BadInputError, match=r"creature\.json.*prompt\.count"):
        run(ctx)
    assert not paths.prompt("run").exists()


def test_a_prompt_that_was_edited_by_hand_is_never_written_over_unasked(tmp_path: Path) -> None:
    project = Project(tmp_path)
    paths = project.creature("wolf")
    save_creature(paths.creature_json, WOLF)
    ctx = StageContext(project, paths, {"move": "walk", "action": "The wolf walks.", "overwrite": False})
    run(ctx)
    assert not prompt_edited(paths, "walk")
    again = dataclasses.replace(ctx, settings={**ctx.settings, "action": "The wolf runs."})
    run(again)
    assert "runs" in paths.prompt("walk").read_text(encoding="utf-8"), "as it was made: nothing of the artist's is lost"
    paths.prompt("walk").write_text("My own words.", encoding="utf-8")
    assert prompt_edited(paths, "walk")
    with pytest.raises(BadInputError, match=r"edited by hand.*--overwrite"):
        run(ctx)
    assert paths.prompt("walk").read_text(encoding="utf-8") == "My own words."
    run(dataclasses.replace(ctx, settings={**ctx.settings, "overwrite": True}))
    assert not prompt_edited(paths, "walk") and "The wolf walks." in paths.prompt("walk").read_text(encoding="utf-8")


@pytest.mark.parametrize("key", ["move", "action"])
def test_letters_that_no_file_takes_are_refused_by_name(key: str) -> None:
    """A terminal of another encoding hands them over as lone surrogates."""
    with pytest.raises(BadInputError, match=rf"prompt: {key}: 'h\\udcffpf' is no UTF-8 text"):
        REGISTRY["prompt"].check({"move": "hop", "action": "It hops.", key: "h\udcffpf"})
    assert not is_name("h\udcffpf"), "a folder of such a name is none of ours"
