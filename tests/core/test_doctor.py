"""doctor: finds the versions among what programs print, says what is missing, and never the key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anymocap_addon.cli import main
from anymocap_addon.core.film.key import store_key
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.worker_probe import MARK

KEY = "secret-5f2a:77aa"
ANSWER = {
    "python": "3.11.9",
    "modules": {name: {"version": "9.9"} for name in ("numpy", "torch", "cv2", "imageio_ffmpeg")},
    "threads": 4,
    "worker": "",
}
NOISY_BLENDER = """#!/bin/sh
echo "Read prefs: somewhere"
while [ "$1" != --python ]; do shift; done
grep -q version_string "$2" && printf '\\nanymocap-blender:%s\\n' "4.9.9 Test"
echo "Blender quit"
"""


def program(file: Path, text: str) -> str:
    file.write_text(text)
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A worker and a Blender that answer as they should; the worker's warnings are the only complaint."""
    answer = tmp_path / "answer"
    answer.write_text(MARK + json.dumps(ANSWER) + "\n")
    python = program(tmp_path / "python", f"#!/bin/sh\ncat '{answer}'\n")
    monkeypatch.delenv("ANYMOCAP_PYTHON", raising=False)
    monkeypatch.delenv("FAL_KEY", raising=False)
    monkeypatch.setenv("ANYMOCAP_BLENDER", program(tmp_path / "blender", NOISY_BLENDER))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    return tmp_path, python


def findings(pool: Pool, capsys) -> tuple[int, dict, str]:
    code = main(["doctor", "--json"], pool=pool)
    out = capsys.readouterr().out
    answer = json.loads(out.strip().splitlines()[-1])
    return code, {check["name"]: check for check in answer["checks"]}, out


def test_all_is_there(programs, capsys):
    folder, python = programs
    store_key(folder / "user", KEY)
    pool = Pool(worker_python=lambda: python, environment=lambda: {"ANYMOCAP_USER_FOLDER": str(folder / "user")})
    code, found, out = findings(pool, capsys)
    assert code == 0, found
    assert found["blender"]["found"] == "Blender 4.9.9 Test"
    assert found["worker"]["found"].startswith("Python 3.11.9, torch 9.9")
    assert "tested with" in found["worker"]["hint"]
    assert found["fal key"]["found"] == "stored" and KEY not in out
    assert found["user folder"]["found"] == str(folder / "user")


def test_what_is_missing_has_a_hint(programs, capsys, monkeypatch):
    folder, _ = programs
    monkeypatch.setenv("ANYMOCAP_BLENDER", program(folder / "broken", "#!/bin/sh\necho no display >&2; exit 1\n"))
    (folder / "file").touch()
    pool = Pool(
        worker_python=lambda: str(folder / "no python"),
        environment=lambda: {"ANYMOCAP_USER_FOLDER": str(folder / "file" / "user")},
    )
    code, found, _ = findings(pool, capsys)
    assert code == 1
    assert not found["worker"]["ok"] and "is not a program" in found["worker"]["found"] and found["worker"]["hint"]
    assert (found["blender"]["ok"], found["blender"]["found"]) == (False, "no display")
    assert not found["user folder"]["ok"]
    assert found["fal key"]["ok"] and "FAL_KEY" in found["fal key"]["hint"], "only filming needs a key"
