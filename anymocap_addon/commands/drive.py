"""Runs a stage to its end in the foreground: the command line's counterpart of the panel's timer."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from ..core.errors import AnyMoCapError, CancelledError
from ..jobs.stage_run import StageResult, StageRun
from .progress import ProgressLine

_LOOK_EVERY_S = 0.03


def drive(run: StageRun, title: str) -> StageResult:
    """Step `run` until it has ended, showing its progress.

    The first Ctrl-C cancels the stage, which stays resumable; a second one kills it.

    Raises:
        AnyMoCapError: what the stage raised.
    """
    line = ProgressLine(title)
    try:
        with _interrupt_cancels(run):
            for event in run:
                if event is None:
                    time.sleep(_LOOK_EVERY_S)
                else:
                    line.event(event)
    except AnyMoCapError as error:
        line.finish("stopped" if isinstance(error, CancelledError) else "failed")
        raise
    finally:
        run.close()
    assert run.result is not None
    line.finish("already done" if run.result.skipped else "done")
    return run.result


@contextmanager
def _interrupt_cancels(run: StageRun) -> Iterator[None]:
    """An exception out of the blue would end the run's generator; so the first Ctrl-C is only noted."""

    def note(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, former)
        run.cancel()

    # None: Blender's own handler, which Python can't put back and which only sets a flag that nothing here looks at.
    former = signal.getsignal(signal.SIGINT)
    if former is None:
        former = signal.default_int_handler
    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
