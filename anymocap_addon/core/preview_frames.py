"""preview.npy and preview.json: the frames of a clip at preview size, ready for the graphics card.

Frame t shows what det.npz read in frame t. A pixel is the four bytes red, green, blue and `FILLER`: seen as one
little-endian float32 such a pixel is a normal number whatever its colour is, so that a frame can go to the card as one
float a pixel without being converted.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .errors import BadInputError
from .formats import read_json

FILLER = 0x40
_AGAIN = "Run the preview stage again."


@dataclass(frozen=True)
class PreviewFrames:
    """The frames on disk.

    Attributes:
        path: preview.npy; start: byte where its first frame begins.
        frames, rows, columns: T and the size of a frame, px.
        clip_width, clip_height: the clip's own size in px, which the frame spans.
        video: the clip, as det.npz names it.
    """

    path: Path
    start: int
    frames: int
    rows: int
    columns: int
    clip_width: int
    clip_height: int
    video: str = ""

    def frame(self, index: int) -> NDArray[np.uint8]:
        """Frame `index` as (rows, columns, 4) uint8 RGBX.

        Read, not mapped: a mapped file could not be replaced on Windows, and one that shrinks would end Blender.

        Raises:
            IndexError: there is no such frame.
            BadInputError: the file has gone or is cut off.
        """
        if not 0 <= index < self.frames:
            raise IndexError(f"frame {index} of {self.frames}")
        size = self.rows * self.columns * 4
        try:
            with self.path.open("rb") as handle:
                handle.seek(self.start + index * size)
                data = handle.read(size)
        except OSError as error:
            raise BadInputError(f"cannot be read: {error.strerror}.", file=self.path, hint=_AGAIN) from error
        if len(data) != size:
            raise BadInputError(f"is cut off in frame {index}.", file=self.path, hint=_AGAIN)
        return np.frombuffer(data, np.uint8).reshape(self.rows, self.columns, 4)


def load_preview(array: Path, description: Path) -> PreviewFrames:
    """Open preview.npy as preview.json describes it; no frame is read yet.

    Raises:
        BadInputError: one is missing or damaged, or the two do not belong together.
    """
    told = read_json(description, "preview")
    shape = (told["frames"], told["rows"], told["columns"], 4)
    start = _start_of(array, shape)
    return PreviewFrames(
        array, start, *shape[:3], clip_width=told["clip_width"], clip_height=told["clip_height"], video=told["video"]
    )


def _start_of(array: Path, shape: tuple[int, ...]) -> int:
    """Where the data of an .npy file begin, whose header must say uint8 of `shape`."""
    try:
        mapped = np.load(array, mmap_mode="r", allow_pickle=False)  # let go of at once, see `frame`
    except (OSError, ValueError, EOFError) as error:
        raise BadInputError(f"is missing, cut off or no array ({error}).", file=array, hint=_AGAIN) from error
    if not isinstance(mapped, np.memmap) or mapped.shape != shape or mapped.dtype != np.uint8:
        raise BadInputError(f"holds {mapped.dtype} {mapped.shape}, not uint8 {shape}.", file=array, hint=_AGAIN)
    if not mapped.flags.c_contiguous:
        raise BadInputError("holds its frames in Fortran's order.", file=array, hint=_AGAIN)
    return int(mapped.offset)
