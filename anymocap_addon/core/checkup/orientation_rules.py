"""Which way is up and which way it faces: a question to the artist with a suggestion, never a silent guess."""

from __future__ import annotations

from collections.abc import Iterator

from .facts import CreatureFacts
from .finding import Finding
from .orientation import guess_orientation

LOOK = "Look at the picture: the arrow must point where the creature looks. Answer in the panel."


def facing(facts: CreatureFacts) -> Iterator[Finding]:
    """Facing and up axis."""
    if not facts.meshes:
        return
    guess = guess_orientation(facts)
    said = f"as set, {facts.up.upper()} is up and it is turned by {facts.turn_deg:g}°"
    agrees = guess.up == facts.up and abs((guess.turn_deg - facts.turn_deg + 180) % 360 - 180) < 1
    if facts.faces_known:
        yield Finding("facing", "pass", "Facing", f"You confirmed it: {said}.")
        return
    if guess.reason and not agrees:
        sure = "say" if guess.sure else "suggest"
        yield Finding(
            "facing",
            "warn",
            "Facing",
            f"Not confirmed; {said}. {guess.reason[:1].upper()}{guess.reason[1:]} {sure}: {guess.up.upper()} is up, "
            f"turn by {guess.turn_deg:g}°.",
            LOOK,
            fix="take_suggestion",
        )
        return
    because = f"; {guess.reason} agree" if guess.reason and guess.sure else ""
    yield Finding("facing", "warn", "Facing", f"Not confirmed; {said}{because}.", LOOK, fix="confirm_facing")
