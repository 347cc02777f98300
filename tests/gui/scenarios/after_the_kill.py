"""A new Blender finds the job of one that was killed: stopped, and it goes on."""

from __future__ import annotations


def play(user):
    yield from user.open_panel()
    yield from user.show_section(5)
    yield from user.until(lambda: user.word("train") == "stopped", 30, "the panel says that it was stopped")
    yield 0.6
    user.shot("stopped")
    pid = yield from user.start_training()
    user.save_result(worker=pid, done=user.fraction("train"))
    yield 0.5
    user.shot("goes_on")
    yield from user.click("anymocap.cancel")
    yield from user.until(lambda: user.running("train").word == "cancelled", 12, "it was cancelled")
