"""`doctor`: is everything there that the stages need?"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from ..core.errors import AnyMoCapError
from ..jobs.cores import usable_cores
from ..jobs.launch import BLENDER_VARIABLE, PYTHON_VARIABLE, blender_command, import_paths, worker_command

_WORKER_PROBE = (
    "import cv2, imageio_ffmpeg, numpy, torch;"
    "imageio_ffmpeg.get_ffmpeg_exe();"
    "print('torch', torch.__version__, 'cuda' if torch.cuda.is_available() else 'cpu',"
    " '| cv2', cv2.__version__, '| numpy', numpy.__version__)"
)
_BLENDER_PROBE = "import bpy; print('Blender', bpy.app.version_string)"
_TIMEOUT_S = 180
_LEAST_FREE_GB = 2


def doctor() -> dict[str, Any]:
    """Print what was found and return it; `ok` tells whether the stages can run."""
    checks = [
        _check("worker", _worker_probe, f"Install requirements/worker.txt, or set {PYTHON_VARIABLE}."),
        _check("blender", _blender_probe, f"Install requirements/blender.txt, or set {BLENDER_VARIABLE}."),
        _disk(Path.cwd()),
        {"name": "cores", "ok": True, "found": str(usable_cores()), "hint": ""},
    ]
    for check in checks:
        mark = "ok  " if check["ok"] else "FAIL"
        print(f"{mark} {check['name']:<8} {check['found']}" + ("" if check["ok"] else f"\n     {check['hint']}"))
    return {"ok": all(check["ok"] for check in checks), "checks": checks}


def _check(name: str, probe: Any, hint: str) -> dict[str, Any]:
    try:
        found = probe()
    except (AnyMoCapError, OSError, subprocess.SubprocessError) as error:
        output = getattr(error, "stderr", None) or str(error)
        return {"name": name, "ok": False, "found": output.strip().splitlines()[-1], "hint": hint}
    return {"name": name, "ok": True, "found": found, "hint": ""}


def _run(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=True)
    return ended.stdout.strip().splitlines()[-1]


def _with_path(code: str) -> str:
    return f"import sys; sys.path[:0] = {import_paths()!r}; {code}"


def _worker_probe() -> str:
    return _run([worker_command(0.0)[0], "-I", "-c", _with_path(_WORKER_PROBE)])


def _blender_probe() -> str:
    command = blender_command(0.0)
    if "--python" not in command:
        return _run([command[0], "-I", "-c", _BLENDER_PROBE])
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "probe.py"
        script.write_text(_BLENDER_PROBE, encoding="utf-8")
        return _run([command[0], "-b", "--factory-startup", "--python-exit-code", "1", "--python", str(script)])


def _disk(folder: Path) -> dict[str, Any]:
    free = shutil.disk_usage(folder).free / 1e9
    hint = f"Free some space: a creature takes about {_LEAST_FREE_GB} GB."
    return {"name": "disk", "ok": free > _LEAST_FREE_GB, "found": f"{free:.0f} GB free", "hint": hint}
