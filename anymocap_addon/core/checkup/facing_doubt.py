"""What prep says where nobody has confirmed which way the creature faces."""

from __future__ import annotations

from .facts import CreatureFacts
from .orientation import guess_orientation


def facing_doubt(facts: CreatureFacts, name: str) -> str:
    """The doubt, what bones or shape suggest, and the exact commands to give; empty where it was confirmed.

    Args:
        name: of the creature, for the commands.
    """
    if facts.faces_known:
        return ""
    guess = guess_orientation(facts)
    confirm = f"doctor --creature {_word(name)} --confirm-facing"
    doubt = f"Nobody has confirmed which way it faces: {facts.up.upper()} is up, turned by {facts.turn_deg:g}°."
    agrees = guess.up == facts.up and abs((guess.turn_deg - facts.turn_deg + 180) % 360 - 180) < 1
    if not guess.reason or agrees:
        backing = f" {_sentence(guess.reason)} agree." if guess.reason else " Neither bones nor shape tell."
        return f"{doubt}{backing} If facing.png of `doctor` shows it right: {confirm}"
    how = "say" if guess.sure else "suggest"
    options = f"--rotz-deg={guess.turn_deg:g} --up={guess.up}"  # with "=": "-y" alone reads as an option
    return (
        f"{doubt} {_sentence(guess.reason)} {how} {guess.up.upper()} up and a turn by {guess.turn_deg:g}°: "
        f"prep --creature {_word(name)} {options}. Then, when facing.png is right: {confirm}"
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _word(name: str) -> str:
    return f'"{name}"' if " " in name else name
