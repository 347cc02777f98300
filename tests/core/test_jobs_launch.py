"""Which programs are started for background work, and with which arguments."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from tiny_stages import TINY, in_blender

from anymocap_addon.core.errors import BadInputError
from anymocap_addon.core.project import Project
from anymocap_addon.jobs import launch
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.stage import Registry
from anymocap_addon.jobs.stage_run import StageRun

FAKE_BLENDER = """#!/bin/sh
# Takes Blender's arguments, notes them, and runs the script as Blender's Python would.
printf '%s\\n' "$@" > '{notes}'
while [ "$1" != --python ]; do shift; done
PYTHONPATH='{path}' exec '{python}' "$2" -- "$4"
"""


def test_a_blender_program_does_the_blender_steps(tmp_path, monkeypatch):
    program, notes = tmp_path / "my blender", tmp_path / "notes"
    path = ":".join(str(folder) for folder in (Path(__file__).parents[1], Path(__file__).parents[2]))
    program.write_text(FAKE_BLENDER.format(notes=notes, path=path, python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("ANYMOCAP_BLENDER", str(program))
    pool, stage = Pool(), in_blender(TINY["speak"])
    run = StageRun(Project(tmp_path).creature("c"), stage, {}, pool=pool, registry=Registry((stage,)))
    for event in run:
        time.sleep(0.0 if event else 0.02)
    assert run.result.figures["python"] == sys.executable
    arguments = notes.read_text().splitlines()
    assert arguments[:4] == ["-b", "--factory-startup", "--python-exit-code", "1"], (
        "the exit code comes before the script"
    )
    assert arguments[4:7] == ["--python", str(launch.WORKER_SCRIPT), "--"]
    assert json.loads(arguments[7])["sys_path"] == [], "another program has another Python"


def test_inside_a_blender_it_is_that_blender_and_its_isolated_python(monkeypatch):
    app = SimpleNamespace(binary_path="/opt/blender/blender", python_args=("-I",))
    scripts = "/opt/blender/4.5/scripts"
    bpy = SimpleNamespace(app=app, __file__=f"{scripts}/modules/bpy/__init__.py")
    monkeypatch.setitem(sys.modules, "bpy", bpy)
    monkeypatch.setattr(sys, "path", ["", f"{scripts}/modules", "/extensions/site-packages"])
    assert launch.command("blender")[0] == "/opt/blender/blender"
    worker = launch.command("worker")
    assert worker[:2] == [sys.executable, "-I"]
    assert json.loads(worker[-1])["sys_path"] == ["/extensions/site-packages"]


def test_another_interpreter_for_the_worker(monkeypatch):
    monkeypatch.setenv("ANYMOCAP_PYTHON", sys.executable)
    assert json.loads(launch.command("worker")[-1])["sys_path"] == []
    monkeypatch.setenv("ANYMOCAP_PYTHON", "/nowhere/python")
    with pytest.raises(BadInputError, match=r"/nowhere/python: ANYMOCAP_PYTHON: is not a program\."):
        launch.command("worker")


def test_without_any_blender_the_remedy_is_named(monkeypatch):
    monkeypatch.delenv("ANYMOCAP_BLENDER", raising=False)
    monkeypatch.setattr(launch.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BadInputError, match=r"neither the bpy module nor a Blender.*ANYMOCAP_BLENDER"):
        launch.command("blender")


def test_a_warm_worker_of_former_preferences_is_not_taken_again(tmp_path):
    """The next request gets the interpreter and the variables that the preferences name by then."""
    chosen = {"python": "", "variable": "one"}
    pool = Pool(worker_python=lambda: chosen["python"], environment=lambda: {"ANYMOCAP_TEST": chosen["variable"]})
    log = tmp_path / "log"
    first = pool.take("worker", log)
    pool.give_back(first)
    assert pool.take("worker", log) is first
    pool.give_back(first)
    shared = pool.take("worker", log, "interactive")
    chosen["variable"] = "two"
    second = pool.take("worker", log)
    assert second is not first and pool.take("worker", log, "interactive") is not shared
    chosen["python"] = sys.executable
    pool.give_back(second)
    third = pool.take("worker", log)
    assert third is not second
    pool.close()
    third.close()
    assert all(process.exit_code() is not None for process in (first, shared, second, third))
