"""A move is filmed at a stand-in for fal by clicks: two takes, a lost reply, a withdrawal, and a Blender that dies."""

from __future__ import annotations

import json
import os
import signal
import urllib.request

MOVE = "stroll"


def play(user):
    yield from user.open_panel()
    yield from user.until(lambda: user.states() and user.states().survey, 20, "the panel knows the project")
    yield from the_prompt(user)
    yield from two_takes(user)
    yield from a_lost_reply(user)
    yield from a_withdrawal(user)
    yield from until_blender_dies(user)


def film(user):
    states = user.states()
    known = states.survey.film if states is not None and states.survey is not None else None
    return known if known is not None and known.move == MOVE else None


def the_prompt(user):
    yield from user.show_section(6)
    user.shot("no_move")
    user.settings.move = MOVE
    user.settings.stages.prompt.action = "The lynx strolls along."
    user.settings.stages.film.poll = 0.2
    yield from user.until(lambda: film(user), 20, "the panel knows the move")
    yield 1.0
    yield from user.click("anymocap.prompt")
    yield from user.until(lambda: film(user) and film(user).prompt, 60, "the prompt is written")
    yield 1.0
    user.shot("prompt")


def order(user, seeds):
    """Press Film, look at the dialog, agree."""
    user.settings.stages.film.seeds = seeds
    yield from user.until(lambda: film(user).new or film(user).going, 20, "the cost is known")
    yield 0.8
    yield from user.scroll_panel(30)  # to the end
    place = yield from user.find("anymocap.order_film")
    assert place, "no button that films"
    yield from user.click_at(*place)
    yield 1.0
    user.shot(f"pay_for_{seeds.replace(' ', '_')}")
    yield from confirm(user, *place)


def confirm(user, x, y):
    """Enter, with the mouse where it is: over the dialog that opened there."""
    for value in ("PRESS", "RELEASE"):
        user.window().event_simulate(type="RET", value=value, x=x, y=y)
        yield 0.2


def at_work(user):
    return user.module("ops.running").HOST.at_work()


def two_takes(user):
    yield from order(user, "1 2")
    yield from user.until(lambda: "queue" in note(user), 60, "the requests wait in the queue")
    yield 0.6
    user.shot("in_the_queue")
    yield from user.until(lambda: "at work" in note(user), 60, "the requests are at work")
    yield 0.6
    user.shot("being_made")
    yield from user.until(lambda: len(film(user).takes) == 2, 60, "both films are there")
    judged = lambda: all(take.verdict != "unchecked" for take in film(user).takes)  # noqa: E731
    yield from user.until(judged, 120, "both takes are checked")
    yield from user.until(lambda: not at_work(user), 60, "all is at rest")
    yield 1.5
    user.shot("two_takes")
    yield from user.scroll_panel(30)
    user.shot("below_the_takes")
    yield from user.scroll_panel(-30)
    takes = film(user).takes
    user.save_result(verdicts=[take.verdict for take in takes], reasons=takes[1].reasons)
    yield from user.click("anymocap.use_take")
    yield from user.until(lambda: user.settings.clip, 10, "a take is chosen")


def note(user):
    running = user.module("ops.running").HOST.of(paths(user), "film", MOVE)
    return running.note if running is not None else ""


def paths(user):
    return user.module("ops.scene_settings").scene_paths(user.window().scene)


def a_lost_reply(user):
    control(user, faults=[{"where": "submit", "what": "drop", "accepted": True}])
    yield from order(user, "3")
    yield from user.until(lambda: film(user).unknown and not at_work(user), 60, "nobody knows what became of it")
    yield 1.0
    user.shot("lost_reply")
    yield from user.scroll_panel(30)
    user.shot("lost_reply_below")
    yield from user.click("anymocap.settle_request")
    yield 1.0
    user.shot("what_became_of_it")
    yield from user.press("ESC")
    request = control(user)["jobs"][-1]["id"]
    with user.over():
        operators = __import__("bpy").ops.anymocap
        assert operators.settle_request("EXEC_DEFAULT", decision="follow", request=request) == {"FINISHED"}
    yield from user.until(lambda: len(film(user).takes) == 3, 90, "the film of the lost reply is there")
    yield from user.until(lambda: not at_work(user), 120, "all is at rest")


def a_withdrawal(user):
    control(user, queue_looks=10_000)
    yield from order(user, "4")
    yield from user.until(lambda: "queue" in note(user), 60, "it waits in the queue")
    yield 1.0
    user.shot("may_be_withdrawn")
    yield from user.scroll_panel(30)
    yield from user.click("anymocap.withdraw_film")
    yield from user.until(lambda: not at_work(user) and not film(user).going, 60, "it is withdrawn")
    yield 1.0
    user.shot("withdrawn")


def until_blender_dies(user):
    yield from order(user, "5")
    yield from user.until(lambda: film(user).going, 60, "the request is taken")
    control(user, queue_looks=1)
    os.kill(os.getpid(), signal.SIGKILL)
    yield 1.0


def control(user, **changes):
    """Talk to the stand-in."""
    body = json.dumps({"key": user.options["key"], **changes}).encode()
    asked = urllib.request.Request(user.options["server"] + "/control", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=10) as answer:
        return json.loads(answer.read())
