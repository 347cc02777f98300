"""Polls that say why an operator cannot be run now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .scene_settings import has_creature, needs_saving

if TYPE_CHECKING:
    from bpy.types import Context

CHOOSE_CREATURE = "Choose project folder and creature first"
UNSAVED = "The project folder is beside this file: save the file first, or choose another folder"


def why_no_creature(context: Context) -> str:
    """Why the scene has no creature to work on, for the artist; empty when it has one."""
    if not has_creature(context):
        return CHOOSE_CREATURE
    return UNSAVED if needs_saving(context.scene.anymocap) else ""


class SaidPoll:
    """For operators that are greyed out with the reason as their tooltip."""

    @classmethod
    def why_not(cls, context: Context) -> str:
        """Why it cannot be run now, for the artist; empty when it can. Cheap: a panel asks at every draw."""
        raise NotImplementedError

    @classmethod
    def poll(cls, context: Context) -> bool:
        reason = cls.why_not(context)
        if reason:
            cls.poll_message_set(reason)  # type: ignore[attr-defined]  # an operator's
        return not reason


class NeedsCreature(SaidPoll):
    """For operators that work on the scene's creature."""

    @classmethod
    def why_not(cls, context: Context) -> str:
        return why_no_creature(context)
