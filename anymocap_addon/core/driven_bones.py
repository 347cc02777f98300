"""Twist and helper bones: bones that move skin but that the rig itself, or their place in it, makes follow others.

A free helper could not be fitted: a twist bone turns about its own length, which no camera sees, and would fight its
own constraint afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from .capture_tree import ArmatureBones

_TWIST_NAME = re.compile(r"twist|(?<![a-z])roll|helper|corrective", re.IGNORECASE)
_ASIDE = 0.1  # of the segment's length: a twist bone begins this near to it
_LAST = 0.95  # of the segment: beyond it begins the next bone

Followed = dict[int, tuple[int, ...]]


def find_driven(bones: ArmatureBones, sources: Mapping[str, tuple[str, ...]]) -> Followed:
    """The driven bones, each with the bones that it follows.

    Args:
        sources: bone -> bones that its constraints and drivers read, IK apart (its chain is no helper).
    """
    follows: Followed = {}
    for b in reversed(range(len(bones.names))):  # children before parents
        if bones.mass[b] <= 0 or _carries(bones, b, follows):
            continue
        read = tuple(bones.names.index(name) for name in sources.get(bones.names[b], ()) if name in bones.names)
        if read and all(bones.mass[s] > 0 and s != b for s in read):
            follows[b] = read
        elif not read and _is_twist(bones, b):
            follows[b] = (int(bones.parents[b]),)
    return _without_circles(follows)


def _carries(bones: ArmatureBones, bone: int, follows: Followed) -> bool:
    """Whether bones that move skin by themselves hang on it."""
    below = [c for c in range(len(bones.names)) if bones.parents[c] == bone]
    return any((bones.mass[c] > 0 and c not in follows) or _carries(bones, c, follows) for c in below)


def _is_twist(bones: ArmatureBones, bone: int) -> bool:
    """A bone that is called so and lies on the way from its parent to the next bone of the limb."""
    above = int(bones.parents[bone])
    if above < 0 or bones.mass[above] <= 0 or not _TWIST_NAME.search(bones.names[bone]):
        return False
    start = bones.heads[above]
    siblings = [c for c in range(len(bones.names)) if bones.parents[c] == above and c != bone]
    for end in (bones.tails[above], *(bones.heads[c] for c in siblings)):
        way = end - start
        length = float(np.linalg.norm(way))
        step = bones.heads[bone] - start
        share = float(step @ way) / max(length * length, 1e-18)
        aside = float(np.linalg.norm(step - share * way))
        if -_ASIDE <= share <= _LAST and aside <= _ASIDE * length:
            return True
    return False


def _without_circles(follows: Followed) -> Followed:
    """Two bones that only follow each other have nobody to follow."""
    free = dict(follows)
    for b in list(free):
        seen, waiting = {b}, list(free.get(b, ()))
        while waiting:
            source = waiting.pop()
            if source == b:
                del free[b]
                break
            if source not in seen:
                seen.add(source)
                waiting += free.get(source, ())
    return free
