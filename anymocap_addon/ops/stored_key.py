"""The fal key as the preferences' field sees it: written to its own file, never read back into Blender's data."""

from __future__ import annotations

from typing import Any

import bpy

from ..core.errors import AnyMoCapError
from ..core.film.key import KEY_VARIABLE, KeySource, forget_key, key_source, store_key
from .preference_values import user_folder

MASK = "\u2022" * 12
WORDS: dict[KeySource, str] = {
    "environment": f"Key: from the environment (${KEY_VARIABLE})",
    "stored": "Key: stored",
    "none": "Key: none",
}


class _LastEntry:
    """Why the key that was typed last was not kept; a property's setter has no other way to say so."""

    refused = ""


def current_source() -> KeySource:
    """Where the key comes from; looks for the file, does not read it."""
    return key_source(user_folder())


def refusal() -> str:
    """Why the last entry was not kept; empty when it was."""
    return _LastEntry.refused


def shown(_: Any) -> str:
    """What the field holds: dots where there is a key."""
    return "" if current_source() == "none" else MASK


def entered(_: Any, text: str) -> None:
    """Keep what was typed or pasted; nothing forgets the key."""
    _LastEntry.refused = ""
    own = user_folder()
    if text == MASK:
        return
    if own is None:
        _LastEntry.refused = f"Only the installed extension can keep a key. Set {KEY_VARIABLE} instead."
        return
    try:
        if text.strip():
            store_key(own, text)
        else:
            forget_key(own)
    except AnyMoCapError as error:
        _LastEntry.refused = str(error)


class ANYMOCAP_OT_forget_fal_key(bpy.types.Operator):
    """Remove the stored key from this computer"""

    bl_idname = "anymocap.forget_fal_key"
    bl_label = "Forget the fal key"

    @classmethod
    def poll(cls, context: Any) -> bool:
        stored = current_source() == "stored"
        if not stored:
            cls.poll_message_set("There is no stored key")
        return stored

    def execute(self, context: Any) -> set[str]:
        own = user_folder()
        if own is not None:
            forget_key(own)
        return {"FINISHED"}
