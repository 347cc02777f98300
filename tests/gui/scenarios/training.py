"""The window while training runs; cancel and go on by their buttons; the worker is killed from outside."""

from __future__ import annotations

import os
import signal
import statistics


def play(user):
    yield from user.open_panel()
    pid = yield from user.start_training()
    yield 1.0
    user.shot("trains")
    gaps = yield from user.heartbeat(6.0)
    gaps = sorted(gaps)
    user.save_result(
        heartbeat_p50_ms=round(statistics.median(gaps), 1),
        heartbeat_p95_ms=round(gaps[int(0.95 * (len(gaps) - 1))], 1),
        heartbeat_max_ms=round(gaps[-1], 1),
        heartbeats=len(gaps),
        redraw_ms=round(user.redraw_ms(), 1),
    )
    yield from cancelled(user)
    yield from goes_on(user)
    yield from killed(user)
    del pid


def cancelled(user):
    done = user.fraction("train")
    yield from user.click("anymocap.cancel")
    took = yield from user.until(lambda: user.running("train").word == "cancelled", 12, "training was cancelled")
    yield from user.until(lambda: user.word("train") == "stopped", 10, "the panel says so")
    yield 0.6
    user.shot("cancelled")
    user.save_result(cancel_s=round(took, 1), done_when_cancelled=done)


def goes_on(user):
    yield from user.click("anymocap.train")
    yield from user.until(lambda: user.running("train").at_work, 10, "training has begun again")
    first = []

    def begun():
        running = user.running("train")
        first.extend([running.fraction] if running.fraction and not first else [])
        return running.fraction > 0

    yield from user.until(begun, 60, "training goes on")
    user.save_result(done_at_first_when_resumed=first[0])
    # After 5 s a worker is terminated, and goes on from what it had saved by then.
    if user.result["cancel_s"] < 5.0:
        assert first[0] >= user.result["done_when_cancelled"], "it began anew"


def killed(user):
    pid = user.worker_pids("train")[-1]
    os.kill(pid, signal.SIGKILL)
    yield from user.until(lambda: user.running("train").word == "failed", 10, "the crash is known")
    yield from user.until(lambda: user.word("train") == "failed", 10, "the panel says so")
    yield 0.8
    user.shot("worker_killed")
    error = user.running("train").error
    assert error is not None and error.hint, "a crash without a remedy"
    user.save_result(crash=str(error))
    place = yield from user.find("anymocap.open_log")
    assert place, "no button Open Log"
    yield from user.find("anymocap.train")
