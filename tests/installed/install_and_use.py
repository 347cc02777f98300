"""Runs in a Blender of its own: installs a zip, enables, disables, enables, and uses what is installed.

install_and_use.py ZIP PROJECT RESULT.json
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import bpy

MODULE = "bl_ext.user_default.anymocap"
HEAVY = ("torch", "cv2", "transformers", "fal_client", "httpx", "imageio_ffmpeg")


def traces() -> dict[str, Any]:
    """What the add-on leaves in Blender."""
    classes = sorted(name for name in dir(bpy.types) if "anymocap" in name.lower())
    handlers = [
        f"{kind}: {handler.__module__}"
        for kind in dir(bpy.app.handlers)
        if isinstance(getattr(bpy.app.handlers, kind), list)
        for handler in getattr(bpy.app.handlers, kind)
        if "anymocap" in handler.__module__
    ]
    return {"classes": classes, "handlers": sorted(handlers), "scene": hasattr(bpy.types.Scene, "anymocap")}


def use(project: Path) -> dict[str, Any]:
    """Run stages through the operators, and a step of our own through the add-on's launch code."""
    from bl_ext.user_default.anymocap.core.project import Project
    from bl_ext.user_default.anymocap.jobs.pool import Pool
    from bl_ext.user_default.anymocap.jobs.stage import Registry, Stage, Step
    from bl_ext.user_default.anymocap.jobs.stage_run import StageRun
    from bl_ext.user_default.anymocap.jobs.worker_packages import missing_packages

    scene = bpy.context.scene.anymocap
    scene.project, scene.creature = str(project), "lynx"
    said = [sorted(bpy.ops.anymocap.example()), sorted(bpy.ops.anymocap.prompt(move="walk", action="It walks."))]
    stage = Stage("imports", "Imports", "import all", (Step("worker", "worker_imports:run", package="steps"),))
    run = StageRun(Project(project).creature("lynx"), stage, {}, pool=Pool(), registry=Registry((stage,)))
    for event in run:
        if event is None:
            time.sleep(0.05)
    return {"said": said, "missing": missing_packages(), "worker": run.result.figures}


def main(archive: str, project: Path) -> dict[str, Any]:
    import addon_utils  # of Blender's own scripts, there once bpy is loaded

    sys.path.append(str(Path(__file__).resolve().parent))  # goes along to the worker, which finds `steps` there
    found: dict[str, Any] = {"before": traces()}
    began = time.monotonic()
    bpy.ops.extensions.package_install_files(filepath=archive, repo="user_default", enable_on_install=True)
    found["seconds"] = round(time.monotonic() - began, 1)
    found["enabled"] = addon_utils.check(MODULE)
    found["first"] = traces()
    bpy.ops.preferences.addon_disable(module=MODULE)
    found["disabled"] = traces()
    bpy.ops.preferences.addon_enable(module=MODULE)
    found["again"] = traces()
    found["use"] = use(project)
    found["heavy"] = [name for name in HEAVY if name in sys.modules]
    bpy.ops.preferences.addon_disable(module=MODULE)
    found["after"] = traces()
    return found


if __name__ == "__main__":
    archive, project, result = sys.argv[-3:]
    Path(result).write_text(json.dumps(main(archive, Path(project))), encoding="utf-8")
