"""The preferences of the enabled extension: what they hold, what follows them, and where the fal key never appears.

Each test is a Blender of its own, whose user folder has the working tree as an installed extension.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_wheels import make_wheels

REPOSITORY = Path(__file__).resolve().parents[2]
MODULE = "bl_ext.user_default.anymocap"
KEY = "0a1b2c3d-4e5f:" + "9f8e7d6c5b4a" * 30  # 374 letters
START = f"""
import bpy, importlib, json, os, pathlib, sys
assert bpy.ops.preferences.addon_enable(module={MODULE!r}) == {{"FINISHED"}}
MODULE, KEY = {MODULE!r}, {KEY!r}
ours = lambda name: importlib.import_module(f"{MODULE}.{{name}}")
preferences = bpy.context.preferences.addons[MODULE].preferences
user = pathlib.Path(bpy.utils.extension_path_user(MODULE))
"""


class Blender:
    """Blenders that share one user folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.resources = folder / "user"
        extension = self.resources / "extensions" / "user_default" / "anymocap"
        extension.mkdir(parents=True)
        for source in (REPOSITORY / "blender_manifest.toml", *(REPOSITORY / "anymocap_addon").iterdir()):
            if source.name != "__pycache__":
                (extension / source.name).symlink_to(source)

    def run(self, code: str, **variables: str) -> dict:
        """Run it with what START defines; it puts its answer into the dict `found`."""
        ours = ("FAL_KEY", "ANYMOCAP_")
        environment = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
        environment.update(BLENDER_USER_RESOURCES=str(self.resources), PYTHONDONTWRITEBYTECODE="1", **variables)
        text = f"{START}\nfound = {{}}\n{code}\nprint('FOUND', json.dumps(found))"
        command = [sys.executable, "-c", text]
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=self.folder, check=False)
        assert ended.returncode == 0, ended.stderr + ended.stdout
        self.said = ended.stdout + ended.stderr
        line = next(line for line in ended.stdout.splitlines() if line.startswith("FOUND "))
        return json.loads(line.removeprefix("FOUND "))


@pytest.fixture
def blender(tmp_path) -> Blender:
    return Blender(tmp_path)


def test_the_key_stays_in_its_file_and_nowhere_else(blender, tmp_path):
    found = blender.run(
        f"""
preferences.fal_key = KEY
found["shown"] = preferences.fal_key
found["readable"] = [str(getattr(preferences, name)) for name in preferences.bl_rna.properties.keys()]
found["mode"] = oct((user / "fal_key").stat().st_mode & 0o777)
found["whole"] = (user / "fal_key").read_text() == KEY
preferences.fal_key = preferences.fal_key
found["kept"] = (user / "fal_key").read_text() == KEY
bpy.ops.wm.save_userpref()
bpy.ops.wm.save_homefile()
bpy.ops.wm.save_as_mainfile(filepath={str(tmp_path / "scene.blend")!r}, compress=False)
bpy.context.scene.anymocap.project = {str(tmp_path / "project")!r}
bpy.context.scene.anymocap.creature = "c"
try:
    bpy.ops.anymocap.prompt(move="walk", action="It walks.")
except RuntimeError as error:  # creature.json has no words yet; the worker has run
    found["prompt"] = str(error)
pool = ours("ops.running").HOST.pool
worker = pool._idle
found["command"] = pathlib.Path(f"/proc/{{worker.pid}}/cmdline").read_text() if sys.platform == "linux" else ""
found["environment"] = pathlib.Path(f"/proc/{{worker.pid}}/environ").read_text() if sys.platform == "linux" else ""
pool.close()
preferences.fal_key = "not a key"
found["refusal"] = ours("ops.stored_key").refusal()
found["after refusal"] = (user / "fal_key").read_text() == KEY
"""
    )
    assert found["shown"] and KEY not in json.dumps(found)
    assert found["whole"] and found["kept"] and found["after refusal"]
    assert found["mode"] == "0o600" or os.name == "nt"
    assert "This is no fal key." in found["refusal"] and "not a key" not in found["refusal"]
    assert "ANYMOCAP_USER_FOLDER=" in found["environment"] or sys.platform != "linux"
    assert KEY not in blender.said
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    searched = {path.name for path in files}
    assert {"userpref.blend", "startup.blend", "scene.blend", "job.json", "events.jsonl", "log.txt"} <= searched
    assert [path.name for path in files if KEY.encode() in path.read_bytes()] == ["fal_key"]


def test_the_key_of_the_environment_wins_and_an_empty_entry_forgets(blender):
    look = "found['source'], found['shown'] = ours('ops.stored_key').current_source(), bool(preferences.fal_key)\n"
    assert blender.run(look) == {"source": "none", "shown": False}
    assert blender.run("preferences.fal_key = KEY\n" + look) == {"source": "stored", "shown": True}
    assert blender.run(look, FAL_KEY="other") == {"source": "environment", "shown": True}
    assert blender.run("preferences.fal_key = ''\n" + look) == {"source": "none", "shown": False}
    forget = "preferences.fal_key = KEY\nfound['done'] = list(bpy.ops.anymocap.forget_fal_key())\n"
    assert blender.run(forget + look) == {"done": ["FINISHED"], "source": "none", "shown": False}


