"""How a background process is started: which program, with which arguments."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any, Literal

from ..core.errors import BadInputError

Kind = Literal["worker", "blender"]
PACKAGE_FOLDER = Path(__file__).resolve().parent.parent
WORKER_SCRIPT = Path(__file__).resolve().parent / "worker.py"
BLENDER_VARIABLE = "ANYMOCAP_BLENDER"
PYTHON_VARIABLE = "ANYMOCAP_PYTHON"


def _host_bpy() -> Any:
    """The bpy of this process when it is a real Blender, else None; bpy as a module has no program of its own."""
    bpy = sys.modules.get("bpy")
    return bpy if bpy is not None and bpy.app.binary_path else None


def import_paths() -> list[str]:
    """What this process can import, for an isolated child, which ignores PYTHONPATH and its script's folder.

    A Blender's own script folders are left out: they hold a `bpy` that works only inside that Blender.
    """
    bpy = sys.modules.get("bpy")
    scripts = Path(bpy.__file__).parents[2] if bpy is not None and bpy.__file__ else None
    return [entry for entry in sys.path if entry and not (scripts and Path(entry).is_relative_to(scripts))]


def _argument(idle_s: float, own_path: bool) -> str:
    paths = import_paths() if own_path else []
    return json.dumps({"package": str(PACKAGE_FOLDER), "sys_path": paths, "idle_s": idle_s})


def chosen_python() -> str:
    """The interpreter that $ANYMOCAP_PYTHON names, which wins over the preferences; empty when it names none."""
    return os.environ.get(PYTHON_VARIABLE, "")


def worker_command(idle_s: float, python: str = "") -> list[str]:
    """Command of a plain Python process for torch and cv2.

    Args:
        python: the interpreter that the preferences name; empty = this process's own. $ANYMOCAP_PYTHON wins.

    Raises:
        BadInputError: the interpreter is not a program.
    """
    return python_command(WORKER_SCRIPT, {"package": str(PACKAGE_FOLDER), "idle_s": idle_s}, python)


def python_command(script: Path, argument: dict[str, Any], python: str = "") -> list[str]:
    """Command of a script in the worker's Python, isolated; `argument` gets the key sys_path.

    Raises:
        BadInputError: the interpreter is not a program.
    """
    chosen = chosen_python()
    named_by = PYTHON_VARIABLE if chosen else None
    chosen = chosen or python
    if chosen:
        if not shutil.which(chosen):
            hint = "Name a Python interpreter."
            if Path(chosen).is_dir():
                hint = "Name the Python in this folder, such as bin/python (Scripts\\python.exe on Windows)."
            raise BadInputError("is not a program.", key=named_by, file=chosen, hint=hint)
        return [chosen, "-I", "-X", "utf8", str(script), json.dumps({**argument, "sys_path": []})]
    bpy = _host_bpy()
    flags = list(bpy.app.python_args) if bpy else ["-I"]
    text = json.dumps({**argument, "sys_path": import_paths()})
    return [sys.executable, *flags, "-X", "utf8", str(script), text]


def blender_command(idle_s: float) -> list[str]:
    """Command of a background process that has bpy: this Blender, bpy as a module, or an installed Blender.

    Raises:
        BadInputError: there is neither.
    """
    bpy = _host_bpy()
    if bpy is not None:
        return _program_command(bpy.app.binary_path, idle_s, own_path=True)
    chosen = os.environ.get(BLENDER_VARIABLE, "")
    if not chosen and importlib.util.find_spec("bpy") is not None:
        return [sys.executable, "-I", "-X", "utf8", str(WORKER_SCRIPT), _argument(idle_s, own_path=True)]
    program = shutil.which(chosen or "blender")
    if program is None:
        raise BadInputError(
            "There is neither the bpy module nor a Blender program.",
            file=chosen or None,
            hint=f"Install requirements/blender.txt, or set {BLENDER_VARIABLE} to Blender's program file.",
        )
    return _program_command(program, idle_s, own_path=False)


def _program_command(program: str, idle_s: float, own_path: bool) -> list[str]:
    return [
        program,
        "-b",
        "--factory-startup",
        "--python-exit-code",
        "1",
        "--python",
        str(WORKER_SCRIPT),
        "--",
        _argument(idle_s, own_path),
    ]


def command(kind: Kind, idle_s: float = 0.0, python: str = "") -> list[str]:
    """Command of a background process of either kind.

    Args:
        idle_s: how long it waits for another request before it leaves, seconds.
        python: the worker's interpreter; empty = this process's own.
    """
    return worker_command(idle_s, python) if kind == "worker" else blender_command(idle_s)
