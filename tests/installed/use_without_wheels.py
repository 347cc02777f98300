"""Runs in a Blender of its own whose Python has nothing but what Blender brings: the add-on without its wheels.

use_without_wheels.py ZIP PROJECT RESULT.json
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import bpy

MODULE = "bl_ext.user_default.anymocap"


def main(archive: str, project: Path) -> dict[str, Any]:
    sys.path.append(str(Path(__file__).resolve().parent))
    bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
    from bl_ext.user_default.anymocap.core.errors import BadInputError
    from bl_ext.user_default.anymocap.core.project import Project
    from bl_ext.user_default.anymocap.jobs.pool import Pool
    from bl_ext.user_default.anymocap.jobs.stage import Registry, Stage, Step
    from bl_ext.user_default.anymocap.jobs.stage_run import StageRun
    from bl_ext.user_default.anymocap.ops.worker_lack import worker_lack

    found: dict[str, Any] = {"enabled": MODULE in bpy.context.preferences.addons, "lack": worker_lack(bpy.context)}
    stage = Stage("imports", "Imports", "import all", (Step("worker", "worker_imports:run", package="steps"),))
    try:
        for event in StageRun(Project(project).creature("c"), stage, {}, pool=Pool(), registry=Registry((stage,))):
            if event is None:
                time.sleep(0.05)
    except BadInputError as error:
        found["stage"] = str(error)
    bpy.context.preferences.addons[MODULE].preferences.worker_python = sys.executable
    found["another"] = worker_lack(bpy.context)
    return found


if __name__ == "__main__":
    archive, project, result = sys.argv[-3:]
    Path(result).write_text(json.dumps(main(archive, Path(project))), encoding="utf-8")
