"""The model table: what came with AnyMoCap, a project's own, and what a model is sent."""

from __future__ import annotations

import json

import pytest

from anymocap_addon.core.creature import Creature, FilmDefaults, load_creature, save_creature
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.film.arguments import model_arguments, request_hash, resolution_word
from anymocap_addon.core.film.fal_address import FalAddress, fal_address
from anymocap_addon.core.film.models import DEFAULT_FILM, DEFAULT_MESH, load_models
from anymocap_addon.core.film.takes import film_choice, parse_seeds
from anymocap_addon.core.project import Project

OWN = """
[film.mine]
endpoint = "me/mine/image-to-video"
image = "image_url"
prompt = "prompt"
result = ["video.url"]
duration = {field = "duration", type = "text_s", choices = [4, 6]}
usd_per_second = 0.01
"""


def test_the_whole_table_is_valid_and_complete():
    table = load_models()
    assert {
        DEFAULT_FILM,
        "h3",
        "h3-lora",
        "seedance-2",
        "flux-3-max",
        "kling-3",
        "wan-3",
        "veo-3-1",
        "wan-2-2-lora",
    } == set(table.names("film"))
    assert table.names("mesh") == [DEFAULT_MESH]
    lora = ({"path": "https://x/lora", "scale": 1.0},)
    for name in table.names("film"):
        model = table.find("film", name)
        arguments = model_arguments(model, prompt="p", seed=3, seconds=6, loras=lora)
        assert model.terms.startswith("https://") and arguments["prompt"] == "p"
        assert model_arguments(model, prompt="p", seed=4, seconds=6, loras=lora) != arguments or not model.seed
        for sound in ("generate_audio", "audio", "enable_prompt_expansion"):
            assert arguments.get(sound, False) is False


@pytest.mark.parametrize(
    ("name", "seconds", "expected"),
    [
        ("h3-max", 5, {"duration": 5, "resolution": "768P", "prompt_expansion_mode": "disabled", "seed": 1}),
        (
            "seedance-2",
            5,
            {"duration": "5", "resolution": "720p", "aspect_ratio": "16:9", "generate_audio": False, "seed": 1},
        ),
        ("kling-3", 5, {"duration": "5", "generate_audio": False}),
        ("veo-3-1", 6, {"duration": "6s", "resolution": "720p", "generate_audio": False, "seed": 1}),
    ],
)
def test_each_model_gets_its_own_words(name, seconds, expected):
    model = load_models().find("film", name)
    assert model_arguments(model, prompt="p", seed=1, seconds=seconds) == {"prompt": "p", **expected}


def test_prices_by_resolution():
    table = load_models()
    assert table.find("film", "h3-max").price(5, "1080P") == 0.8
    assert table.find("film", "kling-3").price(5, "") == 0.42
    assert table.find("film", "flux-3-max").price(5, "720p") is None
    assert table.find("film", "seedance-2").price(5, "480p") is None


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("h3-max", {"seconds": 4}, "It knows whole seconds, 5 to 15"),
        ("h3-max", {"seconds": 5.5}, "makes no clips of 5.5 s"),
        ("veo-3-1", {"seconds": 5}, "It knows 4, 6, 8"),
        ("h3", {"seconds": 5, "resolution": "720p"}, "It knows 480P, 768P, 1080P, 4K"),
        ("kling-3", {"seconds": 5, "resolution": "720p"}, "has no choice of resolution"),
        ("h3-lora", {"seconds": 5}, "needs a LoRA"),
    ],
)
def test_what_a_model_cannot_do_is_said(name, given, says):
    with pytest.raises(BadInputError, match=says):
        model_arguments(load_models().find("film", name), prompt="p", **given)


