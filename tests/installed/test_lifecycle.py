"""The zip installed into an empty user folder: enabled, disabled, enabled, and nothing is left behind."""

from __future__ import annotations

import zipfile
from pathlib import Path

from real_blender import EXTENSION, RealBlender, install

INSIDE = Path(__file__).parent / "inside"


def rewritten(source: Path, target: Path, old: str, new: str) -> Path:
    """A copy of a zip whose manifest says something else; its wheels are left out."""
    with zipfile.ZipFile(source) as original, zipfile.ZipFile(target, "w") as copy:
        for entry in original.infolist():
            data = original.read(entry)
            if entry.filename.endswith("blender_manifest.toml"):
                assert old in data.decode()
                data = data.decode().replace(old, new).encode()
            if not entry.filename.endswith(".whl"):
                copy.writestr(entry, data)
    return target


def test_nothing_is_left_behind(empty_blender: RealBlender, extension_zip: Path, tmp_path: Path) -> None:
    assert install(empty_blender, extension_zip, enable=False).code == 0
    script = [INSIDE / "lifecycle.py", "--", tmp_path / "project"]
    ended = empty_blender.run("-b", "--python-exit-code", "3", "--python", *script, timeout_s=300)
    assert ended.code == 0, ended.output
    for found in ended.last_json()["rounds"]:
        # While it was enabled it had all of these, so that looking for what is left can find something.
        assert {"types", "operators", "handlers", "properties", "children", "draw_handlers", "timers"} <= set(
            found["used"]
        )
        assert "heavy" not in found["used"]
        assert found["left"] == {}


def test_a_zip_of_another_platform_is_refused(empty_blender: RealBlender, extension_zip: Path, tmp_path: Path) -> None:
    other = rewritten(extension_zip, tmp_path / "other.zip", 'platforms = ["linux-x64"]', 'platforms = ["windows-x64"]')
    ended = install(empty_blender, other)
    assert "This platform (linux-x64) isn't one of (windows-x64)" in ended.output  # its exit code is 0 all the same
    assert not (empty_blender.resources / "extensions" / "user_default" / "anymocap").exists()


def test_without_online_access_the_extension_works(blender: RealBlender, tmp_path: Path) -> None:
    ended = blender.run("--offline-mode", "--command", "anymocap", "doctor", "--json")
    assert ended.code == 0 and ended.last_json()["ok"], ended.output


def test_every_poll_is_a_boolean_whatever_the_scene(blender: RealBlender, tmp_path: Path) -> None:
    ended = blender.script(INSIDE / "polls.py", tmp_path)
    assert ended.code == 0, ended.output
    found = ended.last_json()
    assert found["heavy"] == []
    for scene, answers in found["answers"].items():
        assert answers, scene
        assert {name: answer for name, answer in answers.items() if not isinstance(answer, bool)} == {}, scene
    assert not found["answers"]["empty scene"]["prep"] and found["answers"]["creature"]["prep"]


def test_the_extension_is_what_the_zip_holds(blender: RealBlender) -> None:
    said = blender.command("extension", "list").output
    assert "anymocap [installed]" in said, said
    code = f"import sys, bpy; m = sys.modules[{EXTENSION!r}]; print('FROM', m.__file__)"
    assert str(blender.resources) in blender.run("-b", "--python-expr", code).output
