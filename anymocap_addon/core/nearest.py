"""The remedy for a misspelt name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """ "Did you mean …?" with the known name that is nearest, else the list of known names."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1)
    return f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(names) or 'none'}."
