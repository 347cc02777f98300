"""From an empty project to keyframes by clicking what the panel offers next; every section is looked at."""

from __future__ import annotations

import bpy

TINY = {
    "dataset": {"poses": 8, "rows": 64},
    "train": {"steps": 2},
}
SECTIONS = ("prep", "rig", "reference", "dataset", "reader", "film", "capture", "apply", "takes")


def play(user):
    yield from user.open_panel()
    user.settings.project = user.options["project"]
    yield 0.5
    with user.over():
        assert bpy.ops.anymocap.add_builtin_creature() == {"FINISHED"}
    yield 0.5
    user.shot("at_work")
    yield from user.until(lambda: step(user) and step(user).stage == "prep", 60, "the next step is prep")
    for stage, values in TINY.items():
        for name, value in values.items():
            setattr(getattr(user.settings.stages, stage), name, value)
    yield from to_a_reader(user)
    yield from test_of_the_reader(user)
    yield from onto_the_creature(user)
    yield from every_section(user)


def step(user):
    states = user.states()
    return states.next_step if states is not None else None


def to_a_reader(user):
    for stage in ("prep", "rig", "ref", "dataset", "train"):
        yield from run_next(user, stage)


def run_next(user, stage):
    """Click the button of a stage when it is the next step."""
    yield from user.until(lambda: step(user).stage == stage and step(user).action == "stage", 30, f"next: {stage}")
    yield 0.6
    yield from user.click(f"anymocap.{stage}")
    yield 1.0
    if stage in ("prep", "train"):
        user.shot(f"{stage}_at_work")
    yield from user.until(lambda: user.word(stage) in ("ready", "failed"), 120, f"{stage} has ended")
    assert user.word(stage) == "ready", stage


def test_of_the_reader(user):
    # After two steps of training it is far off: a film is not asked for, and the test is there all the same.
    yield from user.until(lambda: step(user).action == "train_again", 30, "the reader is too far off")
    yield 0.6
    user.shot("doubtful_reader")
    user.settings.clip = "test"  # settings are those of the chosen clip
    user.settings.stages.exam.frames = 8
    yield from user.show_section(5)
    yield from user.click("anymocap.test_reader")
    host = user.module("ops.running").HOST
    yield from user.until(host.at_work, 10, "the test has begun")
    yield 1.0
    user.shot("test_at_work")
    yield from user.until(lambda: not host.at_work(), 180, "the test has ended")
    yield from user.show_section()
    yield 1.5


def onto_the_creature(user):
    yield from user.until(lambda: step(user).action == "bring_in", 30, "the creature is to be brought in")
    yield 0.6
    yield from user.click("anymocap.bring_in")
    yield from user.until(lambda: user.settings.armature is not None, 10, "the armature is here")
    yield from user.until(lambda: step(user).stage == "apply", 30, "the motion is to be applied")
    yield 0.6
    yield from user.click("anymocap.apply_here")
    data = user.settings.armature.animation_data
    yield from user.until(lambda: data and data.action, 20, "the motion is on the creature")
    yield from user.until(lambda: step(user).action == "done", 30, "there is nothing left to do")


def every_section(user):
    for number, name in enumerate(SECTIONS, 1):
        yield from user.show_section(number)
        yield 0.5
        user.shot(f"section_{number}_{name}")
