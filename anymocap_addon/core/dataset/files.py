"""Names of the files of a dataset folder, and what ties a picture to what it was drawn from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ..creature import Creature
from ..layout import Layout
from ..project import CreaturePaths


@dataclass(frozen=True)
class PoseFiles:
    """The three files of pose number `index`; meta is written last, so that it vouches for the pictures."""

    folder: Path
    index: int

    @property
    def front(self) -> Path:
        return self.folder / f"{self.index:05d}_front.png"

    @property
    def side(self) -> Path:
        return self.folder / f"{self.index:05d}_side.png"

    @property
    def meta(self) -> Path:
        return self.folder / f"{self.index:05d}_meta.json"


def drawn_from(paths: CreaturePaths, creature: Creature, layout: Layout, seed: int, rows: int) -> str:
    """A hash of all that a picture depends on besides its index; kept in its meta.json."""
    digest = hashlib.sha256(repr((layout, sorted(creature.start_pose.items()), seed, rows)).encode())
    for file in (paths.rigged_blend, paths.rig_info):
        digest.update(file.read_bytes() if file.exists() else b"")
    return digest.hexdigest()[:16]
