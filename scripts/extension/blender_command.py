"""Blender's own commands for extensions: build, validate and server-generate."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from .errors import PackagingError

VARIABLE = "BLENDER"
_TOOL = "*/scripts/addons_core/bl_pkg/cli/blender_ext.py"


def blender_extension(*arguments: str) -> str:
    """Run `blender --command extension …`.

    The Blender is the one of the variable BLENDER, else that of the bpy module of this Python, whose command is a plain
    script: it runs without loading Blender.

    Returns:
        What it printed.

    Raises:
        PackagingError: there is no Blender, or it refused.
    """
    ended = subprocess.run([*_command(), *arguments], capture_output=True, text=True)
    said = ended.stdout + ended.stderr
    if ended.returncode:
        raise PackagingError(f"Blender's extension {arguments[0]} failed: {_reason(said)}")
    return said


def _command() -> list[str]:
    chosen = os.environ.get(VARIABLE, "")
    if chosen:
        program = shutil.which(chosen)
        if program is None:
            raise PackagingError(f"{VARIABLE}={chosen} is not a program: name Blender's program file.")
        return [program, "-b", "--factory-startup", "--command", "extension"]
    spec = importlib.util.find_spec("bpy")
    tools = sorted(Path(spec.origin).parent.glob(_TOOL)) if spec and spec.origin else []
    if not tools:
        raise PackagingError(f"There is no Blender: set {VARIABLE}, or install requirements/blender.txt.")
    return [sys.executable, str(tools[-1])]


def _reason(said: str) -> str:
    errors = [line for line in said.splitlines() if "error" in line.lower()]
    return " ".join(errors or said.strip().splitlines()[-3:])
