"""Runs to their end, for a Blender without a window and for what changes the open scene."""

from __future__ import annotations

import time

import bpy

from ..jobs.plan import PlanRun
from ..jobs.stage_run import StageRun
from .running import HOST

_LOOK_EVERY_S = 0.03


def run_to_end(run: StageRun | PlanRun) -> None:
    """Block until it has ended.

    Raises:
        AnyMoCapError: it failed.
    """
    try:
        for event in run:
            if event is None:
                time.sleep(_LOOK_EVERY_S)
    finally:
        HOST.touch()


def run_or_start(run: StageRun) -> None:
    """In a window the timer steps it; a Blender without one blocks until it has ended.

    Raises:
        AnyMoCapError: without a window: it failed.
    """
    if bpy.app.background:
        run_to_end(run)
    else:
        HOST.start(run)