@pytest.mark.needs_torch
def test_the_worker_follows_the_preferences_also_on_the_command_line(blender, tmp_path):
    python = tmp_path / "my python"
    python.write_text(f'#!/bin/sh\ntouch "{tmp_path}/used"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    found = blender.run(
        f"""
module = ours("ops.preference_values")
plain, untouched = vars(module.PreferenceValues()), vars(module.preference_values())
found["differ"] = [name for name in plain if untouched[name] != plain[name]]
preferences.worker_python, preferences.device, preferences.threads = {str(python)!r}, "cpu", 3
preferences.project_folder, preferences.preview_rows = {str(tmp_path)!r}, 240
values = ours("ops.preference_values").preference_values()
found["values"] = [values.worker_python, values.device, values.threads, values.project_folder, values.preview_rows]
found["weights"] = values.weights_folder
found["checked"] = list(bpy.ops.anymocap.check_worker())
found["line"] = ours("ops.worker_tasks").TASKS.report(values).line()
preferences.device = "auto"
found["stale"] = ours("ops.worker_tasks").TASKS.report(ours("ops.preference_values").preference_values()) is None
pathlib.Path({str(tmp_path / "used")!r}).unlink()
found["exit"] = ours("registration")._command(["doctor", "--json"])
"""
    )
    assert found["differ"] == ["weights_folder"], "a property's default is not that of PreferenceValues"
    assert found["values"] == [str(python), "cpu", 3, str(tmp_path), 240]
    assert Path(found["weights"]).name == "weights" and blender.resources in Path(found["weights"]).parents
    assert found["checked"] == ["FINISHED"] and "processor" in found["line"] and found["stale"]
    assert found["exit"] == 0 and (tmp_path / "used").exists()
    assert str(blender.resources) in blender.said and "fal key" in blender.said


def test_a_worker_that_cannot_be_one_is_refused_with_a_remedy(blender):
    found = blender.run(
        """
preferences.worker_python = "/nowhere/python"
for operator in (bpy.ops.anymocap.check_worker, lambda: bpy.ops.anymocap.prompt(move="walk", action="It walks.")):
    bpy.context.scene.anymocap.project, bpy.context.scene.anymocap.creature = str(user), "c"
    try:
        operator()
    except RuntimeError as error:
        found[str(len(found))] = str(error)
"""
    )
    assert list(found) == ["0", "1"]
    assert all("/nowhere/python: is not a program. Name a Python interpreter." in text for text in found.values())


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac is refused for another reason")
@pytest.mark.needs_torch
def test_without_online_access_no_gpu_worker_is_set_up(blender, tmp_path):
    """bpy as a module has no access to the internet, as a Blender that was never allowed it."""
    found = blender.run(
        f"""
found["online"] = bpy.app.online_access
found["poll"] = bpy.ops.anymocap.setup_gpu_worker.poll()
try:
    bpy.ops.anymocap.setup_gpu_worker()
except RuntimeError as error:
    found["says"] = str(error)
preferences.package_index = {str(tmp_path)!r}
found["folder of wheels"] = bpy.ops.anymocap.setup_gpu_worker.poll()
try:
    bpy.ops.anymocap.setup_gpu_worker()
except RuntimeError as error:
    found["empty folder"] = str(error)
found["still"] = preferences.worker_python
"""
    )
    assert (found["online"], found["poll"], found["folder of wheels"]) == (False, False, True)
    assert "Allow Online Access" in found["says"]
    assert "pip could not install the packages: No matching distribution found" in found["empty folder"]
    assert found["still"] == "", "what is not finished became the worker's"


@pytest.mark.needs_torch
def test_a_gpu_worker_that_was_set_up_becomes_the_worker(blender, tmp_path):
    make_wheels(tmp_path / "wheels")
    found = blender.run(
        f"""
preferences.package_index = {str(tmp_path / "wheels")!r}
found["done"] = list(bpy.ops.anymocap.setup_gpu_worker())
found["python"] = preferences.worker_python
report = ours("ops.worker_tasks").TASKS.report(ours("ops.preference_values").preference_values())
found["checked"] = report.line()
""",
        PIP_CONFIG_FILE=os.devnull,
    )
    assert found["done"] == ["FINISHED"] and "Card 9" in found["checked"]
    assert blender.resources in Path(found["python"]).parents and Path(found["python"]).is_file()


def test_disabling_ends_what_is_at_work(blender, tmp_path):
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho $$ > "{tmp_path}/pid"\nexec sleep 60\n')
    python.chmod(0o755)
    found = blender.run(
        f"""
import time
preferences.worker_python = {str(python)!r}
tasks, pid = ours("ops.worker_tasks").TASKS, pathlib.Path({str(tmp_path / "pid")!r})
tasks.start_check()
while not pid.exists() or not pid.read_text():
    assert tasks.step()
    time.sleep(0.02)
found["alive"] = ours("jobs.alive").process_alive(int(pid.read_text()))
alive = ours("jobs.alive").process_alive
bpy.ops.preferences.addon_disable(module=MODULE)
found["after"] = alive(int(pid.read_text()))
"""
    )
    assert found == {"alive": True, "after": False}
