"""A process that runs a tiny stage, as a command line or a second Blender does; it prints the pids of its workers."""

from __future__ import annotations

import subprocess
import sys

from anymocap_addon.core.project import CreaturePaths

HOST = """
import sys, time
sys.path[:0] = {paths!r}
from pathlib import Path
from tiny_stages import TINY
from anymocap_addon.core.project import Project
from anymocap_addon.jobs.pool import Pool
from anymocap_addon.jobs.stage_run import StageRun
paths = Project(Path({root!r})).creature({name!r})
for event in StageRun(paths, TINY[{stage!r}], {settings!r}, pool=Pool(), registry=TINY):
    if event is None:
        time.sleep(0.01)
    elif event["event"] in ("hello", "metric"):
        print(event.get("pid") or event["value"], flush=True)
"""


def start_host(paths: CreaturePaths, stage: str, **settings: object) -> subprocess.Popen[str]:
    code = HOST.format(
        paths=[entry for entry in sys.path if entry],
        root=str(paths.root),
        name=paths.name,
        stage=stage,
        settings=settings,
    )
    return subprocess.Popen([sys.executable, "-I", "-c", code], stdout=subprocess.PIPE, text=True)
