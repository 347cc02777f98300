"""`demo`: from a mesh to keyframed motion and its report, resumable."""

from __future__ import annotations

import argparse
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.atomic import write_json
from ..core.formats import read_json
from ..core.project import CreaturePaths, Project
from ..jobs.cores import usable_cores
from ..jobs.pool import Pool
from ..jobs.reader_test import has_own_motion
from ..jobs.stage import Registry
from ..jobs.stage_run import StageResult, StageRun
from .demo_table import print_table
from .drive import drive

SETUP_VARIABLE = "ANYMOCAP_SETUP_SECONDS"
BUILT_IN = "lynx"
SENTENCE = "It walks on the spot at an even, relaxed pace."
# What --quick makes smaller; everything else is the stage's own default.
QUICK: dict[str, dict[str, Any]] = {"dataset": {"poses": 320}, "train": {"preset": "quick"}, "exam": {"frames": 48}}


@dataclass
class _Demo:
    """One run of the demo: runs stages one after the other and remembers what they said."""

    registry: Registry
    paths: CreaturePaths
    pool: Pool
    quick: bool
    count: int
    results: dict[str, StageResult] = field(default_factory=dict)
    reached: int = 0

    def run(self, stage: str, **settings: Any) -> StageResult:
        """Run a stage, or find that it is done."""
        values = {**(QUICK.get(stage, {}) if self.quick else {}), **settings}
        run = StageRun(self.paths, self.registry[stage], values, pool=self.pool, registry=self.registry)
        self.results[stage] = drive(run, self._title(stage))
        return self.results[stage]

    def _title(self, stage: str) -> str:
        self.reached += 1
        return f"{self.reached:2}/{self.count} {self.registry[stage].label}"


def demo(registry: Registry, arguments: argparse.Namespace, pool: Pool) -> dict[str, Any]:
    """Run the pipeline; print where the pictures are and a table of figures; write report.json into the project.

    Returns:
        The content of that report.json.

    Raises:
        AnyMoCapError: a stage failed; the ones before it stay done, and the next run goes on from there.
    """
    began = time.monotonic()
    mesh = str(Path(arguments.mesh).absolute()) if arguments.mesh else ""
    name = arguments.creature or (_folder_name(Path(mesh).stem) if mesh else BUILT_IN)
    paths = Project(Path(arguments.project or "build/demo")).creature(Path(name).name)
    clip = _folder_name(arguments.action.lower() or "walk")
    work = _Demo(registry, paths, pool, arguments.quick, count=12 if mesh else 13)
    if not mesh:
        work.run("example")
    _run_pipeline(work, mesh, arguments.action, clip)
    report = _report(work, clip, time.monotonic() - began, arguments.quick)
    write_json(paths.root / "report.json", report)
    _print_places(report)
    print_table(report)
    return report


def _run_pipeline(work: _Demo, mesh: str, action: str, clip: str) -> None:
    work.run("prep", mesh=mesh)
    work.run("rig")
    work.run("ref")
    work.run("prompt", move=clip, action=SENTENCE)
    work.run("dataset")
    work.run("train")
    # A creature without an Action of its own is examined on a random motion.
    own_motion = bool(action) or has_own_motion(work.paths)
    work.run("exam", clip=clip, kind="action" if own_motion else "random", action=action, faults="typical")
    for stage in ("detect", "fit", "apply", "showcase", "report"):
        work.run(stage, clip=clip)


def _report(work: _Demo, clip: str, wall_s: float, quick: bool) -> dict[str, Any]:
    files = work.paths.clip(clip)
    figures = read_json(files.report_json, "report")
    seconds = {stage: round(result.seconds, 1) for stage, result in work.results.items()}
    setup = os.environ.get(SETUP_VARIABLE, "")
    return {
        **figures,
        "quick": quick,
        "cores": usable_cores(),
        "seconds": seconds,
        "seconds_all_stages": round(sum(seconds.values()), 1),
        "seconds_detect_to_apply": round(sum(seconds[stage] for stage in ("detect", "fit", "apply")), 1),
        "seconds_this_run": round(wall_s, 1),
        "seconds_installing": float(setup) if setup else None,
        "pictures": {
            "reference": str(work.paths.ref_png),
            "dataset": str(work.paths.dataset_sheet),
            "overlay": str(files.overlay),
            "showcase": str(files.showcase),
            "report": str(files.report_png),
            "animation": str(files.animation_glb),
            "blend": str(files.applied_blend),
        },
    }


def _print_places(report: dict[str, Any]) -> None:
    print("\nLook at")
    for name, path in report["pictures"].items():
        print(f"  {name:<10} {path}")


def _folder_name(text: str) -> str:
    """A name for a folder, from a file's or an Action's name."""
    return re.sub(r"[^\w \-]+", "_", text).strip(" _") or "creature"
