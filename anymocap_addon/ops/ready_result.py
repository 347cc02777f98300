"""Fitted motions that wait to be keyed onto the artist's armature."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.project import CreaturePaths


@dataclass
class ReadyResult:
    """One such motion. It names the armature by our own id, so that nothing of Blender's is held between ticks.

    Attributes:
        problem: why it could not be applied by itself; the artist decides then.
    """

    paths: CreaturePaths
    clip: str
    armature_id: str
    problem: str = ""

    def is_of(self, paths: CreaturePaths, clip: str | None) -> bool:
        """Whether it is the motion of this clip."""
        return self.paths == paths and self.clip == clip
