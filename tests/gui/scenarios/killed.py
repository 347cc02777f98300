"""Blender is killed while a job runs."""

from __future__ import annotations

import os
import signal


def play(user):
    yield from user.open_panel()
    pid = yield from user.start_training()
    user.save_result(worker=pid, done=user.fraction("train"))
    os.kill(os.getpid(), signal.SIGKILL)
    yield 1.0
