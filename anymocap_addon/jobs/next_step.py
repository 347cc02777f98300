"""What an artist should do next, from the states of the stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from .state import StageState

Action = Literal[
    "stage",
    "wait",
    "add_mesh",
    "check_creature",
    "say_facing",
    "place_joints",
    "test_reader",
    "train_again",
    "add_clip",
    "use_take",
    "bring_in",
    "done",
]
CREATURE_STEPS = ("prep", "rig", "ref", "dataset", "train")
_DO = {
    "prep": "bring the mesh to size",
    "rig": "rig the creature",
    "ref": "draw the reference",
    "dataset": "draw the training poses",
    "train": "train the reader",
    "detect": "read and fit {clip}",
    "fit": "fit {clip}",
    "apply": "put {clip} on the creature",
}

# Why it comes next; what a later step builds on is to be looked at before.
_WHY = {
    "prep": "It gets its real size, is turned as you said and stands on the ground. Its length is in Prep's settings.",
    "rig": "Its own armature is taken over, or one is built, and every limb gets a colour.",
    "ref": "The picture that a film starts from: front and side at once.",
    "dataset": "Look at the reference first: the whole creature, its head to the right, each limb in its own colour.",
    "train": "Look at the poses first: would the creature move like that? This takes the longest.",
    "detect": "",
    "fit": "",
    "apply": "",
}


@dataclass(frozen=True)
class NextStep:
    """The one next step.

    Attributes:
        action: "stage" runs `stage`; "wait": it runs already; the others are what the artist does.
        stage: name of the stage, empty for actions without one.
        title: what to do, in a few words.
        why: what it is good for, or what is wrong; may be empty.
        seconds: estimate of what it takes, where there is one.
    """

    action: Action
    stage: str
    title: str
    why: str
    seconds: float | None = None


@dataclass(frozen=True)
class Situation:
    """What the next step is told from.

    Attributes:
        states: by stage name, of the creature and of the active clip.
        clip: the active clip, empty when none is chosen.
        has_mesh: the creature has a mesh, or one was prepared.
        has_video: the active clip has a video.
        has_armature: there is an armature to put the motion on.
        tested: this reader was examined on a clip whose truth is known.
        test_score: what that found.
        reader_doubt: what speaks against the reader, with the remedy; empty where nothing does.
        capture_doubt: what speaks against the reading or the fit of the active clip.
        made_elsewhere: stages that never ran here although all that they make is there.
        seconds: estimates by stage name.
        move: the move that is filmed; usable_takes: of its takes, those that the gate has not refused.
        facing_asked: the artist has not yet said which way it faces, and nothing is built upon it.
        checked: the picture that the question is answered from is there.
        lacks_skeleton: the prepped mesh has no armature, and none was placed in it yet.
    """

    states: Mapping[str, StageState]
    clip: str = ""
    has_mesh: bool = True
    has_video: bool = False
    has_armature: bool = True
    tested: bool = False
    test_score: str = ""
    reader_doubt: str = ""
    capture_doubt: str = ""
    made_elsewhere: frozenset[str] = frozenset()
    seconds: Mapping[str, float | None] = field(default_factory=dict)
    move: str = ""
    usable_takes: int = 0
    facing_asked: bool = False
    checked: bool = False
    lacks_skeleton: bool = False


def next_step(situation: Situation) -> NextStep:
    """The first step of the pipeline that is not done; running and failed ones count as not done."""
    if not situation.has_mesh:
        return NextStep("add_mesh", "", "choose the creature's mesh", "It has none yet.")
    if situation.clip and _is_done(situation, "fit"):
        return _after_capture(situation)  # read by whatever reader; a reader that is out of date makes the fit so too
    if situation.facing_asked:
        return _facing_step(situation)
    for name in CREATURE_STEPS:
        if name == "rig" and situation.lacks_skeleton and not _is_done(situation, name):
            return _skeleton_step(situation)
        if not _is_done(situation, name):
            return _stage_step(situation, name)
    has_clip = bool(situation.clip) and (situation.has_video or _has_begun(situation))
    if not has_clip and situation.reader_doubt:
        # A film costs money; one that is there already is read all the same when the artist wants it.
        seconds = situation.seconds.get("train")
        return NextStep("train_again", "", "train the reader again", _sentence(situation.reader_doubt), seconds)
    if not situation.clip and not situation.tested:
        why = "It shows how well the reader sees, before a film is paid for."
        return NextStep("test_reader", "", "test the reader", why, situation.seconds.get("test"))
    if not has_clip and situation.usable_takes:
        return NextStep("use_take", "", f"choose a take of {situation.move}", "Look at the takes under 6  Film.")
    if not has_clip:
        why = "Film a move, or add a film of your own that shows the creature from the front and its side."
        return NextStep("add_clip", "", "film it, or add a clip", f"{_test_told(situation)} {why}".strip())
    return _stage_step(situation, "fit" if _is_done(situation, "detect") else "detect")


def _facing_step(situation: Situation) -> NextStep:
    state = situation.states.get("checkup")
    title = "check the creature and say which way it faces"
    if state is not None and state.word == "running":
        return NextStep("wait", "checkup", title, "It is running.")
    if not situation.checked:
        why = "All that follows is built on it, so it is asked and not guessed. Nothing is changed yet."
        return NextStep("check_creature", "", title, why, situation.seconds.get("checkup"))
    why = "Look at the picture under 1  Prep: does the arrow point where it looks? Answer below the picture."
    return NextStep("say_facing", "", "say which way it faces", why)


def _skeleton_step(situation: Situation) -> NextStep:
    state = situation.states.get("template")
    if state is not None and state.word == "running":
        return NextStep("wait", "template", "place a skeleton", "It is running.")
    why = "The mesh came without one. Choose the body that is most like it under 2  Rig, then move its joints."
    return NextStep("place_joints", "", "place a skeleton", why)


def _test_told(situation: Situation) -> str:
    return f"The test: {situation.test_score}." if situation.test_score else ""


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _after_capture(situation: Situation) -> NextStep:
    if not situation.has_armature:
        why = situation.capture_doubt or "Its motion needs an armature here."
        return NextStep("bring_in", "", "bring the creature into this scene", why)
    if not _is_done(situation, "apply"):
        return _stage_step(situation, "apply")
    return NextStep("done", "", f"scrub {situation.clip} against its clip", situation.capture_doubt or "Play it.")


def _is_done(situation: Situation, name: str) -> bool:
    state = situation.states.get(name)
    return name in situation.made_elsewhere or (state is not None and state.word == "ready")


def _has_begun(situation: Situation) -> bool:
    state = situation.states.get("detect")
    return state is not None and state.word != "missing"


def _stage_step(situation: Situation, name: str) -> NextStep:
    state = situation.states.get(name)
    word = state.word if state else "missing"
    title = _DO[name].format(clip=situation.clip)
    seconds = situation.seconds.get(name)
    if word == "running":
        return NextStep("wait", name, title, "It is running.")
    why = {
        "missing": _WHY[name],
        "stale": _why_stale(state) if state else "",
        "failed": "It failed; the reason stands below.",
    }[word]
    if name in ("detect", "fit") and word == "missing":
        why = _sentence(situation.reader_doubt)
    elif name == "apply" and word == "missing":
        why = situation.capture_doubt
    return NextStep("stage", name, title, why, seconds)


def _why_stale(state: StageState) -> str:
    if state.stopped:
        return "It was stopped before its end and goes on from there."
    return f"It is out of date: {state.because}."
