"""Scripts that would first install 2 GB answer --help, and refuse wrong options, before they do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.mark.skipif(os.name != "posix", reason="scripts are started by their first line")
@pytest.mark.parametrize(
    ("name", "argument", "code", "says"),
    [
        ("build_extension", "--help", 0, "--repository"),
        ("fetch_wheels", "--help", 0, "--without"),
        ("test", "--help", 0, "--layer NAME"),
        ("build_extension", "--nosuch", 2, "unrecognized arguments: --nosuch"),
    ],
)
def test_nothing_is_installed_for_a_look_at_the_options(tmp_path, name, argument, code, says):
    shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "scripts" / "setup_env").write_text("#!/bin/sh\ntouch installed\nexit 9\n")
    command = [tmp_path / "scripts" / name, argument]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == code, ended.stderr
    assert says in ended.stdout + ended.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scripts"]
