"""The registry: settings are checked, and command line and worker know the same stages."""

from __future__ import annotations

import argparse
import ast
from pathlib import Path

import pytest

from anymocap_addon.commands.arguments import build_parser, stage_settings, verb_names
from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.version import VERSION
from anymocap_addon.jobs.registry import REGISTRY

PACKAGE = Path(__file__).resolve().parents[2] / "anymocap_addon"
CREATURE_STAGES = "mesh example checkup prep template grid rig skin ref prompt film dataset train".split()
PIPELINE = [*CREATURE_STAGES, *"exam take gate detect preview fit apply showcase report".split()]


def verbs() -> dict[str, argparse.ArgumentParser]:
    parser = build_parser(REGISTRY)
    action = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return dict(action.choices)


def test_command_line_has_a_verb_for_every_stage_and_an_option_for_every_setting():
    assert REGISTRY.names() == PIPELINE
    assert list(verbs()) == verb_names(REGISTRY)
    for stage in REGISTRY:
        options = {option for action in verbs()[stage.name]._actions for option in action.option_strings}
        assert {setting.flag for setting in stage.settings} <= options
        assert {"--project", "--creature", "--json", "--force"} <= options


@pytest.mark.parametrize("stage", list(REGISTRY), ids=lambda stage: stage.name)
def test_every_step_names_a_function_that_takes_the_context(stage):
    """Read from the source: a worker's module cannot be imported beside bpy, nor a Blender one without it."""
    for step in stage.steps:
        module, _, name = step.function.partition(":")
        path = PACKAGE.joinpath(*module.split("."))
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        functions = {n.name: n for n in ast.parse(file.read_text("utf-8")).body if isinstance(n, ast.FunctionDef)}
        assert [argument.arg for argument in functions[name].args.args] == ["ctx"]
        assert module.split(".")[0] == ("core" if step.where == "worker" else "blender")


@pytest.mark.parametrize("stage", list(REGISTRY), ids=lambda stage: stage.name)
def test_defaults_are_valid_and_explained(stage):
    required = {setting.name: "walk" for setting in stage.settings if setting.required}
    checked = stage.check(required)
    assert stage.check(checked) == checked
    assert stage.help and stage.label
    for setting in stage.settings:
        assert setting.help, setting.name
        assert setting.unit or setting.kind != "number" or setting.name == "ratio"


@pytest.mark.parametrize(
    ("stage", "given", "says"),
    [
        ("dataset", {"pose": 5}, ["dataset: pose", "Did you mean 'poses'?"]),
        ("dataset", {"poses": 3}, ["dataset: poses", "3 is out of range", "8..100000"]),
        ("dataset", {"poses": "many"}, ["'many' is not a whole number"]),
        ("dataset", {"poses": 10.5}, ["10.5 is not a whole number"]),
        ("dataset", {"poses": True}, ["True is not a whole number"]),
        ("prep", {"length_m": float("nan")}, ["is not a finite number", "--length-m"]),
        ("prep", {"axis": "w"}, ["'w' is not one of , x, y, z"]),
        ("train", {"preset": "fast"}, ["'fast' is not one of quick, default, long"]),
        ("fit", {}, ["fit: clip: must be given", "--clip"]),
        ("fit", {"clip": "../x"}, ["'../x' is not a name"]),
        ("fit", {"clip": "walk", "plants": "yes"}, ["'yes' is not true or false"]),
        ("fit", {"clip": None}, ["None is not a name"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_remedy(stage, given, says):
    with pytest.raises(BadInputError) as caught:
        REGISTRY[stage].check(given)
    for text in says:
        assert text in str(caught.value)


def test_an_unknown_stage_is_named():
    with pytest.raises(BadInputError, match=r"fly: There is no such stage\. Stages: mesh, example, checkup, prep"):
        REGISTRY["fly"]


def test_options_arrive_as_the_types_of_their_settings():
    parser = build_parser(REGISTRY)
    stage = REGISTRY["exam"]
    given = stage_settings(stage, parser.parse_args("exam --clip w --fps 12 --lag-frames -1.5 --seed 3".split()))
    values = stage.check(given)
    assert (values["fps"], values["lag_frames"], values["seed"]) == (12.0, -1.5, 3)
    assert isinstance(values["fps"], float) and values["faults"] == "typical"
    fit = REGISTRY["fit"]
    given = stage_settings(fit, parser.parse_args("fit --clip w --no-plants".split()))
    assert given == {"clip": "w", "plants": False}
    prep = REGISTRY["prep"]
    given = stage_settings(prep, parser.parse_args("prep --mesh a.glb --rotz-deg 90".split()))
    assert given == {"mesh": str(Path.cwd() / "a.glb"), "rotz_deg": 90}
    with pytest.raises(BadInputError, match="'x' is not a whole number"):
        stage.check(stage_settings(stage, parser.parse_args("exam --clip w --seed x".split())))


def test_the_manifest_holds_the_version():
    manifest = (PACKAGE.parent / "blender_manifest.toml").read_text("utf-8")
    assert f'version = "{VERSION}"' in manifest