def test_a_project_adds_and_replaces_models(tmp_path):
    (tmp_path / "film_models.toml").write_text(OWN + OWN.replace("mine]", "h3]"), encoding="utf-8-sig")  # Notepad
    table = load_models(tmp_path)
    mine = table.find("film", "me/mine/image-to-video")
    assert mine.price(4, "") == 0.04 and mine.terms == "https://fal.ai/models/me/mine/image-to-video"
    assert model_arguments(mine, prompt="p", seconds=6)["duration"] == "6s"
    assert table.find("film", "h3").endpoint == "me/mine/image-to-video"
    with pytest.raises(BadInputError, match="Did you mean 'mine'"):
        table.find("film", "mint")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('image = "image_url"', "", r"film_models\.toml: film\.mine\.image: is missing"),
        ('image = "image_url"', 'imagee = "x"\nimage = "i"', r"film\.mine\.imagee: is not known here"),
        ('"text_s"', '"minutes"', r"film\.mine\.duration\.type: is 'minutes'"),
        ("choices = [4, 6]", "minimum = 9, maximum = 2", "neither choices nor a minimum"),
        ("0.01", "-1", "not a number of 0 or more"),
        ("0.01", "{'8k' = 1}", "is no resolution of this model"),
        ("[film.mine]", "[clip.mine]", "is no kind of model"),
        ("[film.mine]", '[film."../x"]', "cannot be a file's name"),
        ("me/mine/image-to-video", "https://evil /", "is no endpoint"),
        ('["video.url"]', '"video.url"', "no list of texts"),
        ("[film.mine]", "[film.mine", "is not valid TOML"),
        ("[film.mine]", '[film."a\\u0000b"]', "cannot be a file's name"),
        ("me/mine/image-to-video", "me/mine?x=1", "is no endpoint"),
        ("usd_per_second", "fixed = {when = 2020-01-01}\nusd_per_second", r"fixed: holds a date"),
        ("usd_per_second", "fixed = {scale = nan}\nusd_per_second", r"fixed: holds a date, a nan"),
    ],
)
def test_a_mistake_in_the_table_is_named(tmp_path, old, new, says):
    assert old in OWN
    (tmp_path / "film_models.toml").write_text(OWN.replace(old, new, 1))
    with pytest.raises(BadInputError, match=says):
        load_models(tmp_path)


@pytest.mark.parametrize(("text", "seeds"), [("1 2 3", (1, 2, 3)), ("5-7, 6;9", (5, 6, 7, 9)), ("", ()), ("0", (0,))])
def test_seeds(text, seeds):
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["a", "-1", "1.5", "3-1", "1-99", "99999999999", " ".join(map(str, range(30)))])
def test_what_is_no_seed_is_refused(text):
    with pytest.raises(BadInputError):
        parse_seeds(text)


def test_defaults_of_the_creature(tmp_path):
    paths = Project(tmp_path).creature("c")
    choice = film_choice(paths, {})
    assert (choice.model.name, choice.seeds, choice.seconds, choice.price()) == (DEFAULT_FILM, (1,), 5.0, 0.4)
    film = FilmDefaults(model="wan-3", seeds=(2, 4), seconds=4.0, ceiling_usd=2.0, loras=({"path": "https://x"},))
    save_creature(paths.creature_json, Creature("c", film=film))
    assert load_creature(paths.creature_json).film == film
    assert film_choice(paths, {"model": "", "seeds": "7"}).seeds == (7,)
    choice = film_choice(paths, {"ceiling": None, "resolution": "1080P"})
    assert (choice.model.name, choice.ceiling_usd, choice.price()) == ("wan-3", 2.0, 0.8)
    assert film_choice(paths, {"ceiling": 0.0}).ceiling_usd == 0.0


@pytest.mark.parametrize(
    ("seeds", "wrong"), [([3, 4, 3], ""), (list(range(21)), "These are 21 seeds"), ([2**31], "is no seed")]
)
def test_the_creatures_own_seeds_are_held_to_the_same_as_a_runs(tmp_path, seeds, wrong):
    paths = Project(tmp_path).creature("fox")
    paths.assets.mkdir(parents=True)
    paths.creature_json.write_text(json.dumps({"name": "fox", "film": {"seeds": seeds}}))
    if not wrong:
        assert film_choice(paths, {}).seeds == (3, 4), "a take each, none twice"
        return
    with pytest.raises(BadInputError, match=rf"creature\.json: film\.seeds: .*{wrong}"):
        film_choice(paths, {})


def test_a_request_is_known_by_its_content():
    base = request_hash("a/b", {"x": 1, "y": 2}, "p")
    assert base == request_hash("a/b", {"y": 2, "x": 1}, "p")
    assert len({base, request_hash("a/c", {"x": 1, "y": 2}, "p"), request_hash("a/b", {"x": 1, "y": 2}, "q")}) == 3


def test_resolution_words_are_found_in_any_case():
    assert resolution_word(load_models().find("film", "h3"), "1080p") == "1080P"


def test_the_key_goes_to_fal_only(monkeypatch):
    own = FalAddress()
    assert own.may_have_key("https://queue.fal.run/a") and own.may_have_key("https://rest.fal.ai/x")
    assert not own.may_have_key("http://queue.fal.run/a") and not own.may_have_key(
        "https://queue.fal.run.evil.example/"
    )
    monkeypatch.setenv("ANYMOCAP_FAL_URL", "https://proxy.example/fal/")
    assert fal_address().queue == "https://proxy.example/fal/queue"
    assert fal_address().may_have_key("https://proxy.example/x") and not fal_address().may_have_key(
        "https://queue.fal.run/a"
    )
    for bad in ("http://proxy.example", "ftp://x", "proxy", "https://user@proxy"):
        monkeypatch.setenv("ANYMOCAP_FAL_URL", bad)
        with pytest.raises(BadInputError, match="is no https address"):
            fal_address()
