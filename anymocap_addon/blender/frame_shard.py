"""One process's share of a numbered sequence of pictures: what is missing, and what was made from something else."""

from __future__ import annotations

from pathlib import Path

from ..core.atomic import write_text
from .png import is_whole_png


class FrameShard:
    """Frames `%05d.png` of `folder`; shard (k, n) owns every n-th from k."""

    def __init__(self, folder: Path, count: int, shard: tuple[int, int], size: tuple[int, int], origin: str) -> None:
        """
        Args:
            count: how many frames the sequence has.
            size: width and height of each, px.
            origin: a hash of all that the frames depend on; frames of another origin are made again.
        """
        self.folder, self.count, self.shard, self.size = folder, count, shard, size
        self._origin = origin
        self._marker = folder / f"origin_{shard[0]}_of_{shard[1]}.txt"

    def path(self, frame: int) -> Path:
        """File of a frame."""
        return self.folder / f"{frame:05d}.png"

    def missing(self) -> list[int]:
        """The frames of this shard that are yet to be made. Frames beyond the sequence's end are removed."""
        own = range(self.shard[0], self.count, self.shard[1])
        known = self._marker.read_text(encoding="utf-8") if self._marker.exists() else ""
        if known != self._origin:
            for frame in own:
                self.path(frame).unlink(missing_ok=True)
            write_text(self._marker, self._origin)
        if self.shard[0] == 0:
            for file in self.folder.glob("*.png"):
                if file.stem.isdigit() and int(file.stem) >= self.count:
                    file.unlink(missing_ok=True)
        return [frame for frame in own if not is_whole_png(self.path(frame), *self.size)]
