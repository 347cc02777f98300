"""The prompt of a clip: what the video model is told, in an order that keeps two views, colours and body."""

from __future__ import annotations

from typing import Any

from ..atomic import write_text
from ..creature import Creature, PromptWords
from ..errors import BadInputError
from ..file_mark import file_sha256
from ..formats import read_json, write_json_file
from ..project import CreaturePaths
from ..rig import RigInfo, load_rig_info
from ..stage_context import StageContext
from .body_words import body_count, is_one, limb_words, part_words, told_order

_EXAMPLES = {
    "noun": "wolf",
    "describe": "a grey low-poly wolf with a bushy tail",
    "colour_code": "front left leg red, front right leg blue, hind left leg yellow, hind right leg green",
    "count": "one head, four legs and one tail",
    "flank": "right",
    "limbs": "legs",
}
_PLAIN = (
    "Its colours and their pattern stay where they are in both views in every frame; they never swap, blend or fade."
)


def run(ctx: StageContext) -> dict[str, Any]:
    """Write prompts/<c>/<move>.txt from creature.json and one action sentence.

    Raises:
        BadInputError: the action is empty, creature.json lacks a word, rig_info.json is damaged, or the prompt was
            edited by hand since it was made and `overwrite` is not set; names the key and the remedy.
    """
    move = str(ctx.settings["move"]).strip()
    if not move:
        raise BadInputError("The move has no name.", key="move", hint="Name it after what is done, e.g. walk.")
    creature = ctx.load_creature()
    rig = load_rig_info(ctx.paths.rig_info) if ctx.paths.rig_info.exists() else None
    try:
        prompt = compose_prompt(creature, str(ctx.settings["action"]), rig)
    except BadInputError as error:
        if error.key and error.key.startswith("prompt."):
            raise BadInputError(error.message, file=ctx.paths.creature_json, key=error.key, hint=error.hint) from error
        raise
    path = ctx.paths.prompt(move)
    if not ctx.settings["overwrite"] and prompt_edited(ctx.paths, move) and path.read_bytes() != prompt.encode():
        raise BadInputError(
            "The prompt was written or edited by hand; it stays as it is.",
            file=path,
            key="overwrite",
            hint="Set overwrite (--overwrite) to make it anew, or film with it as it is.",
        )
    write_text(path, prompt)
    made = {"action": str(ctx.settings["action"]), "sha256": file_sha256(path)}
    write_json_file(ctx.paths.prompt_made(move), "prompt", made)
    words = len(prompt.split())
    ctx.metric("words", words)
    return {"prompt": str(path), "move": move, "words": words}


def prompt_edited(paths: CreaturePaths, move: str) -> bool:
    """Whether the prompt that lies there is not the one that was made: written or edited by hand.

    Raises:
        BadInputError: the file beside it is damaged.
    """
    file, made = paths.prompt(move), paths.prompt_made(move)
    if not file.is_file():
        return False
    return not made.is_file() or bool(read_json(made, "prompt")["sha256"] != file_sha256(file))


def compose_prompt(creature: Creature, action: str, rig: RigInfo | None = None) -> str:
    """The prompt for one action of a creature, seven paragraphs of English.

    In order: the model shown twice by two locked cameras at one moment; keep the model; limbs keep their colours; the
    count of body parts; the action; it stays on its spot, centred in both views; one continuous take.

    Args:
        creature: its `prompt` words; empty ones are told from its paint groups and the body parts of its rig.
        action: what it does, one sentence ("The wolf walks at a calm pace.").

    Raises:
        BadInputError: an empty action; or neither words nor paint nor a rig that tells a key, by key.
    """
    if not action.strip():
        raise BadInputError(
            "The action is empty.",
            key="action",
            hint='Say in one sentence what the creature does, e.g. "The wolf walks at a calm pace."',
        )
    words = creature.prompt
    told = _told(creature, rig)
    plain = rig is not None and not creature.paint and not words.colour_code.strip()
    asked = [key for key in _EXAMPLES if not (plain and key in ("colour_code", "limbs"))]
    text = {key: _word(creature, key, told) for key in asked}
    paragraphs = (
        _two_views(words, text["noun"], text["flank"]),
        f"Keep the model exactly as it is in the picture: {_bare(text['describe'])}. Its shape, proportions, texture "
        "and size do not change, and nothing is added to it or taken away.",
        _PLAIN if plain else _colours(text["limbs"], text["colour_code"]),
        f"Body count, in each view: {_bare(text['count'])}. No limb appears twice, vanishes or merges with another.",
        f"Action: {_sentence(action)}",
        f"The {text['noun']} performs this on its spot: it stays centred in both views, at the same size, with its "
        "whole body in frame, and it is always seen from the front on the left and from the side on the right.",
        "One continuous take in real time, without cuts, slow motion, transitions, captions or sound. The lighting, "
        "the plain grey wall and the floor stay as they are.",
    )
    return "\n\n".join(paragraphs) + "\n"


def _two_views(words: PromptWords, noun: str, flank: str) -> str:
    name = words.name.strip()
    who = f"{name}, the {noun}" if name and name.lower() != noun.lower() else f"the {noun}"
    side = flank if "flank" in flank or "side" in flank else f"{flank} flank"
    return (
        f"Animate this very 3D model. The picture shows {who} twice at the same moment: on the left through a "
        f"camera straight in front of its face, on the right through a camera straight at its {side}, with the head "
        "to the right. Both cameras are locked: they do not pan, tilt, zoom or cut, and the dividing line stays where "
        "it is. Both views show the same moment frame for frame: what a limb does in one view it does at the same "
        "instant and at the same height in the other."
    )


def _colours(limbs: str, code: str) -> str:
    if is_one(limbs):
        return (
            f"Its {limbs} is colour-coded: {_bare(code)}. It keeps its colour in both views in every frame; the colour "
            "never blends, fades or moves to another part of the body."
        )
    return (
        f"Its {limbs} are colour-coded: {_bare(code)}. Every limb keeps its own colour in both views in every frame; "
        "the colours never swap, blend, fade or move to another limb."
    )


def _word(creature: Creature, key: str, told: dict[str, str]) -> str:
    value: str = getattr(creature.prompt, key).strip() or told.get(key, "")
    if not value.strip():
        raise BadInputError(
            f"The creature has no words for {key}.",
            key=f"prompt.{key}",
            hint=f'Write them in creature.json, e.g. "{key}": "{_EXAMPLES[key]}".',
        )
    return " ".join(value.split())


def _told(creature: Creature, rig: RigInfo | None) -> dict[str, str]:
    """What paint and body parts tell where the artist wrote nothing; empty where neither says anything."""
    groups = tuple(sorted(creature.paint, key=lambda group: told_order(group.name)))
    told: dict[str, str] = {}
    if groups and all(group.word.strip() for group in groups):
        names = [part_words(group.name) for group in groups]
        told = {
            "describe": f"the same {creature.prompt.noun}, painted as it is there",
            "colour_code": ", ".join(f"{name} {group.word}" for name, group in zip(names, groups, strict=True)),
            "count": f"one body with exactly one {', one '.join(names)}",
            "limbs": "limbs",
        }
    if rig is None or not rig.bone_parts:
        return told
    by_parts = {"count": body_count(rig.bones, rig.bone_parts, rig.bone_roles)} | (
        {"limbs": limb_words(groups)} if groups else {}
    )
    return {"describe": f"the same {creature.prompt.noun} as it is there", **told, **by_parts}


def _bare(text: str) -> str:
    return " ".join(text.split()).rstrip(".;, ")


def _sentence(text: str) -> str:
    plain = " ".join(text.split())
    return plain[0].upper() + plain[1:] + ("" if plain[-1] in ".!?" else ".")
